"""rubato evaluate: the model of a checkpoint on its test set, without mpirun and with it."""

import gzip
import pathlib
import shutil
import tempfile
import unittest

from rubato_command import CommandTest, json_lines, rubato

RUN = ["train", "--data", "digits", "--model", "mlp:8", "--batch-size", 32, "--epochs", 2,
       "--data-deviation", 0.5, "--checkpoint-every", 22, "--evaluate-every", 704]
DIGITS = pathlib.Path(__file__).resolve().parents[2] / "data" / "digits.csv.gz"


def evaluation(*arguments, directory, ranks=None):
    result = rubato("evaluate", *arguments, "--format", "json", ranks=ranks, directory=directory)
    assert result.code == 0, result.message
    return result.json()


class Evaluate(CommandTest):
    """Beside a copy of a run with checkpoints and evaluations after updates 22, 44, 66 and 88."""

    @classmethod
    def setUpClass(cls):
        temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(temporary.cleanup)
        cls.original = pathlib.Path(temporary.name) / "run"
        result = rubato(*RUN, "--keep", 9, "--out", cls.original)
        assert result.code == 0, result.message
        cls.newest = evaluation("run", directory=temporary.name)

    def setUp(self):
        super().setUp()
        shutil.copytree(self.original, self.directory / "run")

    def evaluate(self, *arguments, ranks=None):
        return evaluation(*arguments, directory=self.directory, ranks=ranks)

    def test_finds_what_the_run_itself_has_found_to_the_last_bit(self):
        lines = [line for line in json_lines(self.directory / "run/metrics.jsonl")
                 if line["type"] == "eval"]
        newest = self.newest
        self.assertEqual(newest["file"], "run/checkpoints/ckpt-88.h5")
        self.assertTrue(newest["is_test_set_of_training"])
        fields = ("update", "epoch", "accuracy", "loss")
        self.assertEqual([[one[name] for name in fields] for one in newest["history"]],
                         [[line[name] for name in fields] for line in lines])
        best = max(line["accuracy"] for line in lines)
        self.assertEqual(newest["best"]["accuracy"], best)
        middle = self.evaluate("run/checkpoints/ckpt-44.h5")
        self.assertNotIn("history", middle)
        self.assertEqual(self.evaluate("run/checkpoints/latest"), newest)
        for found in (newest, middle):
            line = next(line for line in lines if line["update"] == found["update"])
            self.assertEqual((found["accuracy"], found["loss"]), (line["accuracy"], line["loss"]))
            self.assertEqual(sum(one["samples"] for one in found["classes"]), 359)
            self.assertEqual(sum(one["correct"] for one in found["classes"]), found["correct"])
        self.assertEqual(newest["training_samples_used"], 2 * 44 * 32)

    def test_finds_of_a_class_what_it_finds_of_its_samples_alone(self):
        rows = gzip.decompress(DIGITS.read_bytes()).decode().split()
        threes = [row for row in rows[4::5] if row.endswith(",3")]  # of those that test
        self.write("threes.csv", "\n".join(threes) + "\n")
        whole = self.newest
        alone = self.evaluate("run", "--test-data", "csv:threes.csv,shape=1x8x8")
        self.assertEqual(alone["classes"][3]["samples"], alone["test_samples"])
        self.assertFalse(alone["is_test_set_of_training"])
        self.assertEqual(alone["data"], "csv:threes.csv,shape=1x8x8")
        for name in ("samples", "correct", "accuracy"):
            self.assertEqual(alone["classes"][3][name], whole["classes"][3][name])
        self.assertAlmostEqual(alone["loss"], whole["classes"][3]["loss"], places=6)
        self.assertIsNone(alone["classes"][4]["accuracy"])

    def test_is_the_same_for_any_number_of_ranks(self):
        alone = self.succeed("evaluate", "run").output
        self.assertRegex(alone, r"\naccuracy \d\d\.\d\d % \(\d+ of 359\), loss \d\.\d{4}\n")
        self.assertIn("\nduring training: 4 evaluations, the best after update ", alone)
        self.assertEqual(self.succeed("evaluate", "run", ranks=2).output, alone)
        # Of two batches the third rank has none.
        self.assertEqual(self.evaluate("run", ranks=3), self.newest)

    def test_refuses_damaged_and_missing_files(self):
        self.refuse(66, ["nowhere"], "evaluate", "nowhere")
        last = self.directory / "run/checkpoints/ckpt-88.h5"
        last.write_bytes(last.read_bytes()[:-1])
        self.refuse(65, ["ckpt-88.h5"], "evaluate", "run/checkpoints/ckpt-88.h5")
        (self.directory / "run/metrics.jsonl").unlink()
        result = self.succeed("evaluate", "run/checkpoints")
        self.assertRegex(result.message,
                         r"\Arubato: warning: [^\n]*ckpt-88.h5[^\n]*\n"
                         r"rubato: warning: run/metrics.jsonl does not exist[^\n]*\n\Z")
        self.assertTrue(result.output.startswith("run/checkpoints/ckpt-66.h5: update 66, epoch 1"))

    def test_refuses_metrics_that_are_none(self):
        with (self.directory / "run/metrics.jsonl").open("a") as file:
            file.write('{"type":"eval","update":"x"}\n')
        self.refuse(65, ["run/metrics.jsonl:", "expected update, epoch, loss and accuracy"],
                    "evaluate", "run")

    def test_refuses_what_does_not_fit(self):
        self.refuse(65, ["run/checkpoints/ckpt-88.h5 does not fit model mlp:9 on data digits",
                         "another shape for fc1.weight"], "evaluate", "run", "--model", "mlp:9")
        self.write("a.csv", "1,2,0\n3,4,1\n")
        self.refuse(64, ["csv:a.csv have no test set", "--test-every"],
                    "evaluate", "run", "--data", "csv:a.csv")

    def test_refuses_wrong_options(self):
        self.refuse(64, ["CHECKPOINT|DIR is missing"], "evaluate")
        self.assertIn("Usage: rubato evaluate CHECKPOINT|DIR",
                      self.succeed("evaluate", "--help").output)


if __name__ == "__main__":
    unittest.main()
