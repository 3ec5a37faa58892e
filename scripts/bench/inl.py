# SPDX-License-Identifier: MIT
"""Measures index nested loops on this machine's disk, and the same reads without a join.

    make bench-inl
    PROBES=20000 ROUNDS=5 SCALE=4.8 WITHOUT=sqlite python3 scripts/bench/inl.py

The inner file is orders of xgen (SCALE 4.8: 0.84 GB, 7.2 million lines) with an index on its
first field; the outer one has PROBES of its keys, in random order.  Each round runs one after
the other, each after the pages of all files were dropped from the page cache (posix_fadvise,
which needs no rights):

    async-inl, inl      xjoin, the whole process
    io_uring, sync      read_speed repeats the reads that async-inl submits, pages of the index
                        and of the inner file, past the page cache: 128 outstanding, and one by
                        one; its time is that of the reads alone
    sqlite              the same join in a database with the same rows, the inner ones by their
                        integer primary key: from the first statement to the last row
    first row           of both, from the start of the process to the first byte of the result

then both joins with all of both files in the page cache.  All results must be the same lines.

The goals, of medians: async-inl takes at most 1.6 times io_uring; its gain over inl is at least
0.75 of the gain of io_uring over sync; it is four times as fast as sqlite; its first row comes
within 1.5 times that of inl; cached, it is at most 3 % slower than inl.  Handling its reads takes
at most 4 us of processor time for each probe: samples of perf(1) in liburing and in the files
HANDLING of the library, next to that of the process; without perf this row is missing.

inl reads pages of the index one by one, async-inl in pieces; so inl makes more reads than sync,
and both gains are not of the same reads.

Results: inl.md and inl.csv (one line for each run) in BENCH_DIR (build/bench; takes 2 GB).
"""

import csv
import glob
import os
import platform
import random
import shutil
import signal
import sqlite3
import statistics
import subprocess
import sys
import time

PROBES = int(os.environ.get("PROBES") or 20000)
ROUNDS = int(os.environ.get("ROUNDS") or 5)
SCALE = os.environ.get("SCALE") or "4.8"
WITHOUT = (os.environ.get("WITHOUT") or "").split()
FIRST_ROWS = 5  # in a round: they are short
CACHED = 10
HANDLING = ["io/*", "cells/requests", "index/nodecache", "index/nodestream", "index/fetch"]
PROFILES = 3
DIR = os.path.abspath(os.environ.get("BENCH_DIR") or "build/bench")
DATA = os.path.join(DIR, "data")
OBJECTS = os.path.abspath("build/obj/lib")
INNER, INDEX, OUTER, DATABASE, TRACE, RESULT, SAMPLES = (
    os.path.join(DATA, f"inl-{SCALE}." + end)
    for end in ("tbl", "index", "outer", "sqlite", "trace", "result", "perf"))
TABLE = ["row", "figure", "beside", "ours", "ratio", "wanted", ""]
JOIN = """SELECT o.key || '|' || o.tag || '|' || i.rest || char(10)
    FROM outer_rows o CROSS JOIN inner_rows i ON i.key = o.key"""


def say(text):
    print("bench-inl: " + text, file=sys.stderr)


def tool(name):
    path = os.environ.get(name.upper()) or f"build/bin/{name}"
    return os.path.abspath(path)


def call(*command):
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def make_files():
    os.makedirs(DATA, exist_ok=True)
    if not os.path.exists(INNER):
        say(f"making {INNER}")
        call(tool("xgen"), "orders", f"--scale={SCALE}", "--output=" + INNER)
    if not os.path.exists(INDEX):
        call(tool("xindex"), "build", "-t|", "-k1,1", "-o", INDEX, INNER)
    with open(INNER, "rb") as f:
        keys = [line[:line.index(b"|")] for line in f]
    picked = random.Random(1).sample(keys, PROBES)
    with open(OUTER, "wb") as f:
        f.writelines(b"%b|%d\n" % (key, i) for i, key in enumerate(picked))


def make_database():
    if os.path.exists(DATABASE):
        return
    say(f"making {DATABASE}")
    new = sqlite3.connect(DATABASE + ".new")
    new.execute("PRAGMA journal_mode = OFF")
    new.execute("CREATE TABLE inner_rows (key INTEGER PRIMARY KEY, rest TEXT)")
    with open(INNER, encoding="ascii") as f:
        new.executemany("INSERT INTO inner_rows VALUES (?, ?)",
                        (line[:-1].split("|", 1) for line in f))
    new.commit()
    new.close()
    os.rename(DATABASE + ".new", DATABASE)


