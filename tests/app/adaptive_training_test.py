"""rubato train --adaptive: its decisions repeat it, through kills and on any number of ranks."""

import csv
import subprocess
import time
import unittest

from rubato_command import PATIENCE, CommandTest, command_line, json_lines, rubato

# 60 updates at least, four an epoch, whatever batches of at most 300 a run may choose.
RUN = ["--data", "digits", "--model", "mlp:32", "--rule", "adascale", "--epochs", 15]
LIMITS = ["--adaptive", "max=300,local=4:60,initial=16"]


class AdaptiveTest(CommandTest):
    def digest(self, name):
        return self.succeed("checkpoint", "digest", self.directory / name).output.split()[0]

    def decisions(self, name):
        with open(self.directory / name / "decisions.csv", newline="") as file:
            return list(csv.DictReader(file))

    def expect_replays_equal(self, name, ranks):
        for count in ranks:
            again = f"{name}-on-{count}"
            self.succeed("train", "--replay", name, "--out", again, ranks=count)
            self.assertEqual(self.digest(again), self.digest(name))


class Replay(AdaptiveTest):
    def test_a_run_on_two_ranks_is_repeated_on_others(self):
        self.succeed("train", *RUN, *LIMITS, "--out", "run", ranks=2)
        self.expect_replays_equal("run", [1, 3, 4])
        self.succeed("train", *RUN, "--trace", "run/decisions.csv", "--reference-batch", 16,
                     "--out", "by-trace", ranks=3)
        self.assertEqual(self.digest("by-trace"), self.digest("run"))

    def test_batches_of_whole_minibatches(self):
        self.succeed("train", *RUN, "--adaptive", "max=300,initial=16", "--fixed-minibatch",
                     "--minibatch", 8, "--out", "run", ranks=2)
        rows = self.decisions("run")
        self.assertEqual({row["minibatch"] for row in rows}, {"8"})
        self.assertEqual([int(row["batchsize"]) % 8 for row in rows], [0] * len(rows))
        self.expect_replays_equal("run", [3])

    def test_metrics_tell_what_was_considered_and_what_updates_are_worth(self):
        self.succeed("train", *RUN, *LIMITS, "--out", "run", ranks=2)
        lines = json_lines(self.directory / "run" / "metrics.jsonl")
        considered = [line for line in lines if line["type"] == "decision"]
        self.assertEqual([str(line["update"]) for line in considered if line["changes"]],
                         [row["update"] for row in self.decisions("run")[1:]])
        self.assertGreaterEqual(len(considered), 1)
        updates = [line for line in lines if line["type"] == "update"]
        for key in ("batch_size", "minibatch", "substeps", "gain", "scaled_updates", "noise_scale",
                    "goodput"):
            self.assertTrue(all(key in line for line in updates), key)
        self.assertIn("predicted_goodput", updates[-1])

    def test_a_replay_goes_on_by_the_same_command_line(self):
        self.succeed("train", *RUN, *LIMITS, "--out", "run", ranks=2)
        replay = ["train", "--replay", "run", "--out", "again", "--resume"]
        first = rubato(*replay, "--stop-after-update", 50, ranks=1, directory=self.directory)
        self.assertEqual(first.code, 75, first.message)
        self.succeed(*replay, ranks=3)
        self.assertEqual(self.digest("again"), self.digest("run"))

    def test_a_run_with_a_trace_or_one_batch_is_repeated_too(self):
        trace = self.write("t.csv", "update,batchsize,minibatch\n0,64,16\n9,40,20\n")
        for name, batch in (("trace", ["--trace", trace]), ("constant", ["--batch-size", 64])):
            self.succeed("train", *RUN, *batch, "--out", name, ranks=2)
            self.expect_replays_equal(name, [1])


class Interruption(AdaptiveTest):
    def test_a_stopped_run_goes_on_on_other_ranks(self):
        first = rubato("train", *RUN, *LIMITS, "--out", "run", "--stop-after-update", 50, ranks=2,
                       directory=self.directory)
        self.assertEqual(first.code, 75, first.message)
        second = rubato("train", "--out", "run", "--resume", "--stop-after-update", 55, ranks=3,
                        directory=self.directory)
        self.assertEqual(second.code, 75, second.message)
        self.succeed("train", "--out", "run", "--resume", ranks=1)
        self.expect_replays_equal("run", [2])

    def test_a_minibatch_in_use_that_is_too_large_for_the_ranks_to_come(self):
        limits = ["--adaptive", "max=300,initial=256"]  # 2 times 128 on one rank, 100 on three
        first = rubato("train", *RUN, *limits, "--out", "run", "--stop-after-update", 10, ranks=1,
                       directory=self.directory)
        self.assertEqual(first.code, 75, first.message)
        self.assertEqual(self.decisions("run")[0]["minibatch"], "128")
        self.succeed("train", "--out", "run", "--resume", ranks=3)
        self.expect_replays_equal("run", [1])

    def test_a_run_that_forgot_its_last_checkpoint(self):
        self.succeed("train", *RUN, *LIMITS, "--out", "run", "--checkpoint-every", 20, "--keep", 99,
                     ranks=2)
        for file in (self.directory / "run" / "checkpoints").iterdir():
            if not file.name.startswith(("ckpt-0.", "ckpt-40.")):
                file.unlink()
        self.write("run/decisions.csv", "update,batchsize\n0,torn")
        self.succeed("train", "--out", "run", "--resume", ranks=2)
        self.assertEqual(self.decisions("run")[0]["reason"], "initial")
        self.expect_replays_equal("run", [1])


