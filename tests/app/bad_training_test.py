"""Misuse of rubato train, alone, and on three ranks the first that a test has of each kind: one
sentence of all ranks that names the culprit, their common exit code, nothing on standard output,
and in time."""

import os
import subprocess
import unittest

import bad_files
from rubato_command import CommandTest

DIGITS = ["--data", "digits", "--model", "linear"]
SHORT = ["--batch-size", 32, "--updates", 2]
TASK = [*DIGITS, *SHORT]
TABLE = r"[^\n]+ parameters; [^\n]+\n +update [^\n]+\n"  # its head, before training fails


class BadTraining(CommandTest):
    def setUp(self):
        super().setUp()
        self.kinds_on_ranks = set()

    def refuse_train(self, code, words, *arguments, stage="options", **more):
        """Refusals are of a kind that have the code and the stage at which the ranks agree on what
        to say: how they do so does not depend on the words.
        """
        for ranks in (None,) if (code, stage) in self.kinds_on_ranks else (None, 3):
            with self.subTest(arguments=arguments, ranks=ranks):
                self.refuse(code, words, "train", *arguments, ranks=ranks, **more)
        self.kinds_on_ranks.add((code, stage))

    def write_all(self, directory, files):
        for name, content in files.items():
            self.write(f"{directory}/{name}", content)


class BadNames(BadTraining):
    def test_are_answered_with_the_nearest_one(self):
        for words, arguments in (
                (['unknown model "mlpp": did you mean "mlp"?', "mnist-tutorial"],
                 ["--data", "digits", "--model", "mlpp:64", *SHORT]),
                (['unknown data "digist": did you mean "digits"?', "hdf5"],
                 ["--data", "digist", *SHORT]),
                (['unknown test-data "mnsit": did you mean "mnist"?'],
                 [*TASK, "--test-data", "mnsit:x"]),
                (['unknown rule "liner": did you mean "linear"?'], [*TASK, "--rule", "liner"]),
                (['unknown optimizer "adm": did you mean "adam"?'], [*TASK, "--optimizer", "adm"]),
                (['unknown schedule "cosin": did you mean "cosine"?'],
                 [*TASK, "--schedule", "cosin"]),
                (["unknown option --momentun; did you mean --momentum?"],
                 [*TASK, "--momentun", "0.5"]),
                (['unknown instruction set "avx9"', "avx2"], [*TASK, "--isa", "avx9"])):
            self.refuse_train(64, words, *arguments)


class BadValues(BadTraining):
    def test_out_of_range(self):
        for words, more in (
                (["--lr nan: expected a positive number"], ["--lr", "nan"]),
                (["--lr -1: expected a positive number"], ["--lr", "-1"]),
                (["--until-progress 1e999"], ["--until-progress", "1e999"]),
                (["momentum is 1;", "below 1"], ["--momentum", 1]),
                (["momentum is 1;", "below 1"], ["--optimizer", "lars", "--momentum", 1]),
                (["--trust 0: expected a positive number"],
                 ["--optimizer", "lars", "--trust", 0]),
                (['unknown lars-form "larc"'], ["--optimizer", "lars", "--lars-form", "larc"])):
            self.refuse_train(64, words, *TASK, *more)

    def test_that_does_not_go_with_the_data(self):
        self.refuse_train(64, ["minibatch", "1439", "1438 samples"], *TASK, "--minibatch", 1439,
                          stage="data")
        for words, model in ((["layer conv2", "5x5 kernel", "2x2 pixels"], "mnist"),
                             (['model "mlp:0"', "hidden layer 1"], "mlp:0")):
            self.refuse_train(64, words, "--data", "digits", *SHORT, "--model", model,
                              stage="model")
        self.refuse_train(64, ["batch size 2000", "1408 samples of an epoch", "--epoch-end carry"],
                          *DIGITS, "--batch-size", 2000, "--epochs", 1, stage="plan")

    def test_combinations(self):
        for words, arguments in (
                (["no data", "--data SPEC"], SHORT),
                (["no batch size", "--trace FILE.csv", "--batch-size N"], DIGITS),
                (["the run has no end", "--epochs"], [*DIGITS, "--batch-size", 32]),
                (["--momentum needs --optimizer sgd", "--optimizer adam"],
                 [*TASK, "--optimizer", "adam", "--momentum", "0.9"]),
                (["--trust needs --optimizer lars", "--optimizer sgd"],
                 [*TASK, "--trust", "0.02"]),
                (["--nesterov needs --optimizer sgd"],
                 [*TASK, "--optimizer", "adamw", "--nesterov"]),
                (["the rule linear does not go with the optimizer adadelta", "the rule constant"],
                 [*TASK, "--optimizer", "adadelta"]),
                (["the rule adamscale needs the noise in the optimizer's own metric"],
                 [*TASK, "--rule", "adamscale", "--optimizer", "adam", "--noise-metric", "plain"]),
                (["noise metric preconditioned", "choose adam or adamw"],
                 [*TASK, "--noise-metric", "preconditioned"]),
                (["noise metric both", "choose adam or adamw"],
                 [*TASK, "--noise-metric", "both"]),
                (["--rule legw", "--legw-warmup E"], [*TASK, "--rule", "legw"]),
                (["--milestones needs --schedule multistep", "constant"],
                 [*TASK, "--milestones", "1,2"]),
                (["--test-data and --test-every exclude each other"],
                 [*TASK, "--test-data", "digits", "--test-every", 5]),
                (["test-every", "digits has a test set"], [*TASK, "--test-every", 5]),
                (["label-column", "digits"], [*TASK, "--label-column", 3])):
            self.refuse_train(64, words, *arguments)


