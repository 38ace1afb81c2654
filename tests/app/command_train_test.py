"""rubato train, alone and through mpirun: what it prints, what it leaves, and that a run can be
repeated from its configuration on any number of ranks."""

import configparser
import json
import os
import pty
import re
import subprocess
import unittest

from rubato_command import (PATIENCE, CommandTest, command_line, json_lines, read_terminal,
                            rubato)

# 5 epochs of growing batches, with ranks that idle and a short minibatch in every update.
ROWS = [40] * 20 + [100] * 10 + [200] * 4 + [72] * 10 + [300] * 3
RUN = ["train", "--data", "digits", "--model", "mlp:16", "--trace", "trace.csv"]
ERASE = "\r\x1b[K"


class TrainTest(CommandTest):
    def setUp(self):
        super().setUp()
        self.write_trace(ROWS)

    def digest(self, directory, update=len(ROWS)):
        file = f"{directory}/checkpoints/ckpt-{update}.h5"
        return self.succeed("checkpoint", "digest", file).output.split()[0]


class Repetition(TrainTest):
    def test_from_the_configuration_gives_the_same_state_on_any_number_of_ranks(self):
        for name, more in (
                ("sgd", ["--rule", "adascale", "--nesterov", "--schedule", "cosine", "--span", 4,
                         "--warmup", 0.5]),
                ("adam", ["--optimizer", "adam", "--lr", 0.002, "--rule", "root", "--epoch-end",
                          "carry", "--seed", 7])):
            self.succeed(*RUN, *more, "--out", f"{name}-1", ranks=1)
            config = f"{name}-1/config.ini"
            for ranks in (None, 2, 3):
                with self.subTest(options=more, ranks=ranks):
                    again = f"{name}-again-{ranks}"
                    self.succeed("train", "--config", config, "--out", again, ranks=ranks)
                    self.assertEqual(self.digest(again), self.digest(f"{name}-1"))
                    self.assertEqual((self.directory / again / "config.ini").read_bytes(),
                                     (self.directory / config).read_bytes())

    def test_with_one_option_changed_is_another_run(self):
        self.succeed(*RUN, "--out", "a")
        self.succeed("train", "--config", "a/config.ini", "--lr", 0.04, "--out", "b")
        self.assertNotEqual(self.digest("a"), self.digest("b"))
        self.assertEqual(self.digest("a", 0), self.digest("b", 0))

    def test_with_another_optimizer_drops_what_was_the_first_ones(self):
        self.succeed(*RUN, "--momentum", 0.5, "--out", "a")
        self.succeed("train", "--config", "a/config.ini", "--optimizer", "adam", "--out", "b")
        options = configparser.ConfigParser()
        text = (self.directory / "b/config.ini").read_text(encoding="utf-8")
        options.read_string("[run]\n" + text)
        self.assertEqual(options["run"]["optimizer"], "adam")
        self.assertNotIn("momentum", options["run"])


