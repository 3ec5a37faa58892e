# SPDX-License-Identifier: MIT
"""The replay of scripts/bench/tasks.py, on graphs whose times are known."""

import unittest

import tap
import tasks


def log(threads, kernel=0):
    """A log of tasks: {task: [(cpu_ns, event, value)]}; the last event of each is its end."""
    events, total = [], 0
    for task, steps in threads.items():
        for cpu_ns, event, value in steps:
            e = {"event": event, "task": task, "cpu_ns": cpu_ns, "time_ns": 0}
            if event in ("start", "thread"):
                e.update(event="start", started=value, kind=f"k{value}",
                         own_thread=event == "thread")
            elif event == "join":
                e.update(joined=value)
            elif event in ("give", "need"):
                e.update(channel=1, number=value)
            elif event == "request":
                e.update(bytes=value)
            events.append(e)
        total += steps[-1][0]
    close = [e for e in events if e["event"] == "close"]
    close[0]["process_cpu_ns"] = total + kernel
    # Starts come before the events of the tasks that they start.
    return tasks.Log(sorted(events, key=lambda e: e["event"] != "start"))


def seconds(graph, processors, device=None):
    return round(tasks.elapsed_s(graph, processors, device) * 1e9)


FORK = {0: [(10, "start", 1), (10, "start", 2), (10, "start", 3), (30, "join", 1), (30, "join", 2),
            (30, "join", 3), (35, "close", None)],
        1: [(40, "end", None)], 2: [(40, "end", None)], 3: [(40, "end", None)]}
# Task 1 works on item 1 when task 0 has taken item 0.
PIPE = {0: [(0, "thread", 1), (0, "need", 0), (20, "give", 10), (20, "need", 1), (40, "give", 11),
            (40, "join", 1), (40, "close", None)],
        1: [(10, "give", 0), (10, "need", 10), (20, "give", 1), (20, "end", None)]}


class Replay(unittest.TestCase):
    def test_one_processor_does_the_work_of_all_tasks(self):
        self.assertEqual(seconds(log(FORK), 1), 155)
        self.assertEqual(seconds(log(PIPE), 1), 60)

    def test_independent_tasks_share_processors(self):
        # 0: 0-30, then 2; another one: 1 from 10 to 50, then 3 from 50 to 90.
        self.assertEqual(seconds(log(FORK), 2), 95)
        self.assertEqual(seconds(log(FORK), 4), 55)
        self.assertEqual(seconds(log(FORK), 64), 55)

    def test_an_owner_runs_the_task_that_it_joins(self):
        graph = {0: [(0, "start", 1), (0, "start", 2), (0, "start", 3), (0, "join", 3),
                     (50, "join", 1), (50, "join", 2), (50, "close", None)],
                 1: [(40, "end", None)], 2: [(40, "end", None)], 3: [(40, "end", None)]}
        # 0 runs 3 until 40 while the other one runs 1; then 2 is next to 0's own 50.
        self.assertEqual(seconds(log(graph), 2), 90)

    def test_items_are_waited_for(self):
        self.assertEqual(seconds(log(PIPE), 2), 60)
        free = dict(PIPE)
        free[1] = [(10, "give", 0), (20, "give", 1), (20, "end", None)]
        self.assertEqual(seconds(log(free), 2), 50)

    def test_the_chain_has_the_times_of_kinds(self):
        kinds = {k: round(s * 1e9) for k, s in tasks.chain(log(FORK)).items()}
        self.assertEqual(kinds, {"main thread": 15, "k1": 40})

    def test_a_device_limits(self):
        size = tasks.AHEAD
        graph = {0: [(5, "request", size), (10, "request", size), (15, "request", size),
                     (20, "close", None)]}
        self.assertEqual(seconds(log(graph), 1), 20)
        # One of them takes 1000 ns; the task is at most one ahead.
        self.assertEqual(seconds(log(graph), 1, size / 1000 * 1e9), 3005)
        # 1 ns each: the task is behind the device.
        self.assertEqual(seconds(log(graph), 1, size / 1 * 1e9), 20)

    def test_work_of_the_kernel_is_beside_the_tasks(self):
        graph = {0: [(10, "request", 3), (20, "request", 1), (40, "close", None)]}
        self.assertEqual(seconds(log(graph, 80), 1), 120)
        # 60 from 10 on; next to them 20 of the task, then the other 20.
        self.assertEqual(seconds(log(graph, 80), 2), 70)

    def test_an_incomplete_log_is_an_error(self):
        graph = {0: [(0, "need", 7), (0, "close", None)]}
        with self.assertRaisesRegex(ValueError, "incomplete"):
            seconds(log(graph), 1)


if __name__ == "__main__":
    unittest.main(testRunner=tap.Runner)
