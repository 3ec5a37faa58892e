# SPDX-License-Identifier: MIT
"""Measures how work divides over threads; scripts/bench/threads runs it.

The processor time of each thread is that of /proc/PID/task/TID/schedstat, read every 2 ms, so the
last 2 ms of a thread can be lost.  The programs cat and sh are left out.  Threads of the kernel
that serve requests of io_uring count as threads.

The chain is the longest one of dependent tasks in the log of our tools (spindle-tasks(5)): no
number of processors makes the run faster than it.
"""

import argparse
import glob
import os
import subprocess
import sys
import time

import taskrows
import tasks

EVERY_S = 0.002
LEFT_OUT = ("cat", "sh")


def read(path):
    try:
        with open(path, encoding="ascii", errors="replace") as f:
            return f.read()
    except OSError:
        return ""


def processes(pid):
    """A process and its descendants."""
    yield pid
    for path in glob.glob(f"/proc/{pid}/task/*/children"):
        for child in read(path).split():
            yield from processes(int(child))


def sample(pid, cpu_ns):
    """Notes the processor time of each thread so far."""
    for process in processes(pid):
        if read(f"/proc/{process}/comm").strip() in LEFT_OUT:
            continue
        for path in glob.glob(f"/proc/{process}/task/*/schedstat"):
            fields = read(path).split()
            if fields:
                cpu_ns[path] = int(fields[0])


def run(bench, row, program, n):
    """Returns elapsed seconds and the processor seconds of threads; None if it failed."""
    bench.settle()
    cpu_ns = {}
    command = bench.command(row, program, n)
    began = time.monotonic()
    with subprocess.Popen(["sh", "-c", command], env=bench.environment(row.locale),
                          stderr=subprocess.PIPE, text=True) as p:
        while p.poll() is None:
            sample(p.pid, cpu_ns)
            time.sleep(EVERY_S)
        elapsed = time.monotonic() - began
        error = p.stderr.read()
    if p.returncode:
        bench.say(f"{program} failed with status {p.returncode}: {error.strip()[:300]}")
        return None
    return elapsed, [ns / 1e9 for ns in cpu_ns.values()]


def best(bench, row, program, n, runs):
    """The cells of the fastest run."""
    found = None
    for _ in range(runs):
        got = run(bench, row, program, n)
        if not got:
            return ["failed"] + [""] * 6
        if not found or got[0] < found[0]:
            found = (*got, tasks.chain(tasks.read(bench.log)) if os.path.exists(bench.log) else {})
    return cells(*found)


def cells(elapsed, threads, chain):
    total, longest, chain_s = sum(threads), max(threads, default=0), sum(chain.values())
    parts = [f"{kind} {100 * s / chain_s:.0f} %" for kind, s in list(chain.items())[:2]]
    return [f"{elapsed:.2f}", f"{total:.2f}", f"{longest:.2f}", f"{total / longest:.1f}" if longest else "",
            f"{chain_s:.2f}" if chain else "", f"{total / chain_s:.1f}" if chain else "", ", ".join(parts)]


HEAD = ["row", "program", "elapsed s", "CPU s", "longest thread s", "CPU / longest", "longest chain s",
        "CPU / chain", "kinds of the chain"]


def main():
    parser = argparse.ArgumentParser(prog="threads", description="Measures how work divides over threads.")
    parser.add_argument("--parallel", type=int, default=16, metavar="N", help="threads of each program (16)")
    parser.add_argument("--programs", default=",".join(taskrows.PROGRAMS), help="ours, gnu and duckdb (all)")
    args = taskrows.arguments(parser, 1)
    programs = [p for p in args.programs.split(",") if p in taskrows.PROGRAMS]
    with taskrows.Bench("threads", args.folder, args.size, args.rows.values()) as bench:
        if "duckdb" in programs and not taskrows.has_duckdb():
            programs.remove("duckdb")
            bench.say("DuckDB is left out: scripts/bench/peers installs it")
        print("| " + " | ".join(HEAD) + " |\n|" + "---|" * len(HEAD), flush=True)
        for name, row in args.rows.items():
            bench.prepare(row, programs)
            for program in programs:
                if row.commands[program]:
                    got = best(bench, row, program, args.parallel, args.runs)
                    print("| " + " | ".join([name, program, *got]) + " |", flush=True)
            bench.done(row)
    return 0


if __name__ == "__main__":
    sys.exit(main())
