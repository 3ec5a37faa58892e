# SPDX-License-Identifier: MIT
"""
Checks the data that --plot gives to gnuplot against the trace.

    traceplot.py make FILE REQUESTS   a random trace of two volumes
    traceplot.py check SCRIPT FILE    the script for gnuplot that draws FILE
"""
import random
import sys


def make(path, n):
    rng = random.Random(n)
    at = 0
    with open(path, "w") as f:
        for _ in range(n):
            at += rng.randrange(0, 10000000)
            done = at + rng.randrange(1, 40000000)
            op, volume, block = rng.choice("RW"), "v%d" % rng.randrange(2), rng.randrange(1 << 20)
            result = rng.choice([8192, 8192, 8192, 0, -5])
            print(op, volume, block * 4096, 8192, 0, at, done, result, file=f)


def blocks(path):
    """The data blocks of a script, in order: (name, rows), and its other lines."""
    found, rows, rest = [], None, []
    for line in open(path):
        if line.startswith("$") and line.endswith("<< EOD\n"):
            found.append((line.split()[0], rows := []))
        elif line == "EOD\n":
            rows = None
        elif rows is not None:
            rows.append(tuple(map(float, line.split())))
        else:
            rest.append(line)
    return found, "".join(rest)


def outstanding(requests, begin, end, slices):
    """Mean and maximum in each slice, from each request alone."""
    width = (end - begin) / slices
    mean = [0.0] * slices
    level = {}
    for r in requests:
        level[r[2]] = level.get(r[2], 0) + 1
        level[r[3]] = level.get(r[3], 0) - 1
        for k in range(slices):
            first, last = max(r[2], begin + k * width), min(r[3], begin + (k + 1) * width)
            mean[k] += max(0, last - first) / width
    times = sorted(level)
    most = [0] * slices
    n = 0
    for t, following in zip(times, times[1:] + [end]):
        n += level[t]
        for k in range(slices):
            if t < begin + (k + 1) * width and following > begin + k * width:
                most[k] = max(most[k], n)
    return mean, most


def check(script, path):
    fields = [line.split() for line in open(path)]
    requests = [(f[0], f[1], int(f[5]), int(f[6]), int(f[2])) for f in fields if int(f[7]) > 0]
    found, rest = blocks(script)
    assert "time, s" in rest and rest.count("position, GB") == 2, rest
    assert "%d requests, and %d that failed" % (len(requests), len(fields) - len(requests)) in rest
    names = list(dict.fromkeys(f[1] for f in fields))
    drawn = 0
    for i, volume in enumerate(names):
        for k, (name, op) in enumerate((("$writes", "W"), ("$reads", "R"))):
            assert found[2 * i + k][0] == name
            points = found[2 * i + k][1]
            mine = [
                (round(r[2] / 1e9, 7), round(r[4] / 1e9, 7))
                for r in requests
                if r[:2] == (op, volume)
            ]
            got = [(round(x, 7), round(y, 7)) for x, y in points]
            drawn += len(got)
            assert set(got) <= set(mine) and len(set(got)) == len(got), (volume, op)
            if sum(r[1] == volume for r in requests) <= 5000:
                assert sorted(got) == sorted(mine), (volume, op)
            else:
                assert len(got) <= 15000 and len(got) > 2000, len(got)
    name, rows = found[-1]
    assert name == "$outstanding" and len(found) == 2 * len(names) + 1
    if len(requests) < 2000:
        mean, most = outstanding(requests, 0, max(r[3] for r in requests), len(rows) - 1)
        for row, a, b in zip(rows, most, mean):
            assert row[1] == a and abs(row[2] - b) < 1e-3 * max(1, b), (row, a, b)
    print(drawn, "points of", len(requests))


if sys.argv[1] == "make":
    make(sys.argv[2], int(sys.argv[3]))
else:
    check(sys.argv[2], sys.argv[3])
