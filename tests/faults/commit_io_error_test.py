"""A commit in which one system call fails: a sentence, what was there stays, the next one succeeds.

An interrupted or a partial call is no failure.
"""

import os
import resource
import subprocess

from traced_commit import (COMMITS, NEWEST_GOOD, OLD, COMMIT_ONCE, FaultTest, commit, main,
                           newest_good)

ERRORS = {
    "ENOSPC": "No space left on device",
    "EIO": "Input/output error",
    "EDQUOT": "Disk quota exceeded",
    "EROFS": "Read-only file system",
}
NEED_NOT_FAIL = ("sync_file_range", "getdents64")  # a hint; an iterator that may end early


def must_fail(call):
    """Calls without which nothing is committed."""
    is_temporary = any("/.tmp-" in path for path in call.paths)
    return call.name not in NEED_NOT_FAIL and (is_temporary or call.name in ("fsync", "unlinkat"))


class IoError(FaultTest):
    def test_an_error_in_any_call_is_a_sentence(self):
        for which, (update, seed) in COMMITS.items():
            outcomes = self.inject_everywhere(which, lambda _: [f"error={name}" for name in ERRORS])
            for call, fault, run, done in outcomes:
                with self.subTest(commit=which, call=str(call), fault=fault):
                    self.check_sentence(call, fault, run, done)
            new = f"{update} {seed}"
            self.check_all(outcomes,
                           lambda call, fault, done: (OLD, new) if done.returncode else (new,))

    def check_sentence(self, call, fault, run, done):
        self.assertIn(done.returncode, (0, 74), done.stderr)
        if must_fail(call):
            self.assertEqual(done.returncode, 74)
        if done.returncode == 74:
            reason = ERRORS[fault.removeprefix("error=")]
            self.assertRegex(done.stderr, rf"\Acannot [a-z ]+ {run}/checkpoints.*: {reason}\n\Z")
            left = [name for name in os.listdir(run / "checkpoints") if name.startswith(".tmp-")]
            self.assertEqual(left, [])

    def test_a_file_system_that_cannot_allocate_is_no_failure(self):
        outcomes = self.inject_everywhere(
            "next", lambda call: ["error=EOPNOTSUPP"] if call.name == "fallocate" else [])
        self.assertEqual(len(outcomes), 3)
        self.check_all(outcomes, lambda *_: ("2 8",))

    def test_an_interrupted_call_is_no_failure(self):
        outcomes = self.inject_everywhere("next", lambda _: ["error=EINTR"])
        for call, _, _, done in outcomes:
            if "getdents64" not in call.name and "/.tmp-" in "".join(call.paths):
                self.assertEqual((done.returncode, done.stderr), (0, ""), call)
        self.check_all(outcomes, lambda *_: ("2 8",))

    def test_partial_and_interrupted_writes_are_no_failure(self):
        run = self.copy_of_old("short")
        done = commit([run], 2, 8, env={**os.environ, "LD_PRELOAD": os.environ["SHORT_WRITES"]})
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(newest_good([run]), ["2 8"])

    def test_a_limit_of_the_file_size_is_a_sentence(self):
        run = self.copy_of_old("limited")
        limit = (4096, resource.getrlimit(resource.RLIMIT_FSIZE)[1])
        done = commit([run], 2, 8, restore_signals=False,  # Python ignores SIGXFSZ: so does this
                      preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, limit))
        self.assertEqual(done.returncode, 74)
        self.assertIn("ckpt-2.h5: File too large", done.stderr)
        self.assertEqual(newest_good([run]), [OLD])
        self.check_next_commit([run])

    def test_a_full_disk_is_a_sentence(self):
        mount_point = self.new_directory("small")
        script = f"""
            mount -t tmpfs -o size=200k tmpfs {mount_point} || exit 77
            {COMMIT_ONCE} 1 7 1000 {mount_point} || exit 1
            {COMMIT_ONCE} 2 8 100000 {mount_point}
            test $? = 74 || exit 2
            {NEWEST_GOOD} {mount_point}
            ls -A {mount_point}/checkpoints
            {COMMIT_ONCE} 3 9 1000 {mount_point} || exit 3
            {NEWEST_GOOD} {mount_point}"""
        if subprocess.run(["unshare", "--mount", "true"], capture_output=True,
                          check=False).returncode != 0:  # not root, or in a chroot
            self.skip("a full disk: no right to make a mount namespace")
        done = subprocess.run(["unshare", "--mount", "sh", "-c", script], text=True, timeout=60,
                              capture_output=True, check=False)
        if done.returncode == 77:
            self.skip("a full disk: no right to mount a file system")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("ckpt-2.h5: No space left on device", done.stderr)
        self.assertEqual(done.stdout.split("\n"),
                         [OLD, "ckpt-1.h5", "ckpt-1.h5.sha256", "latest", "3 9", ""])


if __name__ == "__main__":
    main()
