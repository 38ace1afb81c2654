"""What bootstrap.sh asks of the system, seen with stand-ins for apt-get, cmake and ctest.

Each case runs a copy of the script where only the stand-ins and a few basic tools can be found; the
stand-ins write down how they were called.
"""

import os
import pathlib
import pty
import select
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BASIC_TOOLS = (
    "bash", "env", "awk", "nproc", "mkdir", "dirname", "cat", "grep", "sed", "tail", "sort",
    "sleep",
)
STAND_INS = {
    "dpkg-query": 'case " $MISSING " in *" ${@: -1} "*) exit 1 ;; *) echo -n installed ;; esac',
    "apt-get": 'echo "apt-get $*" >>calls; exit "${APT_STATUS:-0}"',
    "sudo": 'echo "sudo $*" >>calls; exec "$@"',
    "id": 'echo "$USER_ID"',
    "cmake": 'echo "cmake $*" >>calls',
    "ctest": 'echo "ctest $*" >>calls; cat ctest_output; exit "${CTEST_STATUS:-0}"',
}


class Bootstrap(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        shutil.copy(ROOT / "bootstrap.sh", self.root)
        (self.root / "bin").mkdir()
        for tool in BASIC_TOOLS:
            (self.root / "bin" / tool).symlink_to(shutil.which(tool))
        for name, body in STAND_INS.items():
            self.stand_in(name, body)
        last_test = self.root / "build/release/Testing/Temporary/LastTest.log"
        last_test.parent.mkdir(parents=True)
        last_test.write_text("skipped: needs torch\nfine\nskipped: needs torch\n")

    def stand_in(self, name, body):
        path = self.root / "bin" / name
        path.write_text(f"#!/bin/bash\n{body}\n")
        path.chmod(0o755)

    def run_script(self, command, missing="", user_id="0", **environment):
        environment |= {"PATH": str(self.root / "bin"), "MISSING": missing, "USER_ID": user_id}
        return subprocess.run(
            [str(self.root / "bootstrap.sh"), command],
            env=environment, capture_output=True, text=True, timeout=60, check=False,
        )

    def calls(self, word):
        log = self.root / "calls"
        lines = log.read_text().splitlines() if log.exists() else []
        return [line for line in lines if word in line]

    def test_touches_no_package_when_all_are_installed(self):
        result = self.run_script("build", user_id="1000")
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.assertEqual(self.calls("apt-get"), [])
        self.assertEqual(self.calls("sudo"), [])

    def test_installs_only_what_is_missing_after_one_update(self):
        result = self.run_script("build", missing="cmake libhdf5-dev")
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.assertIn("Missing for building and testing: cmake libhdf5-dev", result.stdout)
        self.assertEqual(
            self.calls("apt-get"),
            ["apt-get -q update",
             "apt-get -q -y --no-install-recommends install cmake libhdf5-dev"],
        )

    def test_asks_sudo_when_it_is_not_root(self):
        self.run_script("build", missing="cmake", user_id="1000")
        self.assertEqual(len(self.calls("sudo ")), 2)
        self.assertEqual(len(self.calls("apt-get -q")), 4)  # each once by sudo, once by itself

    def test_says_what_to_run_when_it_is_not_root_and_there_is_no_sudo(self):
        (self.root / "bin" / "sudo").unlink()
        result = self.run_script("build", missing="cmake libhdf5-dev", user_id="1000")
        self.assertEqual(result.returncode, 1)
        self.assertIn("run this as root: apt-get install", result.stderr)
        self.assertTrue(result.stderr.endswith("cmake libhdf5-dev\n"))
        self.assertEqual(self.calls(""), [])

    def test_goes_on_where_there_is_no_dpkg(self):
        (self.root / "bin" / "dpkg-query").unlink()
        result = self.run_script("build")
        self.assertEqual(result.returncode, 0)
        self.assertIn("This is not Debian", result.stdout)
        self.assertEqual(self.calls("apt-get"), [])

    def test_stops_when_packages_cannot_be_installed(self):
        result = self.run_script("build", missing="cmake", APT_STATUS="100")
        self.assertEqual(result.returncode, 1)
        self.assertIn('"update the package lists" failed', result.stderr)
        self.assertEqual(self.calls("cmake --"), [])

    def test_asks_for_the_packages_of_the_command_alone(self):
        missing = "libgtest-dev clang libbenchmark-dev"
        for command, packages in (("test", "libgtest-dev"), ("bench", "libbenchmark-dev"),
                                  ("check", "libgtest-dev libbenchmark-dev clang")):
            with self.subTest(command=command):
                (self.root / "calls").unlink(missing_ok=True)
                (self.root / "ctest_output").write_text("100% tests passed\n")
                self.run_script(command, missing=missing)
                self.assertTrue(self.calls("install")[0].endswith(f"install {packages}"))

    def start_on_a_terminal(self, command):
        """The process, the first of a group of its own, and where to read what it shows."""
        terminal, other_end = pty.openpty()
        self.addCleanup(os.close, terminal)
        environment = {"PATH": str(self.root / "bin"), "MISSING": "", "USER_ID": "0"}
        process = subprocess.Popen([str(self.root / "bootstrap.sh"), command], env=environment,
                                   stdout=other_end, stderr=other_end, start_new_session=True)
        os.close(other_end)
        return process, terminal

    def test_shows_on_a_terminal_alone_how_far_a_build_has_come(self):
        self.stand_in("cmake", 'echo "[7/123] Building"; echo "warning: 1/2"; sleep 1.5')
        process, terminal = self.start_on_a_terminal("build")
        self.assertEqual(process.wait(timeout=60), 0)
        shown = os.read(terminal, 65536).decode()
        self.assertRegex(shown, r"\r  build release +7/123\r")
        self.assertRegex(shown, r"\r\x1b\[K  build release +[12] s\r\n")
        self.assertNotIn("\r", self.run_script("build").stdout)

    def test_leaves_the_terminal_alone_when_it_is_killed(self):
        self.stand_in("cmake", 'echo "[7/123] Building"; sleep 20')
        process, terminal = self.start_on_a_terminal("build")
        self.addCleanup(os.killpg, process.pid, signal.SIGKILL)  # the stand-in
        time.sleep(2.5)  # it has shown how far it is
        process.terminate()
        process.wait(timeout=10)
        time.sleep(1.5)  # until it would have looked again
        with self.assertRaises(OSError):  # nobody holds the other end any more
            while select.select([terminal], [], [], 0)[0]:
                os.read(terminal, 65536)

    def test_closes_with_the_verdict_of_ctest_and_what_was_skipped(self):
        verdict = "100% tests passed, 0 tests failed out of 3"
        (self.root / "ctest_output").write_text(f"1/3 Test #1: good\n{verdict}\n")
        result = self.run_script("test")
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.assertEqual(
            result.stdout.splitlines()[-2:],
            ["  skipped: needs torch", verdict],
        )

    def test_shows_the_output_of_failed_tests_alone(self):
        (self.root / "ctest_output").write_text(
            "    Start 1: good\n1/2 Test #1: good ....   Passed    0.01 sec\n"
            "    Start 2: bad\n2/2 Test #2: bad ....***Failed    0.01 sec\nexpected 3, found 4\n"
            "\n50% tests passed, 1 tests failed out of 2\n"
            "\nThe following tests FAILED:\n\t2 - bad\n"
        )
        result = self.run_script("test", CTEST_STATUS="8")
        self.assertEqual(result.returncode, 1)
        self.assertIn("expected 3, found 4", result.stdout)
        self.assertIn("50% tests passed", result.stdout)
        self.assertNotIn("good", result.stdout)

    def test_fails_when_no_test_was_found(self):
        (self.root / "ctest_output").write_text("No tests were found!!!\n")
        result = self.run_script("test", CTEST_STATUS="8")
        self.assertEqual(result.returncode, 1)
        self.assertIn("No tests were found", result.stdout)

    def test_refuses_an_unknown_command(self):
        result = self.run_script("biuld")
        self.assertEqual(result.returncode, os.EX_USAGE)
        self.assertIn("unknown command 'biuld'", result.stderr)
        self.assertIn("usage:", result.stderr)


if __name__ == "__main__":
    unittest.main()
