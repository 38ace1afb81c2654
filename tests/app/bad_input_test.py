"""Misuse of the command: one sentence that names the culprit, the exit code, and in time. Misuse of
rubato train, which runs on many ranks: bad_training_test.py."""

import os
import subprocess
import unittest

import bad_files
from rubato_command import CommandTest, rubato

PLAN = ["plan", "--samples", 1000, "--ranks", 2]


class BadOptions(CommandTest):
    def test_misspelt_names_are_answered_with_the_nearest_one(self):
        for words, arguments in (
                (['unknown command "plam"', 'did you mean "plan"?'], ["plam"]),
                (['unknown command "frobnicate" (valid: train, launch, prove, evaluate,'],
                 ["frobnicate"]),
                (["unknown option --smaples; did you mean --samples?"], ["plan", "--smaples", 3]),
                (["unknown option --mini; see `rubato plan --help`"], ["plan", "--mini", 3]),
                (["unknown option --rank;", "--ranks?"], ["plan", "--rank=3"]),
                (['unknown order "troch": did you mean "torch"? (valid: torch, feistel)'],
                 [*PLAN, "--order", "troch"]),
                (['unknown epoch-end "keep" (valid: drop, carry, cut)'],
                 [*PLAN, "--epoch-end", "keep"]),
                (['unknown trace-end "repeat_last": did you mean "repeat-last"?'],
                 [*PLAN, "--trace-end", "repeat_last"]),
                (['unknown format "jsno": did you mean "json"?'], [*PLAN, "--format", "jsno"]),
                (['unknown assignment "stride": did you mean "strided"?'],
                 [*PLAN, "--assignment", "stride"]),
                (['unknown action "chekc": did you mean "check"?'], ["trace", "chekc", "x.csv"]),
                (['unknown shape "doublign": did you mean "doubling"?'],
                 ["trace", "make", "doublign", "--rows", 3])):
            with self.subTest(arguments=arguments):
                self.refuse(64, words, *arguments)

    def test_numbers_are_read_in_full_or_not_at_all(self):
        for value in ("0", "-1", "1.5", "1e3", "0x10", " 7", "7 ", "+7", "7x", "nan", "inf",
                      "18446744073709551616", "٣"):
            with self.subTest(value=value):
                self.refuse(64, [f"--minibatch {value}: expected a whole number from 1"],
                            *PLAN, "--minibatch", value)
        self.refuse(64, ["--seed -1: expected a whole number from 0"], *PLAN, "--seed", "-1")
        self.succeed(*PLAN, "--seed", 2**64 - 1, "--batch-size", 32, "--updates", 1)

    def test_words_that_are_missing_doubled_or_in_excess(self):
        for words, arguments in (
                (["--ranks: a value is missing"], ["plan", "--samples", 5, "--ranks"]),
                (["--ranks: a value is missing"], ["plan", "--ranks="]),
                (["--ranks: a value is missing"], ["plan", "--ranks", "--samples", 5]),
                (["--ranks is given twice"], [*PLAN, "--ranks", 3]),
                (['unexpected argument "stray"'], [*PLAN, "stray"]),
                (['unexpected argument "-x"'], [*PLAN, "-x"]),
                (["--indices perhaps: expected true or false"], [*PLAN, "--indices=perhaps"]),
                (["trace show: FILE is missing"], ["trace", "show"]),
                (['unexpected argument "b.csv"'], ["trace", "show", "a.csv", "b.csv"]),
                (["show, check, make or from-capacity"], ["trace"])):
            with self.subTest(arguments=arguments):
                self.refuse(64, words, *arguments)

    def test_combinations_that_make_no_plan(self):
        for words, arguments in (
                (["give --ranks N"], ["plan", "--samples", 5]),
                (["--samples 18446744073709551615: expected at most 1099511627776"],
                 ["plan", "--ranks", 3, "--samples", 18446744073709551615, "--batch-size", 100,
                  "--updates", 2]),
                (["found 1000000000000 samples"],
                 ["plan", "--ranks", 3, "--samples", 1000000000000, "--batch-size", 100,
                  "--updates", 2, "--format", "json", "--indices"]),
                (["give --samples N or --data SPEC"], ["plan", "--ranks", 5]),
                (["give --trace FILE.csv or --batch-size N"], PLAN),
                (["--trace and --batch-size exclude each other"],
                 [*PLAN, "--trace", "a.csv", "--batch-size", 5]),
                (["--epochs and --updates exclude each other"],
                 [*PLAN, "--batch-size", 5, "--epochs", 5, "--updates", 5]),
                (["--samples and --data exclude each other"], [*PLAN, "--data", "digits"]),
                (["no end", "--epochs N or --updates N"], [*PLAN, "--batch-size", 5]),
                (["--indices needs --format json"], [*PLAN, "--indices"]),
                (["--ranks 1048577: expected at most 1048576"],
                 ["plan", "--samples", 5, "--ranks", 1048577]),
                (["minibatch", "1001", "1000"],
                 [*PLAN, "--minibatch", 1001, "--batch-size", 32, "--epochs", 1]),
                (["--batch-size", "1024", "992 samples of an epoch"],
                 [*PLAN, "--batch-size", 1024, "--epochs", 1])):
            with self.subTest(arguments=arguments):
                self.refuse(64, words, *arguments)