def fill_database():
    """The outer rows, which depend on PROBES."""
    with sqlite3.connect(DATABASE) as db, open(OUTER, encoding="ascii") as f:
        db.execute("DROP TABLE IF EXISTS outer_rows")
        db.execute("CREATE TABLE outer_rows (key INTEGER, tag TEXT)")
        db.executemany("INSERT INTO outer_rows VALUES (?, ?)",
                       (line[:-1].split("|") for line in f))
    db.close()


def drop_pages():
    for path in (INNER, INDEX, OUTER, DATABASE):
        if os.path.exists(path):
            fd = os.open(path, os.O_RDONLY)
            os.fsync(fd)
            os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
            os.close(fd)


def read_all():
    for path in (INNER, INDEX, OUTER):
        with open(path, "rb", buffering=0) as f:
            while f.read(1 << 20):
                pass


def join(algorithm, *options):
    return [tool("xjoin"), "-t|", f"--algorithm={algorithm}", "--index2=" + INDEX, *options,
            OUTER, INNER]


def run(command, output):
    """Seconds, and seconds of the processor."""
    fd = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    begin = time.monotonic()
    pid = os.posix_spawn(command[0], command, os.environ,
                         file_actions=[(os.POSIX_SPAWN_DUP2, fd, 1)])
    status, used = os.wait4(pid, 0)[1:]
    seconds = time.monotonic() - begin
    os.close(fd)
    if status:
        raise RuntimeError(" ".join(command) + " failed")
    return seconds, used.ru_utime + used.ru_stime


def run_first(algorithm):
    """Seconds to the first byte of the result; then the reader closes it."""
    end, other = os.pipe()
    command = join(algorithm)
    begin = time.monotonic()
    pid = os.posix_spawn(command[0], command, os.environ,
                         file_actions=[(os.POSIX_SPAWN_DUP2, other, 1)],
                         setsigdef=[signal.SIGPIPE])
    os.close(other)
    got = os.read(end, 1)
    seconds = time.monotonic() - begin
    os.close(end)
    os.waitpid(pid, 0)
    if not got:
        raise RuntimeError(" ".join(command) + " has no result")
    return seconds


def run_reads(way):
    """Seconds and seconds of the processor of a bare loop, reads and bytes."""
    line = subprocess.run([os.environ.get("READ_SPEED") or "build/tests/bench/read_speed",
                           TRACE, way, "128", INDEX, INNER],
                          check=True, capture_output=True, text=True).stdout
    reads, size, seconds, each_us = line.split()
    return float(seconds), int(reads) * float(each_us) / 1e6, int(reads), int(size)


def functions_of(files):
    """The names of functions in object files of the library."""
    found = set()
    for pattern in files:
        paths = glob.glob(os.path.join(OBJECTS, pattern + ".o"))
        if not paths:
            raise RuntimeError(f"no object file is called {pattern}")
        for path in paths:
            text = subprocess.run(["nm", path], check=True, capture_output=True, text=True).stdout
            found.update(line.split()[-1] for line in text.splitlines() if " t " in line.lower())
    return found


def profile():
    """Microseconds for each probe that async-inl takes in all, and in handling its reads."""
    handling = functions_of(HANDLING)
    total = ours = 0
    for _ in range(PROFILES):
        drop_pages()
        with open(RESULT, "wb") as f:
            subprocess.run(["perf", "record", "-q", "-F", "15000", "-o", SAMPLES,
                            *join("async-inl")], check=True, stdout=f)
        text = subprocess.run(["perf", "script", "-i", SAMPLES, "-F", "period,ip,sym,dso"],
                              check=True, capture_output=True, text=True).stdout
        for line in text.splitlines():
            words = line.split()
            total += int(words[0])
            if "liburing" in words[-1] or ("xjoin" in words[-1] and words[2] in handling):
                ours += int(words[0])
    return [ns / 1000 / PROBES / PROFILES for ns in (total, ours)]


def run_sqlite():
    db = sqlite3.connect(DATABASE)
    begin, used = time.monotonic(), time.process_time()
    with open(RESULT, "w", encoding="ascii") as f:
        f.writelines(row[0] for row in db.execute(JOIN))
    figures = time.monotonic() - begin, time.process_time() - used
    db.close()
    return figures


