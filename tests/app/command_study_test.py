"""rubato study: a grid of small trainings, killed and stopped and run again, with the same results;
and the files that it refuses."""

import csv
import json
import os
import pty
import random
import shutil
import signal
import subprocess
import time
import unittest
import unittest.mock

from rubato_command import PATIENCE, CommandTest, command_line, json_lines, read_terminal

# At batch 64 the wild rate is 1e20.
STUDY = """[study]
name = small
out = {out}
[common]
data = digits
model = mlp:16
epochs = {epochs}
checkpoint-every = 30
[grid]
batch-size = 32, 64
[variant tame]
lr = 0.05 * k
[variant wild]
lr = max(0.05, 1e20 * (k - 1))
"""
CELLS = [f"batch={batch},variant={variant}" for batch in (32, 64) for variant in ("tame", "wild")]


def without_times(directory):
    """What the three files say that does not depend on the clock."""
    with (directory / "results.csv").open() as file:
        rows = [{key: value for key, value in row.items() if "seconds" not in key}
                for row in csv.DictReader(file)]
    document = json.loads((directory / "results.json").read_text())
    for cell in document["cells"]:
        del cell["times"]
    page = [line.rsplit("|", 3)[0] if line.startswith("|") else line
            for line in (directory / "results.md").read_text().splitlines()]
    return rows, document, page


class StudyTest(CommandTest):
    def write_study(self, name, epochs=20):
        self.write(f"{name}.ini", STUDY.format(out=name, epochs=epochs))
        return self.directory / name

    def start(self, name, ranks, **process):
        words = ["study", f"{name}.ini", "--ranks", ranks]
        started = subprocess.Popen(command_line(words), stdout=subprocess.PIPE, text=True,
                                   cwd=self.directory, **process)
        self.addCleanup(started.stdout.close)
        self.addCleanup(started.wait)
        self.addCleanup(started.kill)
        return started

    def wait_for_lines(self, metrics, number):
        end = time.monotonic() + PATIENCE
        while len(json_lines(metrics)) < number:
            self.assertLess(time.monotonic(), end, metrics)
            time.sleep(0.005)

    def kill_in(self, cell, process, number):
        """In the middle of a cell, which is left before its end."""
        self.wait_for_lines(process.directory / "cells" / cell / "metrics.jsonl", 40)
        process.send_signal(number)