class Launch(AdaptiveTest):
    def updates_on(self, ranks):
        """Since the run came to so many; none if it has gone on to others, or is not there yet."""
        lines = json_lines(self.directory / "run" / "metrics.jsonl")
        contexts = [i for i, line in enumerate(lines) if line["type"] == "context"]
        if not contexts or lines[contexts[-1]]["ranks"] != ranks:
            return 0
        return sum(line["type"] == "update" for line in lines[contexts[-1]:])

    def wait_for_updates(self, ranks, process):
        deadline = time.monotonic() + PATIENCE
        while self.updates_on(ranks) < 40:
            self.assertIsNone(process.poll(), f"the run ended before it had {ranks} ranks")
            self.assertLess(time.monotonic(), deadline, f"no run on {ranks} ranks")
            time.sleep(0.02)

    def test_ranks_that_come_and_go(self):
        devices = self.write("devices", "1")
        process = subprocess.Popen(command_line([
            "launch", "--ranks", "1:4", "--capacity-file", devices, "--settle", 0, "--",
            "--data", "synthetic:samples=4000,shape=1x28x28,classes=4", "--model", "mlp:128",
            "--rule", "adascale", "--epoch-end", "carry", "--epochs", 250, "--adaptive",
            "max=200,local=8:60,initial=16", "--out", "run"]),
            cwd=self.directory, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(process.kill)
        for ranks, following in ((1, 4), (4, 2), (2, 3)):
            self.wait_for_updates(ranks, process)
            devices.write_text(str(following))
        self.assertEqual(process.wait(timeout=2 * PATIENCE), 0)  # most of its million samples
        lines = json_lines(self.directory / "run" / "metrics.jsonl")
        self.assertEqual([line["ranks"] for line in lines if line["type"] == "context"],
                         [1, 4, 2, 3])
        self.assertEqual([line["samples"] for line in lines if line["type"] == "epoch"],
                         [4000] * 250)
        self.assertTrue([row for row in self.decisions("run") if "instead of" in row["reason"]])
        self.expect_replays_equal("run", [2])

    def test_the_largest_number_of_ranks_that_meets_the_bounds(self):
        self.succeed("launch", "--ranks", "1:4", "--", *RUN, "--adaptive",
                     "max=250,local=100:120,initial=100", "--out", "run")
        context = json_lines(self.directory / "run" / "metrics.jsonl")[0]
        self.assertEqual(context["ranks"], 2)

    def test_no_more_ranks_than_the_data_have_samples_for(self):
        for epoch_end, ranks in (("drop", 3), ("carry", 4)):  # of 1438 samples, 400 a rank
            self.succeed("launch", "--ranks", "1:4", "--", *RUN, "--adaptive",
                         "local=400:500,initial=400", "--epoch-end", epoch_end, "--out", epoch_end)
            context = json_lines(self.directory / epoch_end / "metrics.jsonl")[0]
            self.assertEqual(context["ranks"], ranks)

    def test_bounds_that_no_number_of_ranks_meets_are_refused(self):
        self.refuse(64, ["--adaptive: minibatches of at least 100 on 3 ranks make 300 samples",
                         "; 2 ranks would do"], "launch", "--ranks", "3:4", "--", *RUN,
                    "--adaptive", "max=250,local=100:120,initial=100", "--out", "run")


class Refusals(AdaptiveTest):
    def expect_refused(self, sentence, *options, ranks=2):
        self.refuse(64, [sentence], "train", *RUN, *options, "--out", "run", ranks=ranks)
        self.assertFalse((self.directory / "run").exists())

    def test_limits_that_make_no_sense(self):
        self.expect_refused("expected local=MIN:MAX with the smaller bound first", "--adaptive",
                            "max=300,local=60:4")
        self.expect_refused("the maximum, 48, is below the initial batch, 64", "--adaptive",
                            "max=48,initial=64")

    def test_bounds_that_these_ranks_cannot_meet(self):
        self.expect_refused("on 3 ranks make 300 samples an update, above the maximum batch size, "
                            "250; 2 ranks would do", "--adaptive",
                            "max=250,local=100:120,initial=100", ranks=3)

    def test_a_rule_that_does_not_follow_the_batch(self):
        self.refuse(64, ["rule constant leaves the learning rate as it is"], "train", "--data",
                    "digits", "--epochs", 1, "--rule", "constant", *LIMITS, ranks=2)

    def test_a_trace_besides(self):
        self.expect_refused("--trace and --adaptive exclude each other", *LIMITS, "--trace",
                            "t.csv")

    def test_more_than_the_data_set_has(self):
        self.expect_refused("the initial batch is 2000, expected at most the 1438 samples",
                            "--adaptive", "max=3000,initial=2000")

    def test_a_replay_of_nothing(self):
        self.refuse(66, ["nowhere/config.ini does not exist; give the directory of a run"],
                    "train", "--replay", "nowhere", ranks=2)


if __name__ == "__main__":
    unittest.main()
