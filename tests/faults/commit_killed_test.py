"""A commit killed at each of its system calls: the old or the new checkpoint is there, whole."""

from traced_commit import COMMITS, OLD, FaultTest, commit, main, newest_good, recorded_calls

SEVERAL_BLOCKS = 2_500_000  # values: 10 MB, written in three


class Killed(FaultTest):
    def kill_everywhere(self, which, values):
        outcomes = self.inject_everywhere(which, lambda _: ["signal=KILL"], values)
        for call, _, _, done in outcomes:
            self.assertEqual(done.returncode, -9, f"{call} was not killed")
        new = "{} {}".format(*COMMITS[which])
        self.check_all(outcomes, lambda *_: (OLD, new))
        return outcomes

    def test_beside_an_older_one(self):
        outcomes = self.kill_everywhere("next", SEVERAL_BLOCKS)
        self.assertEqual(sum(call.name == "write" for call, *_ in outcomes), 3 + 1 + 1)
        self.assertEqual(sum(call.name == "unlinkat" for call, *_ in outcomes), 2)

    def test_in_place_of_a_good_one(self):
        self.kill_everywhere("replace", 1000)

    def test_as_the_first_of_a_run(self):
        (self.old_run / "checkpoints").rename(self.scratch / "away")
        outcomes = self.inject_everywhere("next", lambda _: ["signal=KILL"])
        self.check_all(outcomes, lambda *_: ("none", "2 8"))

    def test_what_was_committed_stays_committed(self):
        run = self.copy_of_old("twice")
        recorded_calls(run, 2, 8)
        self.assertEqual(newest_good([run]), ["2 8"])
        self.assertEqual(commit([run], 2, 8).returncode, 0)
        self.assertEqual(newest_good([run]), ["2 8"])


if __name__ == "__main__":
    main()