class Results(StudyTest):
    def test_are_the_same_after_a_kill_and_a_stop(self):
        names = ("straight", "killed")  # 60 epochs take longer than to look how far they are
        straight, killed = (self.write_study(name, epochs=60) for name in names)
        result = self.succeed("study", "straight.ini", "--ranks", 1)
        self.check_output(result)
        self.check_results(straight)
        self.check_search(straight)
        self.interrupt(killed, CELLS[0], 2, signal.SIGKILL, -signal.SIGKILL, "")
        self.interrupt(killed, CELLS[2], 1, signal.SIGTERM, 75,
                       "rubato: study: stopped by SIGTERM; the same command goes on\n")
        self.check_listing()
        self.check_terminal(self.finish_on_a_terminal(killed))
        self.assertIn("going on from", (killed / "cells" / f"{CELLS[2]}.log").read_text())
        for ours, theirs in zip(without_times(killed), without_times(straight)):
            self.assertEqual(ours, theirs)
        self.check_that_nothing_is_done_again(killed)

    def test_of_a_program_that_is_built_anew_meanwhile(self):
        program = self.directory / "rubato"
        shutil.copy2(os.environ["RUBATO_COMMAND"], program)
        study = self.write_study("rebuilt")
        with unittest.mock.patch.dict(os.environ, RUBATO_COMMAND=str(program)):
            process = self.start("rebuilt", 1, stderr=subprocess.PIPE)
        self.addCleanup(process.stderr.close)
        shutil.copy2(program, self.directory / "next")
        self.wait_for_lines(study / "cells" / CELLS[0] / "metrics.jsonl", 1)
        (self.directory / "next").rename(program)
        self.assertEqual(process.communicate(timeout=PATIENCE)[1], "")
        self.assertEqual(process.returncode, 0)

    def test_of_data_that_are_loaded_once(self):
        """They are gone before the first cell begins."""
        study = self.write_study("s", epochs=1)
        text = (self.directory / "s.ini").read_text()
        self.write("s.ini", text.replace("data = digits", "data = csv:rows.csv\ntest-every = 4"))
        self.write("rows.csv", "".join(f"{i % 7},{i % 5},{i % 3}\n" for i in range(96)))
        launcher = self.write("mpirun", '#!/bin/sh\nrm -f rows.csv\nexec "$RUBATO_MPIEXEC" "$@"\n')
        launcher.chmod(0o755)
        self.succeed("study", "s.ini", "--ranks", 2, "--mpirun", launcher)
        self.assertFalse((self.directory / "rows.csv").exists())
        rows, _, _ = without_times(study)
        self.assertEqual([row["state"] for row in rows], ["finished"] * 4)

    def check_output(self, result):
        self.assertEqual(result.message, "")
        lines = result.output.splitlines()
        for number, cell in enumerate(CELLS):
            self.assertRegex(lines[number], rf"\Acell {number + 1}/4  {cell}  [^\n]* s\Z")
        self.assertEqual(lines[-2:], ["results: straight/results.md, .csv, .json",
                                      "report: straight/report.html"])

    def check_results(self, directory):
        rows, document, page = without_times(directory)
        self.assertEqual([row["cell"] for row in rows], CELLS)
        self.assertEqual([row["state"] for row in rows],
                         ["finished", "finished", "finished", "diverged"])
        self.assertEqual([cell["options"]["lr"] for cell in document["cells"]],
                         ["0.05", "0.05", "0.1", "1e+20"])
        seeds = [int(cell["options"]["seed"]) for cell in document["cells"]]
        self.assertEqual(len(set(seeds)), 4)
        self.assertEqual(document["baseline"]["group"], "tame")
        self.assertEqual(document["cells"][1]["updates_done"], 44 * 60)
        self.assertEqual(len([line for line in page if "(base line)" in line]), 1)
        self.assertRegex(page[-1], r"\A\| 64 \| 1e\+20 \| \(nan\) \| \(nan\) \Z")
        self.check_cell(directory / "cells" / CELLS[0], rows[0])

    def check_cell(self, cell, row):
        """An ordinary run, which says what the table says."""
        accuracies = [line["accuracy"] for line in json_lines(cell / "metrics.jsonl")
                      if line["type"] == "eval"]
        self.assertEqual(float(row["best_accuracy"]), max(accuracies))
        self.assertEqual(float(row["last_accuracy"]), accuracies[-1])
        self.succeed("checkpoint", "verify", cell)

    def check_search(self, study):
        """rubato evaluate finds a cell by what it is; the study alone says too little."""
        found = self.succeed("evaluate", study, "--where", "batch=64,lr=0.1", "--format", "json")
        self.assertIn(f"cells/{CELLS[2]}/checkpoints/", found.json()["file"])
        self.refuse(64, ["straight is a study: say which cell, with --where batch=1024,seed=1"],
                    "evaluate", "straight")

    def interrupt(self, directory, cell, ranks, number, code, message):
        process = self.start(directory.name, ranks, stderr=subprocess.PIPE)
        self.addCleanup(process.stderr.close)
        process.directory = directory
        self.kill_in(cell, process, number)
        self.assertEqual(process.communicate(timeout=PATIENCE)[1], message)
        self.assertEqual(process.returncode, code)
        state = json.loads((directory / "cells" / cell / "state.json").read_text())
        self.assertIn(state["state"], ("running", "preempted"), "the cell is not over")

    def check_listing(self):
        shown = self.succeed("study", "killed.ini", "--dry-run").output.splitlines()
        self.assertRegex(shown[0], rf"\A{CELLS[0]}  finished +--lr 0.05\Z")
        self.assertRegex(shown[2], rf"\A{CELLS[2]}  at update \d+ +--lr 0.1\Z")
        self.assertRegex(shown[3], rf"\A{CELLS[3]}  to run +--lr 1")
        self.assertEqual(shown[4], "4 cells: 2 finished, 0 diverged, 2 to run")
        self.assertRegex(shown[5], r"\Apredicted time: \d+:\d\d\Z")

    def finish_on_a_terminal(self, directory):
        ours, theirs = pty.openpty()
        process = self.start(directory.name, 2, stderr=theirs)
        os.close(theirs)
        shown = read_terminal(ours)
        self.assertEqual(process.wait(PATIENCE), 0, shown)
        return shown.decode()

    def check_terminal(self, shown):
        self.assertRegex(shown, rf"cell 3/4  {CELLS[2]}  update \d+")
        self.assertRegex(shown, r"update \d+/1320  \d+:\d\d left")
        self.assertTrue(shown.endswith("\r\x1b[K"), "the line is taken away")

    def check_that_nothing_is_done_again(self, directory):
        before = {path: path.stat().st_mtime_ns for path in directory.glob("cells/*/*")}
        again = self.succeed("study", "killed.ini")
        self.assertNotIn("cell 1/4", again.output)
        self.assertIn("(base line)", again.output)
        self.assertEqual(before,
                         {path: path.stat().st_mtime_ns for path in directory.glob("cells/*/*")})


class Kills(StudyTest):
    def test_at_random_change_nothing(self):
        straight, killed = self.write_study("straight"), self.write_study("killed")
        self.succeed("study", "straight.ini", "--ranks", 1)
        chance = random.Random(1)
        for lines in sorted(chance.sample(range(20, 2000), 10)):
            process = self.start("killed", chance.randint(1, 3))
            end = time.monotonic() + PATIENCE
            while sum(len(json_lines(file)) for file in killed.glob("cells/*/*.jsonl")) < lines:
                self.assertLess(time.monotonic(), end, f"{lines} lines of all cells")
                time.sleep(0.005)
            process.kill()
            process.wait()
        self.assertLess(len(list(killed.glob("cells/*/checkpoints"))), 4, "some is left to be done")
        self.succeed("study", "killed.ini", "--ranks", 2)
        for ours, theirs in zip(without_times(killed), without_times(straight)):
            self.assertEqual(ours, theirs)


