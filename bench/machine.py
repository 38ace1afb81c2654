"""Whether two CPUs of this machine are two cores while something is measured.

The host of a virtual machine may have two of its CPUs share a core, or move them apart, from one
second to the next, and what two ranks are worth then says nothing of the program. So a round begins
when two_cores finds two cores, and is measured again if it no longer does at the end, as long as
patience lasts. Where the cores must be alike, too, as two ranks that wait for each other are as
fast as the slower one, it also waits until none of them has a neighbour, or both.
"""

import contextlib
import time

LEAST_AT_ONCE = 1.8  # what two compute at once, over one alone: two threads of a core give 1.1
LEAST_OF_FASTER = 0.95  # the speed of the slower: with a neighbour on one core it is 0.8
PAUSE_SECONDS = 1


class Machine:
    """Asks ask() for two_cores' answer, None where there are no two CPUs. `patience`: the seconds
    that may be spent in waiting and in rounds that do not count.
    """

    def __init__(self, ask, patience, clock=time.monotonic, sleep=time.sleep):
        self.ask, self.patience, self.clock, self.sleep = ask, patience, clock, sleep
        self.answers, self.seconds_in_vain, self.rounds, self.disturbed_rounds = [], 0, 0, 0

    def has_two_cores(self, alike):
        answer = self.ask()
        if answer is None:  # nothing to wait for
            return True
        self.answers.append(answer)
        return (answer["at_once"] >= LEAST_AT_ONCE
                and (not alike or answer["slower_over_faster"] >= LEAST_OF_FASTER))

    def waits_for_two_cores(self, alike):
        """Whether they came before patience ended."""
        while not self.has_two_cores(alike):
            if self.seconds_in_vain >= self.patience:
                return False
            self.sleep(PAUSE_SECONDS)
            self.seconds_in_vain += PAUSE_SECONDS
        return True

    def undisturbed(self, measure_once, alike=False):
        """What it gives, with two cores before and after it, or in the end whatever it gives."""
        self.rounds += 1
        while True:
            had_two_cores = self.waits_for_two_cores(alike)
            begin = self.clock()
            value = measure_once()
            seconds = self.clock() - begin
            if self.has_two_cores(alike) and had_two_cores:
                return value
            if self.seconds_in_vain + seconds >= self.patience:
                self.disturbed_rounds += 1
                return value
            self.seconds_in_vain += seconds

    @property
    def note(self):
        disturbed = f", {self.disturbed_rounds} of {self.rounds} rounds without two such cores"
        return (f"{self.seconds_in_vain:.0f} s in vain"
                + (disturbed if self.disturbed_rounds > 0 else ""))


_watched = Machine(lambda: None, 0)  # which finds nothing to wait for


@contextlib.contextmanager
def watched(machine):
    """While it lasts, undisturbed() is this machine's."""
    global _watched
    before, _watched = _watched, machine
    try:
        yield
    finally:
        _watched = before


def undisturbed(measure_once, alike=False):
    return _watched.undisturbed(measure_once, alike)
