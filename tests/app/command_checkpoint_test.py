"""rubato checkpoint: what it says of good and of damaged checkpoints, without MPI."""

import hashlib
import unittest

from rubato_command import CommandTest, rubato

RUN = ["train", "--data", "digits", "--model", "linear", "--batch-size", 32, "--updates", 3]


class CheckpointTest(CommandTest):
    """Beside a run with checkpoints of updates 0 and 3."""

    def setUp(self):
        super().setUp()
        self.succeed(*RUN, "--out", "run")
        self.first, self.last = (f"run/checkpoints/ckpt-{update}.h5" for update in (0, 3))

    def damage(self, name):
        path = self.directory / name
        content = bytearray(path.read_bytes())
        content[len(content) // 2] ^= 1
        path.write_bytes(content)

    def checkpoint(self, code, *arguments):
        """The result of a command that may find fault, and says so on standard output."""
        result = rubato("checkpoint", *arguments, directory=self.directory)
        self.assertEqual(result.code, code, result.message)
        return result


class Digest(CheckpointTest):
    def digests(self, *files):
        return dict(reversed(line.split("  "))
                    for line in self.succeed("checkpoint", "digest", *files).output.splitlines())

    def test_is_one_line_for_each_file_in_the_form_of_sha256sum(self):
        output = self.succeed("checkpoint", "digest", self.first, self.last).output
        digest = "[0-9a-f]{64}"
        self.assertRegex(output, rf"\A{digest}  {self.first}\n{digest}  {self.last}\n\Z")

    def test_differs_where_the_state_differs_and_only_there(self):
        states = self.digests(self.first, self.last)
        self.assertNotEqual(states[self.first], states[self.last])
        self.succeed(*RUN, "--out", "again")
        self.succeed(*RUN, "--out", "other", "--seed", 43)
        again, other = ("again/checkpoints/ckpt-3.h5", "other/checkpoints/ckpt-3.h5")
        states |= self.digests(again, other)
        self.assertEqual(states[again], states[self.last])
        self.assertNotEqual(states[other], states[self.last])

    def test_refuses_a_file_that_was_changed(self):
        self.damage(self.last)
        self.refuse(65, [self.last], "checkpoint", "digest", self.last)

    def test_refuses_a_file_without_its_checksum_and_says_how_to_make_one(self):
        (self.directory / f"{self.last}.sha256").unlink()
        result = self.refuse(65, [self.last, "sha256sum"], "checkpoint", "digest", self.last)
        self.assertIn(".sha256", result.message)

    def test_of_a_directory_is_that_of_its_newest_good_one(self):
        states = self.digests(self.first, self.last)
        self.assertEqual(self.digests("run"), {self.last: states[self.last]})
        self.damage(self.last)
        result = self.succeed("checkpoint", "digest", "run")
        self.assertEqual(result.output, f"{states[self.first]}  {self.first}\n")
        self.assertRegex(result.message,
                         rf"\Arubato: warning: {self.last}: does not match[^\n]*\n\Z")

    def test_refuses_what_is_no_checkpoint(self):
        self.refuse(66, ["nowhere.h5"], "checkpoint", "digest", "nowhere.h5")
        (self.directory / "empty").mkdir()
        self.refuse(66, ["empty: found no checkpoint"], "checkpoint", "digest", "empty")


class List(CheckpointTest):
    def test_is_newest_first_with_the_reason_of_what_is_damaged(self):
        self.damage(self.last)
        for path in ("run", "run/", "run/checkpoints"):
            lines = self.succeed("checkpoint", "list", path).output.splitlines()
            self.assertEqual(lines[0].split(),
                             ["update", "epoch", "samples", "size", "written", "age", "state"])
            self.assertIn("  ckpt-3.h5: damaged: does not match its checksum", lines[1])
            self.assertRegex(lines[2], r" 0 +0 +0 +\d+\.\d kB .*  good$")

    def test_as_json_says_what_is_good(self):
        (self.directory / f"{self.first}.sha256").unlink()
        last, first = self.succeed("checkpoint", "list", "run", "--format", "json").json()
        self.assertEqual((last["file"], last["good"], last["update"], last["samples"]),
                         (self.last, True, 3, 96))
        digest = self.succeed("checkpoint", "digest", self.last).output.split()[0]
        self.assertEqual(last["digest"], digest)
        self.assertEqual((first["good"], first["has_checksum"]), (False, False))

    def test_needs_a_directory(self):
        self.refuse(66, [f"{self.last}: not a directory"], "checkpoint", "list", self.last)


class Show(CheckpointTest):
    def test_shows_the_newest_good_one_of_a_directory(self):
        self.assertIn("updates made 3, samples used 96",
                      self.succeed("checkpoint", "show", "run").output)
        self.damage(self.last)
        text = self.succeed("checkpoint", "show", "run").output
        self.assertIn(f"{self.first}: ", text)
        self.assertIn("updates made 0, samples used 0", text)
        self.assertRegex(text, r"\nfc\.weight +\[10, 64\] ")

    def test_as_json_holds_what_the_run_was(self):
        document = self.succeed("checkpoint", "show", self.last, "--format", "json").json()
        self.assertEqual(document["cursor"]["update"], 3)
        self.assertEqual([tensor["shape"] for tensor in document["model"]], [[10], [10, 64]])
        self.assertEqual(document["context"]["model"], "linear")
        self.assertIn("batch-size = 32", document["context"]["configuration"])

    def test_refuses_a_run_of_which_nothing_is_good(self):
        self.damage(self.first)
        self.damage(self.last)
        self.refuse(65, ["run: none of its 2 checkpoints is good", self.last],
                    "checkpoint", "show", "run")


class Verify(CheckpointTest):
    def test_says_of_each_whether_it_is_good(self):
        output = self.succeed("checkpoint", "verify", "run", self.first).output
        self.assertEqual(output, f"{self.last}: good\n{self.first}: good\n{self.first}: good\n")

    def test_goes_on_after_a_bad_one(self):
        self.damage(self.last)
        lines = self.checkpoint(65, "verify", "run").output.splitlines()
        self.assertEqual(len(lines), 2)
        self.assertTrue(lines[0].startswith(f"{self.last}: does not match its checksum"))
        self.assertEqual(lines[1], f"{self.first}: good")

    def test_goes_on_after_a_missing_one_and_ends_with_the_worst(self):
        result = self.checkpoint(66, "verify", self.first, "nowhere.h5", "nothing", self.last)
        self.assertEqual(result.output, f"{self.first}: good\n{self.last}: good\n")
        self.assertRegex(result.message, r"\Arubato: cannot open nowhere.h5: [^\n]*\n"
                                         r"rubato: cannot open nothing: [^\n]*\n\Z")
        self.damage(self.last)
        result = self.checkpoint(65, "verify", self.last, "nowhere.h5", self.first)
        self.assertEqual(len(result.output.splitlines()), 2)
        self.assertIn("nowhere.h5", result.message)

    def test_reads_behind_the_checksum(self):
        self.write("noise.h5", b"noise")
        self.write("noise.h5.sha256", f"{hashlib.sha256(b'noise').hexdigest()}  noise.h5\n")
        output = self.checkpoint(65, "verify", "noise.h5").output
        self.assertIn("noise.h5: not a checkpoint: its content: not a readable HDF5 file", output)


class Diff(CheckpointTest):
    def test_of_equal_states_says_so(self):
        self.succeed(*RUN, "--out", "again")
        self.assertEqual(self.checkpoint(0, "diff", "run", "again").output, "equal\n")

    def test_tells_each_difference_and_exits_with_1(self):
        lines = self.checkpoint(1, "diff", self.first, self.last).output.splitlines()
        self.assertIn("cursor update: 0 in A, 3 in B", lines)
        self.assertTrue(any(line.startswith("model fc.weight: ") and "first [0, 0]: " in line
                            for line in lines), lines)
        document = self.checkpoint(1, "diff", self.first, "run", "--format", "json").json()
        self.assertFalse(document["equal"])
        self.assertEqual(len(document["differences"]), len(lines))

    def test_needs_two_states(self):
        self.refuse(64, ["checkpoint diff: A B is missing"], "checkpoint", "diff", self.first)
        self.damage(self.first)
        self.refuse(65, [self.first], "checkpoint", "diff", self.first, self.last)


class Usage(CommandTest):
    def test_says_what_can_be_done(self):
        self.refuse(64, ["checkpoint: say what to do: list, show, verify, digest or diff"],
                    "checkpoint")
        self.refuse(64, ['unknown action "digets": did you mean "digest"?'],
                    "checkpoint", "digets", "a.h5")
        self.refuse(64, ["checkpoint digest: PATH... is missing"], "checkpoint", "digest")
        self.assertIn("rubato checkpoint verify PATH...",
                      self.succeed("checkpoint", "--help").output)
        for action in ("list", "show", "verify", "digest", "diff"):
            help_text = self.succeed("checkpoint", action, "--help").output
            self.assertIn(f"Usage: rubato checkpoint {action} ", help_text)


if __name__ == "__main__":
    unittest.main()
