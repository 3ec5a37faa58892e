# SPDX-License-Identifier: MIT
"""Predicts elapsed times on other numbers of processors; scripts/bench/scale runs it."""

import argparse
import os
import subprocess
import sys
import time

import taskrows
import tasks

PROCESSORS = (1, 2, 4, 8, 16, 32, 64)
MEASURED = (1, 2)
RUNS = 3
NOTE = ("Elapsed seconds.  Predicted: a replay of the log of tasks, not a measurement on so many processors.\n"
        "Measured: the least of the runs on 1 and on 2 processors; ratio: predicted to measured.\n")


class Run:
    """A run of our tool with n threads, on the given processors or on all of them."""

    def __init__(self, bench, row, n, processors=None):
        def alone():
            os.sched_setaffinity(0, processors or os.sched_getaffinity(0))
            try:
                os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))
            except PermissionError:
                pass  # without it, other programs disturb

        bench.settle()
        began = time.monotonic()
        with subprocess.Popen(["sh", "-c", bench.command(row, "ours", n)], env=bench.environment(row.locale),
                              preexec_fn=alone) as p:
            _, status, used = os.wait4(p.pid, 0)
            p.returncode = os.waitstatus_to_exitcode(status)
        self.elapsed = time.monotonic() - began
        if p.returncode:
            raise subprocess.CalledProcessError(p.returncode, row.title)
        self.log, self.piped = tasks.read(bench.log), row.piped
        self.cpu = used.ru_utime + used.ru_stime
        self.outside = max(self.cpu - self.log.process_ns / 1e9, 0)

    def predict(self, n, device):
        """Work outside the log is done before and after it; other programs of a pipe run next to it."""
        replayed = tasks.elapsed_s(self.log, n, device)
        return max(replayed, self.cpu / n) if self.piped else replayed + self.outside


def measured(bench, row, n, runs):
    """The least of several times on n processors; None if there are fewer."""
    there = sorted(os.sched_getaffinity(0))
    if n not in MEASURED or len(there) < n:
        return None
    return min(Run(bench, row, n, there[:n]).elapsed for _ in range(runs))


def cell(predicted, seconds):
    return f"{predicted:.2f}" + (f" ({seconds:.2f}; {predicted / seconds:.2f})" if seconds else "")


def predict_row(bench, name, row, args):
    cells = []
    for n in PROCESSORS:
        best = min((Run(bench, row, n) for _ in range(args.runs)), key=lambda r: r.cpu)
        cells.append(cell(best.predict(n, args.device), measured(bench, row, n, args.runs)))
    chain = tasks.chain(best.log)
    print("| " + " | ".join([name, *cells, f"{sum(chain.values()):.2f}"]) + " |", flush=True)


def print_head():
    heads = [f"N = {n}" + (" (measured; ratio)" if n in MEASURED else "") for n in PROCESSORS]
    print(NOTE + "\n| " + " | ".join(["row", *heads, f"longest chain, N = {PROCESSORS[-1]}"]) + " |\n" +
          "|---" * (len(heads) + 2) + "|", flush=True)


def replay_log(path, device):
    log = tasks.read(path)
    print(f"measured: {log.elapsed_ns / 1e9:.3f} s, {log.process_ns / 1e9:.3f} s of processors")
    for n in PROCESSORS:
        print(f"predicted for {n} processors: {tasks.elapsed_s(log, n, device):.3f} s")
    chain = tasks.chain(log)
    print(f"longest chain of dependent tasks: {sum(chain.values()):.3f} s")
    for kind, seconds in chain.items():
        print(f"\t{seconds:.3f} s {kind}")


def main():
    parser = argparse.ArgumentParser(prog="scale", description="Predicts elapsed times on 1 to 64 processors.")
    parser.add_argument("--device", type=taskrows.size_of, metavar="RATE", help="bytes per second of the device, "
                        "such as 7G (no limit); with one, predictions differ from what is measured in memory")
    parser.add_argument("--log", metavar="FILE", help="replay this log only")
    args = taskrows.arguments(parser, RUNS)
    if args.log:
        replay_log(args.log, args.device)
        return 0
    with taskrows.Bench("scale", args.folder, args.size, args.rows.values()) as bench:
        print_head()
        for name, row in args.rows.items():
            bench.prepare(row, ("ours",))
            if "{options}" in row.commands["ours"]:
                predict_row(bench, name, row, args)
            bench.done(row)
    return 0


if __name__ == "__main__":
    sys.exit(main())