class Bench:
    def __init__(self):
        self.runs = []  # (row, round, seconds, seconds of the processor)
        self.lines = None

    def note(self, row, number, seconds, cpu=""):
        self.runs.append((row, number, seconds, cpu))

    def compare(self, row):
        with open(RESULT, "rb") as f:
            lines = sorted(f)
        self.lines = self.lines or lines
        if len(lines) != PROBES or lines != self.lines:
            raise RuntimeError(f"{row} has another result")

    def round(self, number):
        for algorithm in ("async-inl", "inl"):
            drop_pages()
            self.note(algorithm, number, *run(join(algorithm), RESULT))
            self.compare(algorithm)
        for way in ("io_uring", "sync"):
            self.note(way, number, *run_reads(way)[:2])
        if "sqlite" not in WITHOUT:
            drop_pages()
            self.note("sqlite", number, *run_sqlite())
            self.compare("sqlite")
        for _ in range(FIRST_ROWS):
            for algorithm in ("async-inl", "inl"):
                drop_pages()
                self.note("first " + algorithm, number, run_first(algorithm))
        read_all()
        for _ in range(CACHED):
            for algorithm in ("async-inl", "inl"):
                self.note("cached " + algorithm, number, *run(join(algorithm), RESULT))

    def median(self, row, column=2):
        return statistics.median(r[column] for r in self.runs if r[0] == row)

    def judged(self):
        """The lines of the table."""
        m = self.median
        lines = []

        def line(row, figure, beside, ours, ratio, wanted, reached):
            lines.append([row, figure, f"{beside:.4g}", f"{ours:.4g}", f"{ratio:.3f}", wanted,
                          "reached" if reached else "missed"])

        def slower(row, figure, beside, ours, most):
            line(row, figure, beside, ours, ours / beside, f"<= {most}", ours <= most * beside)

        ours, loop = m("async-inl"), m("io_uring")
        slower("bare loop", "s", loop, ours, 1.6)
        bare_gain, gain = m("sync") / loop, m("inl") / ours
        line("gain", "over one at a time", bare_gain, gain, gain / bare_gain, ">= 0.75",
             gain >= 0.75 * bare_gain)
        if "sqlite" not in WITHOUT:
            line("sqlite", "s", m("sqlite"), ours, m("sqlite") / ours, ">= 4",
                 m("sqlite") >= 4 * ours)
        slower("first row", "ms", 1e3 * m("first inl"), 1e3 * m("first async-inl"), 1.5)
        slower("cached", "s", m("cached inl"), m("cached async-inl"), 1.03)
        if shutil.which("perf"):
            total, handling = profile()
            line("handling reads", "us/probe", total, handling, handling / total, "<= 4 us",
                 handling <= 4)
        return lines

    def write(self, reads, size):
        with open(os.path.join(DIR, "inl.csv"), "w", newline="", encoding="ascii") as f:
            csv.writer(f).writerows([("row", "round", "seconds", "cpu_s"), *self.runs])
        text = [f"{platform.system()} {platform.release()}; {os.cpu_count()} processors; "
                f"{PROBES} probes, {reads} reads of {size / 1e6:.0f} MB (pages of the index and "
                f"blocks of the inner file); medians of {ROUNDS} rounds; load "
                f"{os.getloadavg()[0]:.2f} at the end; inl {self.median('inl'):.3f} s, "
                f"bare sync {self.median('sync'):.3f} s.", ""]
        text += ["| " + " | ".join(line) + " |" for line in
                 [TABLE, ["---"] * len(TABLE), *self.judged()]]
        with open(os.path.join(DIR, "inl.md"), "w", encoding="ascii") as f:
            f.write("\n".join(text) + "\n")
        print("\n".join(text))


def main():
    make_files()
    if "sqlite" not in WITHOUT:
        make_database()
        fill_database()
    drop_pages()
    run(join("async-inl", "--trace=" + TRACE), RESULT)
    reads, size = run_reads("io_uring")[2:]
    bench = Bench()
    for number in range(1, ROUNDS + 1):
        bench.round(number)
        say(f"round {number} of {ROUNDS}")
    bench.write(reads, size)


if __name__ == "__main__":
    try:
        main()
    except (OSError, RuntimeError, subprocess.CalledProcessError) as e:
        say(str(e))
        sys.exit(2)
