"""The example of an adaptive job: stopped by a signal on two ranks, gone on with on three, repeated
from its decisions on one: the same digest."""

import os
import shutil
import signal
import subprocess
import tempfile
import time
import unittest


class AdaptiveMnist(unittest.TestCase):
    EPOCHS = 100

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def start(self, ranks, directory, *words):
        command = [os.environ["RUBATO_MPIEXEC"], "-q", "-n", str(ranks)]
        command += [os.environ["RUBATO_EXAMPLE"], "--data", "digits", "--model", "mlp:256,256"]
        command += ["--epochs", str(self.EPOCHS)]
        command += ["--directory", os.path.join(self.folder.name, directory), *words]
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def digest(self, ranks, directory, *words):
        program = self.start(ranks, directory, *words)
        out, error = program.communicate()
        self.assertEqual(program.returncode, 0, error)
        lines = out.splitlines()
        self.assertTrue(lines[-1].startswith("digest "), out)
        return lines[-1], [line.split()[1] for line in lines[:-1]]

    def stop(self, ranks, directory, *words):
        """Asks it to stop as soon as it trains: its lines may come when all is done."""
        first = os.path.join(self.folder.name, directory, "checkpoints", "ckpt-0.h5")
        for _ in range(5):  # on a busy machine the signal may come when all is done as well
            program = self.start(ranks, directory, *words)
            while not os.path.exists(first) and program.poll() is None:
                time.sleep(0.001)
            program.send_signal(signal.SIGUSR1)
            _, error = program.communicate()
            if program.returncode != 0:
                break
            shutil.rmtree(os.path.join(self.folder.name, directory))
        self.assertEqual(program.returncode, 75, error)
        self.assertIn("run the program again to go on", error)

    def expect_same(self, *words):
        self.stop(2, "stopped", *words)
        digest, epochs = self.digest(3, "stopped", *words)
        self.assertEqual(epochs[-1], str(self.EPOCHS))
        again, none = self.digest(1, "stopped", *words)
        self.assertEqual((again, none), (digest, []))  # there is nothing left to do
        return digest

    def test_fixed_batch(self):
        digest = self.expect_same("--fixed")
        straight, epochs = self.digest(1, "straight", "--fixed")
        self.assertEqual(straight, digest)
        self.assertEqual(len(epochs), self.EPOCHS)

    def test_adaptive_batch(self):
        for words in ([], ["--statistical"]):
            with self.subTest(words=words), tempfile.TemporaryDirectory() as folder:
                self.folder.name, kept = folder, self.folder.name
                digest = self.expect_same(*words)
                decisions = os.path.join(folder, "stopped", "decisions.csv")
                repeated, _ = self.digest(1, "repeated", "--decisions", decisions, *words)
                self.folder.name = kept
                self.assertEqual(repeated, digest)

    def test_bounds_that_cannot_be_met(self):
        program = self.start(33, "refused")
        _, error = program.communicate()
        self.assertEqual(program.returncode, 64, error)
        self.assertIn("autoscale_batch_size(): minibatches of at least 32 on 33 ranks", error)
        self.assertIn("32 ranks would do", error)


if __name__ == "__main__":
    unittest.main()
