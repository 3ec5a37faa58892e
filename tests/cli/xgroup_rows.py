#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares xgroup's --percent, --cumulative, --pivot and --split with a truth of Python's csv.

    xgroup_rows.py XGROUP CASES SEED

Runs in a directory of its own.  Each case is run with several amounts of memory and threads, and
from a pipe.
"""
import csv
import io
import os
import random
import shutil
import subprocess
import sys
from decimal import ROUND_HALF_UP, Decimal

WORDS = ["", "a", "b", "c d", "é", 'q"q', "x,y", ".dot", "a/b", "50%", "two\nlines", "-"]
PLAIN = set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.")


def write_csv(rows):
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(rows)
    # A line with one empty field is written as two quotes by both.
    return out.getvalue().encode()


def share(part, total):
    if not total:
        return ""
    return str((part * 100 / total).quantize(Decimal("0.000001"), ROUND_HALF_UP))


def totals(rows):
    """{key: (count, sum)} in the order of the keys' bytes."""
    groups = {}
    for key, _, value in rows:
        count, all_of = groups.get(key, (0, Decimal(0)))
        groups[key] = (count + 1, all_of + Decimal(value))
    return dict(sorted(groups.items(), key=lambda item: item[0].encode()))


def percent_case(rng, rows):
    groups = totals(rows)
    reverse, limit = rng.random() < 0.5, rng.choice([None, 0, 1, 3])
    having = rng.choice([None, 1, 2])
    count_all, sum_all = len(rows), sum(s for _, s in groups.values())
    passed, out = [0, Decimal(0)], [["k", "n", "s", "share", "of s", "run", "run of s"]]
    order = list(groups.items())
    if reverse:
        order.sort(key=lambda item: -item[1][1])
    if having:
        order = [item for item in order if item[1][0] > having]
    for key, (n, s) in order[:limit]:
        passed = [passed[0] + n, passed[1] + s]
        out.append([key, n, s, share(Decimal(n), Decimal(count_all)), share(s, sum_all),
                    passed[0], share(passed[1], sum_all)])
    options = ["-k", "k", "-a", "count() as n, sum(v) as s", "--percent=as share",
               "--percent=s as of s", "--cumulative=n as run", "--cumulative=of s as run of s"]
    options += ["--order=s:r"] if reverse else []
    options += ["--limit=%d" % limit] if limit is not None else []
    options += ["--having=n > %d" % having] if having else []
    return options, write_csv(out)


def pivot_case(rng, rows):
    several, first = rng.random() < 0.5, rng.random() < 0.4
    cells, columns, keys = {}, set(), []
    for key, column, value in rows:
        columns.add(column)
        if key not in keys:
            keys.append(key)
        n, s = cells.get((key, column), (0, Decimal(0)))
        cells[key, column] = (n + 1, s + Decimal(value))
    columns = sorted(columns, key=lambda c: c.encode())
    keys = keys if first else sorted(keys, key=lambda c: c.encode())
    names = [c or "NULL" for c in columns]
    out = [["k"] + [f"{c}_{a}" for c in names for a in ("s", "n")] if several else ["k"] + names]
    for key in keys:
        row = [key]
        for column in columns:
            n, s = cells.get((key, column), (0, ""))
            row += [s, n] if several else [s]
        out.append(row)
    aggregates = "sum(v) as s, count() as n" if several else "sum(v)"
    return (["-k", "k", "--pivot=p", "-a", aggregates] + (["--order=first"] if first else []),
            write_csv(out))


def file_name(texts, form):
    names = []
    for i, text in enumerate(texts):
        out = ""
        for at, byte in enumerate(text.encode()):
            bad = byte < 32 or byte == 127 or chr(byte) in "/%" or (byte == 46 and not at
                                                                    and not i and form[0] == "%")
            bad |= len(texts) > 1 and byte < 128 and chr(byte) not in PLAIN
            out += "%%%02X" % byte if bad else chr(byte)
        names.append(out.encode("latin-1") or b"%")
    return form.encode() % tuple(names)


def split_case(rng, rows):
    two, limit = rng.random() < 0.5, rng.choice([None, 1, 2])
    form = "%s-%s.csv" if two else rng.choice(["%s", "by-%s.csv"])
    files = {}
    for row in rows:
        name = file_name(row[:2] if two else row[:1], form)
        files.setdefault(name, [["k", "p", "v"]]).append(row)
    if limit:
        files = {name: kept[:limit + 1] for name, kept in files.items()}
    options = ["-k", "k"] + (["-k", "p"] if two else []) + ["--split=out/" + form]
    return (options + (["--largest=%d" % limit] if limit else []),
            {name: write_csv(kept) for name, kept in files.items()})


def run(xgroup, options, data, piped, wanted):
    if isinstance(wanted, dict):
        shutil.rmtree("out", ignore_errors=True)
        os.mkdir("out")
    command = [xgroup, "--csv", "--header", "-T", "."] + options + ([] if piped else ["in.csv"])
    done = subprocess.run(command, input=data if piped else None, capture_output=True, check=False)
    got = done.stdout
    if isinstance(wanted, dict):
        got = {}
        for name in os.listdir(b"out"):
            with open(b"out/" + name, "rb") as file:
                got[name] = file.read()
    if done.returncode or got != wanted:
        print("wrong:", command, done.stderr.decode()[:300], "\ngot", str(got)[:2000],
              "\nwanted", str(wanted)[:2000])
        sys.exit(1)


def main():
    xgroup, cases, seed = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    for number in range(cases):
        rng = random.Random(f"{seed}/{number}")
        n = rng.choice([0, 1, 5, 50, 2000])
        spread = rng.choice([2, 8, 300])

        def word():
            return rng.choice(WORDS) if rng.random() < 0.5 else "k%d" % rng.randrange(spread)
        rows = [[word(), word(), "%d.%02d" % (rng.randint(0, 99), rng.randint(0, 99))]
                for _ in range(n)]
        data = write_csv([["k", "p", "v"]] + rows)
        with open("in.csv", "wb") as file:
            file.write(data)
        options, wanted = rng.choice([percent_case, pivot_case, split_case])(rng, rows)
        if "--pivot=p" in options and len({row[1] for row in rows}) > 4000:
            continue
        for memory, threads in (("1M", 1), ("1M", 3), ("64M", 2)):
            run(xgroup, options + ["-S", memory, f"--parallel={threads}"], data, False, wanted)
        run(xgroup, options + ["-S", "1M"], data, True, wanted)
    print(cases, "cases agree")


main()
