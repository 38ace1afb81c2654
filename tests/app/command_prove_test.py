"""rubato prove: runs killed at random are found equal, and those that are not, different."""

import os
import pathlib
import signal
import subprocess
import tempfile
import time
import unittest

from rubato_command import PATIENCE, CommandTest, command_line, rubato

DIGITS = ["--data", "digits", "--model", "mlp:16", "--batch-size", 50, "--updates", 40]
CONVOLUTIONS = ["--data", "synthetic:samples=64,shape=1x28x28,classes=4", "--model",
                "mnist-tutorial", "--batch-size", 24, "--minibatch", 8, "--updates", 20]
DIGEST = "[0-9a-f]{64}"


class ProveTest(CommandTest):
    def prove(self, code, own, train):
        result = rubato("prove", *own, "--", *train, directory=self.directory,
                        env={**os.environ, "TMPDIR": str(self.directory)})
        self.assertEqual(result.code, code, result.output + result.message)
        return result


class Equal(ProveTest):
    def test_digits_through_three_kills(self):
        result = self.prove(0, ["--kills", 3, "--ranks", "1,2", "--seed", 1], DIGITS)
        lines = result.output.splitlines()
        kills = [line for line in lines if line[:4].strip().isdigit()]
        self.assertEqual(len(kills), 3, result.output)
        states = [line.split()[-1] for line in lines if " state " in line]
        self.assertEqual(len(states), 2, result.output)
        self.assertEqual(*states)
        self.assertRegex(lines[-1], "^Equal: .* lines of 40 updates, 1 epoch and 2 evaluations")
        self.assertEqual(result.message, "")
        self.assertEqual(list(self.directory.iterdir()), [], "the runs are removed")

    def test_convolutions_as_json_with_the_runs_kept(self):
        result = self.prove(0, ["--kills", 3, "--ranks", "2,1", "--seed", 2, "--format", "json",
                                "--keep-runs", "kept"], CONVOLUTIONS)
        document = result.json()
        self.assertTrue(document["equal"])
        self.assertEqual((document["straight_ranks"], document["updates"]), (2, 20))
        self.assertEqual(document["update_lines_compared"], 20)
        self.assertEqual(len(document["kills"]), 3)
        self.assertRegex(document["killed"]["state_digest"], f"^{DIGEST}$")
        digests = self.succeed("checkpoint", "digest", "kept/straight", "kept/killed").output
        self.assertEqual({line.split()[0] for line in digests.splitlines()},
                         {document["killed"]["state_digest"]})
        self.assertTrue((self.directory / "kept" / "killed.log").exists())


class NotEqual(ProveTest):
    def test_a_sum_that_depends_on_the_ranks(self):
        train = [*CONVOLUTIONS, "--sum", "fast"]
        train[train.index("--batch-size") + 1] = 40  # (a+b+c)+(d+e) on two ranks
        result = self.prove(70, ["--kills", 2, "--ranks", 2, "--straight-ranks", 1, "--seed", 3],
                            train)
        self.assertRegex(result.output, r"\nNOT EQUAL: first difference: update \d+: \w+ is ")
        self.assertIn("the runs are kept in ", result.message)
        kept, = self.directory.glob("rubato-prove-*")
        self.assertTrue((kept / "killed" / "metrics.jsonl").exists())

    def test_a_checkpoint_exchanged_for_that_of_another_run(self):
        self.succeed("train", *DIGITS, "--seed", 43, "--out", "other")
        last = "checkpoints/ckpt-40.h5"
        launcher = self.write("launcher.sh", f"""{os.environ["RUBATO_MPIEXEC"]} "$@"
            code=$?
            case "$*" in
              *--stop-after-update*) ;;
              */killed*) cp other/{last} other/{last}.sha256 kept/killed/checkpoints ;;
            esac
            exit $code""")
        result = self.prove(70, ["--kills", 2, "--ranks", "1,2", "--seed", 4, "--keep-runs", "kept",
                                 "--mpirun", f"sh {launcher}"], DIGITS)
        self.assertRegex(result.output, r"\nNOT EQUAL: first difference: the last checkpoints: ")
        states = [line.split()[-1] for line in result.output.splitlines() if " state " in line]
        self.assertNotEqual(*states)

    def test_a_checkpoint_that_is_lost(self):
        launcher = self.write("launcher.sh", f"""{os.environ["RUBATO_MPIEXEC"]} "$@"
            code=$?
            case "$*" in *--stop-after-update*) rm -r kept/killed/checkpoints ;; esac
            exit $code""")
        result = self.prove(70, ["--kills", 5, "--ranks", "1", "--seed", 4, "--keep-runs", "kept",
                                 "--mpirun", f"sh {launcher}"], DIGITS)
        self.assertRegex(result.output, r"\nNOT EQUAL: kill \d: ")

    def test_a_run_that_leaves_no_metrics(self):
        launcher = self.write("launcher.sh", f"""{os.environ["RUBATO_MPIEXEC"]} "$@"
            code=$?
            case "$*" in */straight*) rm rubato-prove-*/straight/metrics.jsonl ;; esac
            exit $code""")
        result = self.prove(66, ["--kills", 1, "--ranks", 1, "--seed", 4,
                                 "--mpirun", f"sh {launcher}"], DIGITS)
        self.assertIn("the runs are kept in ", result.message)
        kept, = self.directory.glob("rubato-prove-*")
        self.assertTrue((kept / "straight.log").exists())


