"""A power failure during a commit: the order of its flushes, and what a disk may lose between them.
"""

import random
import shutil

from crash_model import crash_states
from traced_commit import COMMITS, FaultTest, commit, main, newest_good, recorded_calls

SAVES = 20
STATES_PER_SAVE = 200


class PowerLoss(FaultTest):
    def index(self, calls, name, ending, nth=0):
        """Where a call stands that is about a file of that ending."""
        found = [i for i, call in enumerate(calls)
                 if call.name == name and call.paths[-1].endswith(ending)]
        self.assertGreater(len(found), nth, f"no {name} of {ending}")
        return found[nth]

    def flush_of_temporary(self, calls, file):
        found = [i for i, call in enumerate(calls)
                 if call.name == "fsync" and f"/.tmp-{file}-" in call.paths[0]]
        self.assertEqual(len(found), 1, f"flushes of {file}")
        return found[0]

    def test_files_are_flushed_before_they_are_renamed_and_names_before_anything_is_removed(self):
        calls = recorded_calls(self.copy_of_old("next"), 2, 8)
        order = [self.flush_of_temporary(calls, "ckpt-2.h5"),
                 self.flush_of_temporary(calls, "ckpt-2.h5.sha256"),
                 self.index(calls, "renameat", "/ckpt-2.h5.sha256"),
                 self.index(calls, "renameat", "/ckpt-2.h5"),
                 self.index(calls, "fsync", "/checkpoints"),
                 self.flush_of_temporary(calls, "latest"),
                 self.index(calls, "renameat", "/latest"),
                 self.index(calls, "fsync", "/checkpoints", nth=1),
                 self.index(calls, "unlinkat", "/ckpt-1.h5"),
                 self.index(calls, "unlinkat", "/ckpt-1.h5.sha256")]
        self.assertEqual(order, sorted(order))
        self.assertEqual(sum(call.name == "unlinkat" for call in calls), 2)

    def test_in_place_of_a_good_one_the_checksum_is_durable_before_the_file_is_renamed(self):
        calls = recorded_calls(self.copy_of_old("replace"), 1, 8)
        order = [self.index(calls, "renameat", "/ckpt-1.h5.sha256"),
                 self.index(calls, "fsync", "/checkpoints"),
                 self.index(calls, "renameat", "/ckpt-1.h5"),
                 self.index(calls, "fsync", "/checkpoints", nth=1)]
        self.assertEqual(order, sorted(order))

    def laid_out(self, states):
        """A run directory for each state."""
        runs = []
        for number, (_, files) in enumerate(states):
            directory = self.scratch / f"state-{number}" / "checkpoints"
            directory.mkdir(parents=True)
            for name, content in files.items():
                (directory / name).write_bytes(content)
            runs.append(directory.parent)
        return runs

    def newest_after(self, states):
        """What is found in each state."""
        runs = self.laid_out(states)
        found = newest_good(runs)
        for run in runs:
            shutil.rmtree(run)
        return found

    def losses(self, before, calls, expected, durable_from, generator):
        """How many crash states have no valid fallback."""
        states = crash_states(before, calls, generator, STATES_PER_SAVE)
        new = expected[-1]
        return sum(found not in expected or (made >= durable_from and found != new)
                   for (made, _), found in zip(states, self.newest_after(states)))

    def test_no_crash_state_of_many_saves_is_without_a_valid_fallback(self):
        generator = random.Random(1)
        run = self.copy_of_old("run")
        expected = "1 7"
        for save in range(1, SAVES + 1):
            is_replacing = save % 4 == 0
            update, seed = (save if is_replacing else save + 1), 100 + save
            if is_replacing:
                update = int(expected.split()[0])
            before = self.scratch / "before"
            shutil.copytree(run, before)
            calls = recorded_calls(run, update, seed)
            durable_from = 1 + self.index(calls, "fsync", "/checkpoints", nth=int(is_replacing))
            new = f"{update} {seed}"
            lost = self.losses(before, calls, (expected, new), durable_from, generator)
            self.assertEqual(lost, 0, f"save {save}")
            expected = new
            shutil.rmtree(before)

    def test_the_model_would_notice_a_missing_flush(self):
        for which, (update, seed) in COMMITS.items():
            before = self.copy_of_old(f"{which}-before")
            calls = recorded_calls(self.copy_of_old(which), update, seed)
            durable_from = 1 + self.index(calls, "fsync", "/checkpoints", nth=-1)
            for is_missing in (lambda call: call.paths[0].endswith("/checkpoints"),
                               lambda call: "/.tmp-ckpt" in call.paths[0]):
                careless = [call for call in calls
                            if not (call.name == "fsync" and is_missing(call))]
                lost = self.losses(before, careless, ("1 7", f"{update} {seed}"),
                                   len(careless), random.Random(1))
                self.assertGreater(lost, 0, which)

    def test_a_crashed_directory_takes_the_next_commit(self):
        run = self.copy_of_old("next")
        calls = recorded_calls(run, 2, 8)
        states = crash_states(self.old_run, calls, random.Random(2), count=40)
        self.check_next_commit(self.laid_out(states))


if __name__ == "__main__":
    main()
