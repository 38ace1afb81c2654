"""rubato launch with a stand-in for mpirun and the training: restarts, rescaling, pauses."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import time
import unittest

from rubato_command import TIME_FACTOR, LaunchedTest, json_lines

STAND_IN = pathlib.Path(__file__).resolve().parent / "mpirun_stand_in.py"
FOREVER = {}
SOON = 10 * TIME_FACTOR  # seconds: the jobs of these tests would run for ever


class SupervisorTest(LaunchedTest):
    def launch(self, plan, *options, under=()):
        self.write("plan.json", json.dumps(plan))
        return self.start(*options, "--mpirun", f"{sys.executable} {STAND_IN} {self.directory}",
                          "--", "--data", "digits", "--batch-size", 8, "--out", self.run_directory,
                          stderr=subprocess.PIPE, under=under)

    def jobs(self):
        return json_lines(self.directory / "jobs.jsonl")

    def wait_for_updates(self, count):
        self.wait(lambda: len(json_lines(self.run_directory / "metrics.jsonl")) >= count)


class Restarts(SupervisorTest):
    def test_a_finished_run_is_left_at_once(self):
        process = self.launch([{"updates": 3, "exit": 0}], "--ranks", "2")
        self.ends_with(process, 0)
        self.assertEqual(self.names(), ["start", "finish"])
        self.assertEqual([event["update"] for event in self.events()], [0, 3])
        job, = self.jobs()
        self.assertEqual(job["ranks"], 2)
        self.assertEqual(job["words"][-10:], ["train", "--data", "digits", "--batch-size", "8",
                                              "--out", str(self.run_directory),
                                              "--preempt-exit-code", "75", "--resume"])
        self.assertRegex(process.stderr.read(), r"\Arubato launch: start: 2 ranks, update 0\n"
                                                r"rubato launch: finish: 2 ranks, update 3\n\Z")

    def test_failures_with_progress_are_restarted_at_once_and_never_counted(self):
        plan = [{"updates": 2, "exit": code} for code in (137, 139, 1, 71, 74, 205, 70)]
        process = self.launch(plan, "--ranks", "1", "--max-restarts", "1", "--backoff", "60")
        self.ends_with(process, 0)
        self.assertEqual(self.names(), ["start", *["failure", "restart"] * 7, "finish"])
        failures = [event for event in self.events() if event["event"] == "failure"]
        self.assertEqual([event["update"] for event in failures], [2, 4, 6, 8, 10, 12, 14])
        self.assertEqual({event["delay_seconds"] for event in failures}, {0})
        self.assertEqual(failures[0]["reason"], "killed by signal 9")

    def test_failures_without_progress_back_off_and_are_given_up(self):
        plan = [{"updates": 0, "exit": 137}] * 9
        process = self.launch(plan, "--ranks", "1", "--max-restarts", "3", "--backoff", "0.2")
        self.ends_with(process, 137)
        times = [job["time"] for job in self.jobs()]
        pauses = [after - before for before, after in zip(times, times[1:])]
        self.assertEqual(len(pauses), 3)
        self.assertGreater(pauses[1], 0.2)
        self.assertGreater(pauses[2], 0.4)
        self.assertEqual(self.names()[-2:], ["failure", "stop"])
        self.assertEqual(self.events()[-1]["reason"],
                         "given up: killed by signal 9, after 3 restarts without progress")

    def test_what_would_end_the_same_way_is_not_tried_again(self):
        for code in (64, 65, 66, 73):
            with self.subTest(code):
                self.ends_with(self.launch([{"updates": 1, "exit": code}], "--ranks", "1"), code)
                self.assertEqual(len(self.jobs()), 1)
                (self.directory / "jobs.jsonl").unlink()

    def test_an_internal_error_at_the_same_update_twice_is_final(self):
        plan = [{"updates": 1, "exit": 70}, {"updates": 0, "exit": 70}]
        self.ends_with(self.launch(plan, "--ranks", "1"), 70)
        self.assertEqual(len(self.jobs()), 2)

    def test_a_dead_rank_ends_the_job_soon(self):
        process = self.launch([FOREVER, {"exit": 0}], "--ranks", "2")
        self.wait_for_updates(5)
        first, = self.jobs()
        begin = time.monotonic()
        os.kill(first["rank_pids"][1], signal.SIGKILL)
        self.ends_with(process, 0)
        self.assertLess(self.jobs()[1]["time"] - begin, SOON)
        for pid in [first["pid"], *first["rank_pids"]]:
            self.assertFalse(os.path.exists(f"/proc/{pid}/exe"), pid)


class Capacity(SupervisorTest):
    def test_the_number_of_ranks_follows_the_file(self):
        devices = self.write("devices", "1\n")
        process = self.launch([FOREVER] * 3, "--ranks", "1:3", "--capacity-file", devices,
                              "--settle", "0.1")
        for done, number in enumerate((2, 9), start=1):
            self.wait(lambda: len(self.jobs()) == done)
            devices.write_text(f"{number}")
        self.wait(lambda: len(self.jobs()) == 3)
        process.terminate()
        self.ends_with(process, 75)
        self.assertEqual([job["ranks"] for job in self.jobs()], [1, 2, 3])
        self.assertEqual(self.names(),
                         ["start", "rescale", "continue", "rescale", "continue", "stop"])
        self.assertEqual([event["capacity"] for event in self.events()], [1, 2, 2, 9, 9, 9])

    def test_too_few_devices_pause_the_run(self):
        devices = self.write("devices", "2")
        process = self.launch([FOREVER], "--ranks", "2:4", "--capacity-file", devices)
        self.wait_for_updates(5)
        devices.write_text("1")
        self.wait(lambda: "pause" in self.names())
        self.assertFalse(os.path.exists(f"/proc/{self.jobs()[0]['pid']}/exe"))
        devices.write_text("4")
        self.ends_with(process, 0)
        self.assertEqual(self.names(), ["start", "pause", "continue", "finish"])
        self.assertEqual([job["ranks"] for job in self.jobs()], [2, 4])

    def test_a_flicker_does_not_disturb(self):
        devices = self.write("devices", "2")
        process = self.launch([{"updates": 250}], "--ranks", "1:2", "--capacity-file", devices,
                              "--settle", "10")
        for _ in range(5):
            self.wait_for_updates(5)
            devices.write_text("1")
            time.sleep(0.2)
            devices.write_text("2")
            time.sleep(0.2)
        self.ends_with(process, 0)
        self.assertEqual(self.names(), ["start", "finish"])

    def test_a_file_that_turns_wrong_leaves_the_last_number(self):
        devices = self.write("devices", "2")
        process = self.launch([{"updates": 100}], "--ranks", "1:2", "--capacity-file", devices)
        self.wait_for_updates(5)
        devices.write_text("many")
        self.ends_with(process, 0)
        self.assertEqual(self.names(), ["start", "finish"])
        self.assertEqual(process.stderr.read().count('found "many"'), 1)

    def test_a_history_is_replayed_in_proportion(self):
        # 40 and 20 of 56 devices make floor(40*8/56) = 5 and 2 of 8 ranks; 0 pauses.
        history = self.write("h.csv", ",Time,GPUs\n0,100,40\n1,160,56\n2,220,0\n3,280,20\n")
        process = self.launch([FOREVER] * 3, "--ranks", "1:8", "--capacity-trace", history,
                              "--time-scale", "30", "--settle", "0")
        self.wait(lambda: len(self.jobs()) == 3)
        process.terminate()
        self.ends_with(process, 75)
        self.assertEqual([job["ranks"] for job in self.jobs()], [5, 8, 2])
        self.assertEqual(self.names(),
                         ["start", "rescale", "continue", "pause", "continue", "stop"])


class Stopping(SupervisorTest):
    def test_under_nohup_a_closed_terminal_stops_nothing(self):
        plan = [{"updates": 60, "exit": 0}]
        process = self.launch(plan, "--ranks", "1", under=["nohup"])
        self.wait_for_updates(5)
        process.send_signal(signal.SIGHUP)
        self.ends_with(process, 0)
        self.assertEqual(self.names(), ["start", "finish"])

    def test_every_stop_signal_stops_the_job_and_leaves_75(self):
        for name in ("SIGTERM", "SIGINT", "SIGUSR1", "SIGUSR2", "SIGHUP"):
            with self.subTest(name):
                process = self.launch([FOREVER], "--ranks", "1")
                self.wait(lambda: len(self.jobs()) == 1)
                process.send_signal(getattr(signal, name))
                self.ends_with(process, 75)
                last = self.events()[-1]
                self.assertEqual((last["event"], last["reason"]), ("stop", name))
                (self.directory / "jobs.jsonl").unlink()

    def test_a_job_that_does_not_stop_is_killed(self):
        devices = self.write("devices", "1\n")
        process = self.launch([{"deaf": True}] * 2, "--ranks", "1:2", "--capacity-file", devices,
                              "--settle", "0.1", "--stop-grace", "0.5", "--max-restarts", "0")
        self.wait_for_updates(5)
        devices.write_text("2")
        self.wait(lambda: len(self.jobs()) == 2)
        process.terminate()
        self.ends_with(process, 75)
        self.assertEqual(self.names(), ["start", "rescale", "kill", "continue", "kill", "stop"])
        self.assertEqual(self.events()[2]["reason"], "it has not stopped within 0.5 s")

    def test_a_job_may_take_for_ever_to_stop(self):
        process = self.launch([{"deaf": True, "updates": 60, "exit": 0}], "--ranks", "1",
                              "--stop-grace", "1e300", "--settle", "1e300")
        self.wait_for_updates(5)
        process.terminate()
        self.ends_with(process, 0)

    def test_a_second_signal_kills_at_once(self):
        process = self.launch([{"deaf": True}], "--ranks", "2")
        self.wait_for_updates(5)
        process.terminate()
        time.sleep(0.3)
        begin = time.monotonic()
        process.send_signal(signal.SIGINT)
        self.ends_with(process, 75)
        self.assertLess(time.monotonic() - begin, SOON)
        job, = self.jobs()
        for pid in [job["pid"], *job["rank_pids"]]:
            self.assertFalse(os.path.exists(f"/proc/{pid}/exe"), pid)

    def test_a_run_that_is_finished_meanwhile_leaves_0(self):
        process = self.launch([{"deaf": True, "updates": 60, "exit": 0}], "--ranks", "1")
        self.wait_for_updates(5)
        process.terminate()
        self.ends_with(process, 0)

    def test_a_pause_and_a_back_off_can_be_stopped(self):
        devices = self.write("devices", "0")
        process = self.launch([], "--capacity-file", devices)
        self.wait(lambda: "pause" in self.names())
        process.terminate()
        self.ends_with(process, 75)
        self.assertEqual(self.jobs(), [])
        process = self.launch([{"exit": 1, "updates": 0}] * 2, "--ranks", "1", "--backoff", "60")
        self.wait(lambda: self.names().count("failure") == 2)
        process.terminate()
        self.ends_with(process, 75)

    def test_a_stop_of_the_training_itself_is_told_by_its_reason(self):
        state = {"state": "preempted", "update": 2, "epoch": 0, "samples": 16, "ranks": 1,
                 "hosts": ["here"], "pid": 1, "started": "", "written": "", "resume_command": ""}
        for said, told in (("stopped by --max-seconds", "the job was stopped by --max-seconds"),
                           (None, "the job was asked to stop by somebody else")):
            with self.subTest(said):
                self.write("jobs.jsonl", "")
                state["reason"] = said
                process = self.launch([{"updates": 2, "exit": 75, "state": state}], "--ranks", "1")
                self.ends_with(process, 75)
                self.assertEqual(self.events()[-1]["reason"], told)
                self.assertRegex(process.stderr.read(), rf"stop: .*, {told}\nrubato launch: the"
                                                        r" same command goes on from there\n\Z")

    def test_the_trainings_own_code_for_a_stop_is_one_here_too(self):
        self.write("run/config.ini", "preempt-exit-code = 65\n")
        self.ends_with(self.launch([{"updates": 2, "exit": 65}], "--ranks", "1"), 65)
        self.assertEqual(self.names(), ["start", "stop"])
        self.ends_with(self.launch([], "--ranks", "1"), 0)

    def test_a_killed_supervisor_takes_its_job_along(self):
        process = self.launch([FOREVER], "--ranks", "1")
        self.wait_for_updates(5)
        process.kill()
        job, = self.jobs()
        self.wait(lambda: not os.path.exists(f"/proc/{job['pid']}/exe"))

    def test_events_survive_the_supervisor(self):
        self.ends_with(self.launch([{"updates": 2, "exit": 75}], "--ranks", "1"), 75)
        self.ends_with(self.launch([], "--ranks", "1"), 0)
        self.assertEqual(self.names(), ["start", "stop", "start", "finish"])


if __name__ == "__main__":
    unittest.main()
