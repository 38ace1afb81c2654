"""rubato launch: what it refuses. What it does is in supervisor_test.py and ../faults."""

import unittest

from rubato_command import CommandTest, rubato

TRAIN = ["--", "--data", "digits", "--batch-size", 8, "--out", "run"]


class Refusals(CommandTest):
    def test_of_options(self):
        for words, arguments in (
                (["options of the training are missing"], ["--ranks", 2]),
                (["--ranks 3:2", "MIN:MAX"], ["--ranks", "3:2", *TRAIN]),
                (["--rank", "did you mean --ranks?"], ["--rank", 2, *TRAIN]),
                (["give --out DIR"], ["--", "--data", "digits"]),
                (["--ranks 1000000: expected at most"], ["--ranks", 1000000, *TRAIN]),
                (["--overwrite would begin anew"], [*TRAIN, "--overwrite"]),
                (["did you mean --updates?"], [*TRAIN, "--update", 3]),
                (["--capacity-file and --capacity-trace exclude each other"],
                 ["--capacity-file", "a", "--capacity-trace", "b", *TRAIN]),
                (["--time-scale and --column need --capacity-trace"], ["--column", "a", *TRAIN])):
            with self.subTest(arguments=arguments):
                self.refuse(64, words, "launch", *arguments)
        self.assertFalse((self.directory / "run").exists())

    def test_of_files(self):
        history = self.write("h.csv", "time,GPUs\n0,4\n1,x\n")
        devices = self.write("devices", "two")
        self.refuse(65, ["h.csv:3:3:", 'found "x"'], "launch", "--capacity-trace", history, *TRAIN)
        self.refuse(65, ["devices:1:1:", 'found "two"'], "launch", "--capacity-file", devices,
                    *TRAIN)
        self.refuse(66, ["nowhere"], "launch", "--capacity-file", "nowhere", *TRAIN)
        self.refuse(66, ["nowhere"], "launch", "--capacity-trace", "nowhere", *TRAIN)

    def test_of_places_and_launchers(self):
        self.write("file", "")
        self.refuse(73, ["file/run"], "launch", *TRAIN[:-1], "file/run")

    def test_a_launcher_that_is_not_there_is_named(self):
        result = rubato("launch", "--mpirun", "/nowhere/mpirun", *TRAIN, directory=self.directory)
        self.assertEqual(result.code, 71)
        self.assertIn("cannot start /nowhere/mpirun: No such file", result.message)

    def test_help_needs_nothing(self):
        shown = self.succeed("launch", "--help").output
        for word in ("launch [options] -- TRAIN OPTIONS\n", "--capacity-trace",
                     "events.jsonl", "floor(devices * MAX"):
            self.assertIn(word, shown)


if __name__ == "__main__":
    unittest.main()