class BadTraces(BadTraining):
    def test_files_that_are_no_trace(self):
        self.refuse_train(66, ["nowhere.csv"], *DIGITS, "--trace", "nowhere.csv")
        for content, words in bad_files.TRACES:
            trace = self.write("t.csv", content)
            self.refuse_train(65, words, *DIGITS, "--trace", trace)

    def test_traces_that_do_not_serve(self):
        too_large = self.write_trace([32, 2048], "large.csv")
        self.refuse_train(65, ["large.csv:3", "2048", "1408 samples of an epoch"],
                          *DIGITS, "--trace", too_large)
        too_short = self.write_trace([32, 64], "short.csv")
        for more in (["--epochs", 1], ["--updates", 3]):
            self.refuse_train(65, ["short.csv:3", "the trace ends here", "--trace-end"],
                              *DIGITS, "--trace", too_short, *more)


class BadData(BadTraining):
    def test_missing_files(self):
        for spec in ("csv:nowhere.csv", "hdf5:nowhere.h5", "idx:nowhere", "mnist:nowhere",
                     "cifar10:nowhere"):
            self.refuse_train(66, ["nowhere"], "--data", spec, "--model", "linear", *SHORT)

    def test_configurations_that_are_no_file(self):
        for name in ("nowhere.ini", "."):
            with self.subTest(name=name):
                self.refuse_train(66, [f"configuration file {name} cannot be read"], *DIGITS,
                                  "--config", name)

    def test_idx_files_are_read_with_distrust(self):
        for name, files, words in bad_files.idx_sets():
            self.write_all(name, files)
            code = 66 if name == "no-labels" else 65
            self.refuse_train(code, [name, *words], "--data", f"idx:{name}", "--model", "linear",
                              *SHORT)

    def test_a_cifar_file_of_a_wrong_length(self):
        self.write_all("cifar", bad_files.cifar_set(8 * bad_files.CIFAR_RECORD - 1))
        self.refuse_train(65, ["test_batch.bin", "24583 bytes", "multiple of 3073"],
                          "--data", "cifar10:cifar", "--model", "linear", *SHORT)

    def test_a_data_set_without_labels_in_its_csv_file(self):
        self.write("d.csv", "0,0,1\n0,5,x\n")
        self.refuse_train(65, ["d.csv:2"], "--data", "csv:d.csv", "--model", "linear", *SHORT)


class BadOutput(BadTraining):
    def test_a_file_in_the_place_of_the_directory(self):
        self.write("taken", "")
        for place in ("taken", "taken/run"):
            self.refuse_train(73, [place], *TASK, "--out", place)
        self.assertEqual((self.directory / "taken").read_text(encoding="utf-8"), "")

    def test_a_directory_without_permission(self):
        self.directory.chmod(0o755)
        for mode in (0o000, 0o500, 0o555):
            place = self.directory / f"closed-{mode:o}"
            place.mkdir(mode=mode)
            self.addCleanup(place.chmod, 0o700)
            for run in (place, place / "run"):
                self.refuse_train(73, [str(run), "Permission denied"], *TASK, "--out", run,
                                  **self.as_somebody_without_rights())

    def as_somebody_without_rights(self):
        if os.geteuid() != 0:
            return {}
        nobody = {"user": 65534, "group": 65534, "extra_groups": []}
        command = ["test", "-x", os.environ["RUBATO_COMMAND"]]
        try:
            is_open = subprocess.run(command, check=False, **nobody).returncode == 0
        except PermissionError:  # the root directory itself is only root's
            is_open = False
        if not is_open:
            self.skipTest("the program lies where only root can start it")
        return {**nobody, "env": {**os.environ, "HOME": "/tmp", "TMPDIR": "/tmp"}}

    def test_a_directory_that_holds_a_run(self):
        self.succeed("train", *TASK, "--out", "run")
        before = (self.directory / "run" / "metrics.jsonl").read_bytes()
        self.refuse_train(73, ["run holds a run already", "--overwrite"], *TASK, "--out", "run")
        self.assertEqual((self.directory / "run" / "metrics.jsonl").read_bytes(), before)


class Divergence(BadTraining):
    def test_ends_the_run_and_names_the_update(self):
        run = ["--data", "digits", "--model", "mlp:16", *SHORT, "--lr", "1e20"]
        for more in ([], ["--sum", "fast"], ["--optimizer", "adam"]):
            self.refuse_train(70, ["update 2:", "fc1.weight is not finite", "lower learning rate"],
                              *run, *more, output=TABLE, stage=tuple(more))


if __name__ == "__main__":
    unittest.main()
