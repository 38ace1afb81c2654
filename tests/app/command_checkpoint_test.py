"""rubato checkpoint digest: one line for each training state, and distrust of what it reads."""

import unittest

from rubato_command import CommandTest

RUN = ["train", "--data", "digits", "--model", "linear", "--batch-size", 32, "--updates", 3]


class Digest(CommandTest):
    def setUp(self):
        super().setUp()
        self.succeed(*RUN, "--out", "run")
        self.first, self.last = (f"run/checkpoints/ckpt-{update}.h5" for update in (0, 3))

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
        path = self.directory / self.last
        content = bytearray(path.read_bytes())
        content[len(content) // 2] ^= 1
        path.write_bytes(content)
        self.refuse(65, [self.last], "checkpoint", "digest", self.last)

    def test_refuses_a_file_without_its_checksum_and_says_how_to_make_one(self):
        (self.directory / f"{self.last}.sha256").unlink()
        result = self.refuse(65, [self.last, "sha256sum"], "checkpoint", "digest", self.last)
        self.assertIn(".sha256", result.message)

    def test_refuses_what_is_no_checkpoint(self):
        self.refuse(66, ["nowhere.h5"], "checkpoint", "digest", "nowhere.h5")
        self.refuse(65, ["run: found a directory, expected a file"], "checkpoint", "digest", "run")

    def test_is_the_only_thing_to_do(self):
        self.refuse(64, ["checkpoint: say what to do: digest"], "checkpoint")
        self.refuse(64, ['unknown action "digets": did you mean "digest"?'],
                    "checkpoint", "digets", self.last)
        self.refuse(64, ["checkpoint digest: FILE... is missing"], "checkpoint", "digest")
        for arguments in (["--help"], ["digest", "--help"]):
            help_text = self.succeed("checkpoint", *arguments).output
            self.assertIn("rubato checkpoint digest FILE...", help_text)


if __name__ == "__main__":
    unittest.main()
