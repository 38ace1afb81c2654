"""rubato doctor, without mpirun and with it."""

import os
import unittest

from rubato_command import CommandTest, rubato


class Doctor(CommandTest):
    def test_alone_it_finds_one_rank_and_says_what_runs(self):
        report = self.succeed("doctor", "--format", "json").json()
        self.assertEqual(report["ranks"], 1)
        self.assertRegex(report["mpi"], r"\d+\.\d+")
        self.assertRegex(report["hdf5"], r"^\d+\.\d+\.\d+$")
        self.assertIn(report["thread_level"], ["funneled", "serialized", "multiple"])
        self.assertRegex(report["kernels"], r"^(Eigen|oneDNN) \d+\.\d+\.\d+, \w+$")
        self.assertEqual(set(report["hosts"][0]["ranks"][0]["cores"]), os.sched_getaffinity(0))

    def test_ranks_are_counted_and_named(self):
        result = rubato("doctor", "--format", "json", ranks=3)
        report = result.json()
        self.assertEqual(report["ranks"], 3)
        ranks = [rank["rank"] for host in report["hosts"] for rank in host["ranks"]]
        self.assertEqual(sorted(ranks), [0, 1, 2])
        self.assertEqual(report["hosts"][0]["oversubscribed"], 3 > report["hosts"][0]["cores"])
        bad = [check["name"] for check in report["checks"] if not check["ok"]]
        self.assertIn(bad, ([], ["barrier within a host"]))  # which a busy machine slows down
        self.assertEqual(result.code, 71 if bad else 0, result.output)

    def test_more_ranks_than_cores_are_noted_with_the_cure(self):
        ranks = (os.cpu_count() or 1) + 1
        if ranks > 9:
            self.skipTest("this machine has too many cores to exceed them")
        report = rubato("doctor", ranks=ranks).output
        self.assertIn(f"{ranks} ranks on", report)
        self.assertIn("to do: start at most as many ranks as there are cores", report)

    def test_a_wrong_option_is_one_sentence_of_all_ranks(self):
        result = rubato("doctor", "--formt", "json", ranks=2)
        self.assertEqual(result.code, 64)
        self.assertEqual(result.message,
                         "rubato: unknown option --formt; did you mean --format?\n")

    def test_help_starts_no_mpi(self):
        self.assertIn("mpirun -q -n 4 rubato doctor", self.succeed("doctor", "--help").output)


if __name__ == "__main__":
    unittest.main()