class BadTraces(CommandTest):
    def test_a_missing_file(self):
        for arguments in ([*PLAN, "--trace", "nowhere.csv"], ["trace", "show", "nowhere.csv"],
                          ["trace", "check", "nowhere.csv", "--samples", 5]):
            self.refuse(66, ["nowhere.csv"], *arguments)

    def test_files_that_are_no_trace(self):
        for content, words in bad_files.TRACES:
            trace = self.write("t.csv", content)
            for arguments in ([*PLAN, "--trace", trace], ["trace", "show", trace],
                              ["trace", "check", trace, "--samples", 1000]):
                with self.subTest(content=content, command=arguments[0:2]):
                    self.refuse(65, words, *arguments)

    def test_traces_that_do_not_serve(self):
        for rows, words, more in (
                ([32, 1024, 32], ["trace.csv:3", "1024", "992 samples of an epoch"], []),
                ([32, 64], ["trace.csv:3", "the trace ends here"], ["--epochs", 1]),
                ([32, 64], ["trace.csv:3", "the trace ends here"], ["--updates", 3])):
            trace = self.write_trace(rows)
            for arguments in ([*PLAN, "--trace", trace],
                              ["trace", "check", trace, "--samples", 1000]):
                with self.subTest(rows=rows, command=arguments[0]):
                    self.refuse(65, words, *arguments, *more)


class Output(CommandTest):
    def test_help_and_version_need_nothing_else(self):
        for arguments in ([], ["help"], ["--help"], ["plan", "--help"], ["trace", "--help"],
                          ["trace", "make", "-h"], ["plan", "--smaples", 3, "--help"]):
            with self.subTest(arguments=arguments):
                self.assertIn("rubato", self.succeed(*arguments).output)
        self.assertRegex(self.succeed("--version").output, r"^rubato \d+\.\d+\.\d+ \(.+\)\n$")

    def test_a_full_disk_behind_standard_output_is_a_failure(self):
        with open("/dev/full", "w", encoding="utf-8") as full:
            done = subprocess.run([os.environ["RUBATO_COMMAND"], "--version"], stdout=full,
                                  stderr=subprocess.PIPE, text=True, check=False)
        self.assertEqual(done.returncode, 74)
        self.assertIn("standard output cannot be written", done.stderr)

    def test_a_warning_is_no_failure_and_stays_off_standard_output(self):
        trace = self.write("t.csv", "step,batchsize\n5,32\n")
        result = rubato("trace", "show", trace, "--format", "json")
        self.assertEqual(result.code, 0)
        self.assertEqual(result.json()["batch_sizes"], [32])
        self.assertIn("warning", result.message)


if __name__ == "__main__":
    unittest.main()