class Output(TrainTest):
    def test_the_table_is_the_same_on_any_number_of_ranks_but_for_the_speed(self):
        tables = {}
        for ranks in (1, 2, 3):
            lines = self.succeed(*RUN, "--log-every", 10, ranks=ranks).output.splitlines()
            self.assertRegex(lines[0], rf"; {ranks} rank{'s' if ranks > 1 else ''}$")
            self.assertRegex(lines[-1], r"^done: 47 updates in \d+\.\d\d s, \d+ samples/s"
                             + (r", waiting \d+\.\d %$" if ranks > 1 else "$"))
            widths = {len(line) for line in lines[1:-1]}
            self.assertEqual(len(widths), 1, lines)
            tables[ranks] = [line.rsplit(maxsplit=1)[0] for line in lines[1:-1]]
        self.assertEqual(tables[1], tables[2])
        self.assertEqual(tables[1], tables[3])
        # An epoch of 44 minibatches of 32 has 1408 samples; the first uses 20 * 40 + 6 * 100.
        rows = {row[0]: row for row in map(str.split, tables[1][1:])}
        self.assertEqual(rows["10"][1:3], ["0.28", "40"])
        self.assertEqual(rows["30"][1:3], ["1.28", "100"])
        self.assertEqual(list(rows)[-1], "47")

    def test_json_is_one_document_and_nothing_else(self):
        result = self.succeed(*RUN, "--format", "json", "--log-every", 20, ranks=2)
        document = result.json()
        self.assertEqual(result.message, "")
        self.assertEqual(document["ranks"], 2)
        self.assertEqual([row["update"] for row in document["updates"]], [20, 40])
        self.assertEqual(document["evaluations"][-1]["update"], 47)
        self.assertGreater(document["evaluations"][-1]["accuracy"], 0.8)
        self.assertEqual(document["end"]["updates"], 47)

    def test_a_run_leaves_its_configuration_metrics_and_checkpoints(self):
        self.succeed(*RUN, "--out", "run", "--shadow-rates", ranks=2)
        left = sorted(str(path.relative_to(self.directory / "run"))
                      for path in (self.directory / "run").rglob("*") if path.is_file())
        self.assertEqual(left, [
            "checkpoints/ckpt-0.h5", "checkpoints/ckpt-0.h5.sha256", "checkpoints/ckpt-47.h5",
            "checkpoints/ckpt-47.h5.sha256", "checkpoints/latest", "config.ini", "metrics.jsonl",
            "run.lock", "state.json", "trace.csv"])
        metrics = (self.directory / "run" / "metrics.jsonl").read_text(encoding="utf-8")
        lines = [json.loads(line) for line in metrics.splitlines()]
        self.assertEqual([line["type"] for line in (lines[0], lines[-1])], ["context", "end"])
        updates = [line for line in lines if line["type"] == "update"]
        self.assertEqual([line["batch_size"] for line in updates], ROWS)
        self.assertIn("adascale", updates[0]["shadow_lr"])

    def test_both_measures_of_the_noise_give_every_shadow_rate(self):
        lines = {}
        for metric in ("plain", "both", "preconditioned"):
            self.succeed(*RUN, "--rule", "root", "--optimizer", "adam", "--shadow-rates",
                         "--noise-metric", metric, "--out", metric)
            lines[metric] = [line for line in json_lines(self.directory / metric / "metrics.jsonl")
                             if line["type"] == "update"]
        for plain, both, other in zip(*lines.values(), strict=True):
            self.assertEqual([plain["loss"], plain["gain"]], [both["loss"], both["gain"]])
            self.assertIsNone(plain["shadow_lr"].pop("adamscale"))
            self.assertEqual(both["shadow_lr"].pop("adamscale"),
                             other["shadow_lr"].pop("adamscale"))
            self.assertEqual(both["shadow_lr"], plain["shadow_lr"])
        self.assertNotEqual(lines["both"][-1]["gain"], lines["preconditioned"][-1]["gain"])
        command = [*RUN, "--rule", "root", "--optimizer", "adam", "--noise-metric", "both",
                   "--out", "again"]
        stopped = rubato(*command, "--stop-after-update", 30, directory=self.directory)
        self.assertEqual(stopped.code, 75, stopped.message)
        self.succeed(*command, "--resume", ranks=2)
        self.assertEqual(self.digest("again"), self.digest("both"))

    def test_overwriting_replaces_the_run(self):
        self.succeed(*RUN, "--out", "run")
        before = self.digest("run")
        self.succeed(*RUN, "--out", "run", "--overwrite", "--lr", 0.04, ranks=2)
        self.assertNotEqual(self.digest("run"), before)

    def test_nothing_is_written_without_a_directory(self):
        self.succeed(*RUN)
        self.assertEqual([path.name for path in self.directory.iterdir()], ["trace.csv"])

    def test_a_warning_is_told_once_and_off_standard_output(self):
        self.write("odd.csv", "step,batchsize\n5,32\n6,64\n")
        result = self.succeed(*RUN[:-1], "odd.csv", "--format", "json", ranks=3)
        self.assertRegex(result.message, r'\Arubato: warning: odd\.csv:2:1: found "5"[^\n]+\n\Z')
        result.json()

    def test_progress_ends_the_run_before_the_updates_do(self):
        result = self.succeed(*RUN, "--updates", 40, "--until-progress", 15.5)
        self.assertIn("progress reached: ", result.output)
        ended = int(re.search(r"reached: (\d+) updates", result.output)[1])
        self.assertLess(ended, 40)

    def test_help_needs_no_mpi_and_no_data(self):
        lines = self.succeed("train", "--help").output.splitlines()
        self.assertLessEqual(max(map(len, lines)), 100)


class Progress(TrainTest):
    """The first update is shown at once, so even a short run shows a line."""

    LINE = (r"update 1/47  epoch 0\.0\d  loss \d\.\d{4}  batch 40  lr 0\.05  gain 1\.00")

    def on_a_terminal(self, *arguments, ranks=None):
        """What the command writes to a terminal that is its standard error."""
        ours, theirs = pty.openpty()
        process = subprocess.Popen(
            command_line([*RUN, *arguments], ranks), stdout=subprocess.PIPE, stderr=theirs,
            cwd=self.directory)
        os.close(theirs)
        shown = read_terminal(ours)
        output = process.stdout.read().decode()
        process.stdout.close()
        self.assertEqual(process.wait(timeout=PATIENCE), 0)
        self.assertIn("done: 47 updates", output)
        self.assertNotIn("\x1b", output)
        return shown.decode()

    def test_is_shown_on_a_terminal_and_taken_away(self):
        for ranks in (None, 3):
            with self.subTest(ranks=ranks):
                shown = self.on_a_terminal(ranks=ranks)
                self.assertRegex(shown, re.escape(ERASE) + self.LINE)
                self.assertTrue(shown.endswith(ERASE), repr(shown))

    def test_is_not_shown_where_it_was_switched_off(self):
        for ranks in (None, 2):
            self.assertEqual(self.on_a_terminal("--progress", "never", ranks=ranks), "")

    def test_is_not_shown_where_nobody_watches(self):
        for ranks in (None, 2):
            self.assertEqual(self.succeed(*RUN, ranks=ranks).message, "")

    def test_is_shown_everywhere_if_wished(self):
        for ranks in (None, 2):
            message = self.succeed(*RUN, "--progress", "always", ranks=ranks).message
            self.assertRegex(message, r"\x1b\[K" + self.LINE)

    def test_has_speed_and_time_left_once_they_are_known(self):
        slow = ["train", "--data", "synthetic:samples=20000,shape=1x16x16", "--model",
                "mlp:1024,1024", "--batch-size", 64, "--updates", 300, "--progress", "always"]
        message = self.succeed(*slow).message
        self.assertRegex(message, r"update \d+/300  epoch 0\.\d\d  .+  gain 1\.00  \d+ samples/s"
                                  r"  0:\d\d left")


if __name__ == "__main__":
    unittest.main()
