# SPDX-License-Identifier: MIT
"""Reads logs of tasks (spindle-tasks(5)) and replays them on any number of processors.

A replay is list scheduling: a task that can continue gets the next free processor, and keeps it
until it waits.  Tasks that have begun come before those that wait for a thread of the pool, and
an owner runs a task that it joins before any thread has begun it, as the pool does.

The processor time that the kernel's threads used for requests is divided over the requests, by
their bytes; no task waits for it.

A device serves requests one after the other, at its bandwidth.  A task continues while at most
AHEAD bytes are outstanding, so reads are ahead of it and writes are behind it.

Not modelled: the bandwidth of the memory, caches that processors share, contention for locks,
the cost of a switch, the limit of tasks that the pool runs at a time.
"""

import heapq
import json
from collections import Counter, deque

AHEAD = 64 << 20
MAIN = "main thread"
KERNEL = "kernel's threads"


class Log:
    """The tasks of a run: of each its kind, and its steps (work in ns, then an event)."""

    def __init__(self, events):
        self.kind, self.steps, self.own = {0: MAIN}, {0: []}, set()
        self.process_ns = self.elapsed_ns = self.bytes = 0
        at = Counter()
        for e in events:
            task = e["task"]
            step = self.step(e)
            if step:
                self.steps[task].append((e["cpu_ns"] - at[task], *step))
                at[task] = e["cpu_ns"]
        self.task_ns = sum(at.values())
        self.kernel_ns = max(self.process_ns - self.task_ns, 0)

    def step(self, e):
        """The action and the value of an event; None: an event that is not known."""
        event = e["event"]
        if event == "start":
            self.kind[e["started"]], self.steps[e["started"]] = e["kind"], []
            if e["own_thread"]:
                self.own.add(e["started"])
            return "start_task", e["started"]
        if event == "join":
            return "wait", e["joined"]
        if event in ("give", "need"):
            return {"give": "reach", "need": "wait"}[event], (e["channel"], e["number"])
        if event == "request":
            self.bytes += e["bytes"]
            return "move", e["bytes"]
        if event == "close":
            self.process_ns, self.elapsed_ns = e["process_cpu_ns"], e["time_ns"]
        return ("reach", e["task"]) if event in ("end", "close") else None


def read(path):
    with open(path, encoding="ascii") as f:
        return Log(json.loads(line) for line in f)


class Job:
    """A task in a replay.  path: the times of kinds on the longest chain that leads to it."""

    def __init__(self, task, kind, steps, path=()):
        self.task, self.kind, self.steps = task, kind, steps
        self.at, self.begun, self.path = 0, False, Counter(path)


class Replay:
    def __init__(self, log, processors, device=None):
        self.log, self.device = log, device
        self.free = processors
        self.now, self.busy_until = 0.0, 0.0  # of the replay; of the device
        self.calendar, self.calls = [], 0
        self.runnable, self.queued = deque(), deque()
        self.jobs, self.reached, self.waiting = {}, set(), {}
        self.path = Counter()  # of the task that ended last
        self.run()

    def run(self):
        self.start(0, ())
        self.begin()
        while self.calendar:
            self.now, _, call, job = heapq.heappop(self.calendar)
            call(job)
            self.begin()
        if self.waiting:
            raise ValueError(f"the log is incomplete: a task waits for {next(iter(self.waiting))}")

    def later(self, ns, call, job):
        self.calls += 1  # keeps the order of equal times
        heapq.heappush(self.calendar, (self.now + ns, self.calls, call, job))

    def start(self, task, path):
        log = self.log
        job = self.jobs[task] = Job(task, log.kind[task], log.steps[task], path)
        (self.runnable if task in log.own or not task else self.queued).append(job)

    def begin(self):
        """Gives the free processors to jobs."""
        while self.free and (self.runnable or self.queued):
            job = (self.runnable or self.queued).popleft()
            self.free -= 1
            self.work(job)

    def work(self, job):
        """The job has a processor: works until its next event."""
        job.begun = True
        ns = job.steps[job.at][0]
        job.path[job.kind] += ns
        self.later(ns, self.step, job)

    def step(self, job):
        _, action, value = job.steps[job.at]
        job.at += 1
        if getattr(self, action)(job, value):
            return
        if job.at < len(job.steps):
            self.work(job)
        else:
            self.path = job.path
            self.free += 1

    # The actions of tasks.  True: the task waits, and has no processor.

    def start_task(self, job, task):
        self.start(task, job.path)

    def reach(self, job, what):
        self.reached.add(what)
        for other in self.waiting.pop(what, ()):
            other.path = Counter(job.path)
            self.runnable.append(other)

    def wait(self, job, what):
        if what in self.reached:
            return False
        self.waiting.setdefault(what, []).append(job)
        joined = self.jobs.get(what)
        if joined in self.queued:
            self.queued.remove(joined)
            self.work(joined)
        else:
            self.free += 1
        return True

    def move(self, job, size):
        kernel = self.log.kernel_ns * size / self.log.bytes
        if kernel:
            self.runnable.append(Job(None, KERNEL, [(kernel, "ignore", None)], job.path))
        if not self.device:
            return False
        self.busy_until = max(self.busy_until, self.now) + size / self.device * 1e9
        pause = self.busy_until - AHEAD / self.device * 1e9 - self.now
        if pause <= 0:
            return False
        self.free += 1
        self.later(pause, self.runnable.append, job)
        return True

    def ignore(self, job, value):
        pass


def elapsed_s(log, processors, device=None):
    """Predicts the elapsed time on that many processors, and a device of that many bytes/s."""
    replay = Replay(log, processors, device)
    return max(replay.now, replay.busy_until) / 1e9


def chain(log):
    """The longest chain of dependent tasks: seconds of each kind."""
    path = Replay(log, float("inf")).path
    return {k: path[k] / 1e9 for k in sorted(path, key=path.get, reverse=True) if path[k]}
