"""Whether two CPUs of this machine are two cores while something is measured.

The host of a virtual machine may have two of its CPUs share a core, or move them apart, from one
second to the next, and what two ranks are worth then says nothing of the program. So a round begins
when two_cores finds two cores, and is measured again if it no longer does at the end, as long as
patience lasts. Where the cores must be alike, too, as two ranks that wait for each other are as
fast as the slower one, rounds are too long: what counts then are windows of half a second for each
side, before and after which none of the cores had a neighbour, or both.
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

    def has_two_cores(self, alike=False):
        answer = self.ask()
        if answer is None:  # nothing to wait for
            return True
        self.answers.append(answer)
        return (answer["at_once"] >= LEAST_AT_ONCE
                and (not alike or answer["slower_over_faster"] >= LEAST_OF_FASTER))

    def waits_for_two_cores(self):
        """Whether they came before patience ended."""
        while not self.has_two_cores():
            if self.seconds_in_vain >= self.patience:
                return False
            self.sleep(PAUSE_SECONDS)
            self.seconds_in_vain += PAUSE_SECONDS
        return True

    def undisturbed(self, measure_once):
        """What it gives, with two cores before and after it, or in the end whatever it gives."""
        while True:
            had_two_cores = self.waits_for_two_cores()
            value, seconds = self.timed(measure_once)
            if self.counts(had_two_cores and self.has_two_cores(), seconds):
                return value

    def undisturbed_windows(self, measure_once, number):
        """What it gives so many times with two cores that are alike before and after it, or in the
        end whatever it gives; the times in between do not count, but are not waited for either.
        """
        values, had_cores_alike = [], self.has_two_cores(alike=True)
        while len(values) < number:
            value, seconds = self.timed(measure_once)
            has_cores_alike = self.has_two_cores(alike=True)
            if self.counts(had_cores_alike and has_cores_alike, seconds):
                values.append(value)
            had_cores_alike = has_cores_alike
        return values

    def timed(self, measure_once):
        begin = self.clock()
        value = measure_once()
        return value, self.clock() - begin

    def counts(self, is_undisturbed, seconds):
        """Whether a round or window of so many seconds does, as it was undisturbed or patience has
        ended.
        """
        if not is_undisturbed and self.seconds_in_vain + seconds < self.patience:
            self.seconds_in_vain += seconds
            return False
        self.rounds += 1
        self.disturbed_rounds += not is_undisturbed
        return True

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


def undisturbed(measure_once):
    return _watched.undisturbed(measure_once)


def undisturbed_windows(measure_once, number):
    return _watched.undisturbed_windows(measure_once, number)