class Refusals(ProveTest):
    def test_of_options(self):
        for words, arguments in (
                (["options of the training are missing"], ["--kills", 2]),
                (["--kill", "did you mean --kills?"], ["--kill", 2, "--", *DIGITS]),
                (['--ranks "1:3"', "1,2,3"], ["--ranks", "1:3", "--", *DIGITS]),
                (["did you mean --updates?"], ["--", *DIGITS, "--update", 3]),
                (["leave --resume out"], ["--", *DIGITS, "--resume"])):
            with self.subTest(arguments=arguments):
                self.refuse(64, words, "prove", *arguments)

    def test_of_places(self):
        self.write("full/file", "")
        self.refuse(73, ["full: is not empty"], "prove", "--keep-runs", "full", "--", *DIGITS)

    def test_the_trainings_own_failures_keep_their_code(self):
        train = ["--data", "csv:nowhere.csv", "--batch-size", 8, "--updates", 3]
        result = self.prove(66, [], train)
        self.assertRegex(result.message, r"\Arubato: the straight run ended with exit code 66; its"
                                         r" last line: rubato: [^\n]*nowhere.csv")

    def test_more_kills_than_updates(self):
        result = self.prove(64, ["--kills", 40, "--ranks", 1], DIGITS)
        self.assertIn("--kills 40: expected fewer kills than updates", result.message)
        self.assertEqual(list(self.directory.iterdir()), [])

    def test_more_ranks_than_there_is_room_for(self):
        self.refuse(64, ["--ranks 1000000: expected at most"], "prove", "--ranks", "1,1000000",
                    "--", *DIGITS)
        self.refuse(64, ["--straight-ranks 70000"], "prove", "--ranks", 1, "--straight-ranks",
                    70000, "--", *DIGITS)

    def test_a_launcher_that_is_not_there_leaves_nothing(self):
        result = self.prove(71, ["--mpirun", "/nowhere/mpirun"], DIGITS)
        self.assertIn("cannot start /nowhere/mpirun: No such file", result.message)
        self.assertEqual(list(self.directory.iterdir()), [])

    def test_help_needs_nothing(self):
        shown = self.succeed("prove", "--help").output
        self.assertIn("--kills N", shown)
        self.assertIn("Usage: rubato prove [options] -- TRAIN OPTIONS\n", shown)


class BrokenOff(ProveTest):
    def test_nothing_is_left_of_a_proof_that_is_interrupted(self):
        for name in ("SIGINT", "SIGTERM"):
            for moment in ("straight", "killed/metrics.jsonl"):
                with self.subTest(name, moment=moment), tempfile.TemporaryDirectory() as directory:
                    self.interrupt(pathlib.Path(directory), getattr(signal, name), moment,
                                   f"rubato: prove: broken off by {name}\n")

    def interrupt(self, directory, number, moment, message):
        words = ["prove", "--kills", 3, "--ranks", 2, "--seed", 5, "--", *DIGITS[:-1], 400]
        with subprocess.Popen(
                command_line(words), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                env={**os.environ, "TMPDIR": str(directory)}) as process:
            try:
                end = time.monotonic() + PATIENCE
                while not list(directory.glob(f"rubato-prove-*/{moment}")):
                    self.assertLess(time.monotonic(), end, moment)
                    time.sleep(0.01)
                process.send_signal(number)
                self.assertEqual(process.communicate(timeout=PATIENCE)[1], message)
            finally:
                process.kill()
        self.assertEqual(process.returncode, 128 + number)
        self.assertEqual(list(directory.glob("rubato-prove-*")), [])
        self.assertEqual(list(directory.glob("ompi.*/*")), [])


if __name__ == "__main__":
    unittest.main()