class Refusals(StudyTest):
    def refuse_study(self, code, words, old, new, *more):
        self.write_study("s")
        text = (self.directory / "s.ini").read_text()
        self.assertIn(old, text)
        self.write("s.ini", text.replace(old, new))
        self.refuse(code, words, "study", "s.ini", *more)
        self.assertFalse((self.directory / "s").exists(), "nothing was begun")

    def test_of_files(self):
        for words, old, new in (
                (['s.ini:7: unknown key "epoch" in [common]', 'did you mean "epochs"?'],
                 "epochs", "epoch"),
                (['s.ini:1: unknown section "studi"', "did you mean [study]?"],
                 "[study]", "[studi]"),
                (["s.ini:10: batch-size: the list of values is empty"],
                 "batch-size = 32, 64", "batch-size ="),
                (['s.ini:10: batch-size = "32,, 64": a comma without a value before it'],
                 "32, 64", "32,, 64"),
                (["s.ini:10: batch: 032 is 32; cells need names of their own"],
                 "32, 64", "32, 64, 032"),
                (["s.ini:14: model stands in line 6 already"], "[variant wild]", "[variant wild]\n"
                 "model = linear"),
                (["s.ini:7: --epochs and --updates exclude each other"],
                 "[grid]", "updates = 5\n[grid]"),
                (["s.ini:10: --nesterov needs --optimizer sgd"],
                 "[grid]", "optimizer = adam\nnesterov = true\n[grid]"),
                (['s.ini:12: column 11: lr = "0.05 / (k - 1)" divides by zero', "batch=32"],
                 "0.05 * k", "0.05 / (k - 1)"),
                (['column 13: lr = "0.05 * kk" has the unknown name "kk"'], "* k", "* kk")):
            with self.subTest(new=new):
                self.refuse_study(65, words, old, new, "--dry-run")

    def test_of_options(self):
        self.refuse_study(64, ["--rank", "did you mean --ranks?"], "lr", "lr", "--rank", 2)
        self.refuse(66, ["study none.ini cannot be read"], "study", "none.ini")
        self.refuse(66, ["study . is a directory"], "study", ".")
        self.refuse(64, ["study: FILE.ini is missing"], "study", "--dry-run")
        self.assertIn("[variant with-lars]", self.succeed("study", "--help").output)

    def test_of_a_cell_that_cannot_be_trained(self):
        self.write_study("s")
        text = (self.directory / "s.ini").read_text()
        self.write("s.ini", text.replace("data = digits", "data = csv:nowhere.csv"))
        self.refuse(66, ["s.ini:5: nowhere.csv", f"(in the cell {CELLS[0]})"],
                    "study", "s.ini", "--ranks", 1)
        self.assertFalse((self.directory / "s").exists(), "nothing was begun")
        shown = self.succeed("study", "s.ini", "--dry-run").output.splitlines()
        self.assertIn("4 to run", shown[-3])
        self.assertRegex(shown[-2], r"^predicted time: not known")
        self.assertRegex(shown[-1], r"^missing: s\.ini:5: .*nowhere")

        # A launcher that is no mpirun may start cells where the data are.
        launcher = self.write("start", '#!/bin/sh\nexec "$RUBATO_MPIEXEC" "$@"\n')
        launcher.chmod(0o755)
        self.refuse(66, [f"the cell {CELLS[0]}: exit code 66", "nowhere.csv"],
                    "study", "s.ini", "--ranks", 1, "--mpirun", launcher)

    def test_of_files_only_where_a_cell_still_needs_them(self):
        study = "[study]\nname = s\n[common]\ndata = digits\n[grid]\ntrace = "
        self.write("s.ini", study + "a.csv")
        first = self.write_trace([32, 64], "a.csv")
        self.succeed("study", "s.ini", "--ranks", 1)
        first.unlink()
        self.write_trace([64, 32], "b.csv")
        self.write("s.ini", study + "a.csv, b.csv")
        self.assertIn("cell 2/2", self.succeed("study", "s.ini", "--ranks", 1).output)

    def test_of_the_last_cell_before_the_first_one_runs(self):
        words = ["s.ini:10: --batch-size: found batch size 2000, expected at most the 1408 samples",
                 "(in the cell batch=2000,variant="]
        self.refuse_study(65, words, "32, 64", "32, 2000", "--dry-run")

    def test_of_cells_with_other_options(self):
        self.write_study("s", epochs=1)
        self.succeed("study", "s.ini", "--ranks", 1)
        text = (self.directory / "s.ini").read_text()
        self.write("s.ini", text.replace("0.05 * k", "0.06 * k"))
        self.refuse(64, [f"s/cells/{CELLS[0]}: --lr 0.06: the run to go on with has 0.05",
                         "give the study another out"], "study", "s.ini")


if __name__ == "__main__":
    unittest.main()
