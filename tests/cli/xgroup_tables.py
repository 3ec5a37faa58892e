#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares xgroup of tables with a truth of Python, and with xgroup of what xtable prints.

    xgroup_tables.py XGROUP XTABLE CASES SEED

Runs in a directory of its own.  Each table has a random layout and was perhaps changed; each case
is run with several numbers of threads and amounts of memory, and all results must have the same
bytes.
"""
import csv
import io
import os
import random
import subprocess
import sys
from decimal import Decimal

WORDS = ["", "a", "B", "b c", 'say "x"', "c, d", "two\nlines", "\u00e9t\u00e9", "1", "01", "NULL"]
TYPES = {"k": "text", "w": "text", "n": "i32", "x": "dec64(3)", "day": "date"}
LAYOUTS = ["nsm", "pax", "dsm", "csm"]


def run(command, data=None, status=0):
    done = subprocess.run(command, input=data, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          check=False)
    if done.returncode != status:
        sys.exit(f"{command}: status {done.returncode}: {done.stderr.decode()[:500]}")
    return done.stdout


def make_value(rng, column):
    if rng.random() < 0.15:
        return ""
    if column in ("k", "w"):
        return rng.choice(WORDS) * (1 if rng.random() < 0.98 else rng.randrange(1, 3000))
    if column == "n":
        return str(rng.randrange(-50, 50))
    if column == "x":
        return f"{Decimal(rng.randrange(-10**9, 10**9)) / 1000:.3f}"
    return f"20{rng.randrange(10, 30)}-{rng.randrange(1, 13):02}-{rng.randrange(1, 29):02}"


def make_csv(names, rows):
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows([names] + rows)
    return out.getvalue().encode()


def make_table(rng, xtable, names, rows):
    """Makes the table t; returns its rows, some of which were changed."""
    data = make_csv(names, rows)
    options = ["--layout=" + rng.choice(LAYOUTS), "--overwrite", "--cell=" +
               rng.choice(["512", "4K", "64K"]),
               "--types=" + ",".join(f"{n}:{TYPES[n]}" for n in names)]
    if len(names) > 2 and options[0] in ("--layout=dsm", "--layout=csm") and rng.random() < 0.3:
        options.append("--together=" + ",".join(names[:2]))
    run([xtable, "load", "--csv", "--header", "-S", "8M"] + options + ["t", "-"], data)
    n = names.index("n") if "n" in names else 0
    if rng.random() < 0.3 and any(names[n] == "n" and r[n].startswith("-") for r in rows):
        run([xtable, "delete", "t", "--where", "n < 0"])
        rows = [r for r in rows if not r[n] or int(r[n]) >= 0]
    if rng.random() < 0.3 and len(names) > 1:
        more = [[make_value(rng, c) for c in names] for _ in range(rng.randrange(1, 100))]
        run([xtable, "append", "t", "-"], make_csv(names, more))
        rows = rows + more
    return rows


def truth(names, rows, keys, aggregates):
    """The rows of the result, for count, sum, min, max, first, last and list."""
    groups = {}
    for row in rows:
        groups.setdefault(tuple(row[names.index(k)].encode() for k in keys), []).append(row)
    if not keys and not rows:
        groups[()] = []
    out = [keys + [f"{f}({c})" for f, c in aggregates]]
    for key, members in sorted(groups.items()):
        line = [k.decode() for k in key]
        for function, column in aggregates:
            values = [r[names.index(column)] for r in members] if column else members
            line.append(aggregate(function, column, [v for v in values if v]))
        out.append(line)
    return out


def aggregate(function, column, values):
    if function == "count":
        return str(len(values))
    if not values:
        return ""
    if function == "sum":
        total = sum(map(Decimal, values))
        return f"{total:.3f}" if column == "x" else str(total)
    if function in ("min", "max"):
        best = min if function == "min" else max
        return best(values, key=Decimal) if column in ("n", "x") else best(values)
    if function == "list":
        return ";".join(values)
    return values[0 if function == "first" else -1]


def make_case(rng, names):
    keys = rng.sample(names, rng.randrange(0, min(3, len(names)) + 1))
    aggregates = [("count", "")]
    for _ in range(rng.randrange(0, 5)):
        column = rng.choice(names)
        functions = ["count", "first", "last", "list"]
        functions += ["sum", "min", "max"] if column in ("n", "x") else []
        functions += ["min", "max"] if column == "day" else []
        aggregates.append((rng.choice(functions), column))
    return keys, list(dict.fromkeys(aggregates))


def other_options(rng, names):
    """Options whose result is that of xgroup of the printed records."""
    last = names[-1]
    return rng.choice([["--largest=2", "-k", last], ["--pivot=" + names[0]], ["--order=first"],
                       ["--percent", "--cumulative"], ["--where", f'{last} is not null'],
                       ["--where", "$1 > 'a'", "--having=count() > 1"], ["--order=count():r"],
                       ["--format=json"], ["-k", f"length({names[0]}) as l"],
                       ["--limit=3", "-a", f"distinct({last}), mode({last})"]])


def main():
    csv.field_size_limit(2**30)
    xgroup, xtable, cases, seed = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    for case in range(cases):
        rng = random.Random(f"{seed}-{case}")
        names = rng.sample(list(TYPES), rng.randrange(1, len(TYPES) + 1))
        n = rng.choice([0, 1, 10, 500, 3000]) if rng.random() < 0.9 else 40000
        rows = make_table(rng, xtable, names,
                          [[make_value(rng, c) for c in names] for _ in range(n)])
        keys, aggregates = make_case(rng, names)
        first = [o for k in keys for o in ("-k", k)]
        first += ["-a", ", ".join(f"{f}({c})" for f, c in aggregates)]
        second = [o for k in keys for o in ("-k", k)] + other_options(rng, names)
        printed = run([xtable, "scan", "t", "--format=csv"])
        wants = [run([xgroup, "--csv", "--header"] + o, printed) for o in (first, second)]
        if list(csv.reader(io.StringIO(wants[0].decode()))) != truth(names, rows, keys, aggregates):
            sys.exit(f"case {case}: {first} of the printed records is wrong")
        for options, want in zip((first, second), wants):
            for threads, memory in rng.sample([(1, "1M"), (2, "1M"), (3, "4M"), (8, "8M"),
                                               (8, "256M")], 3):
                got = run([xgroup, "-S", memory, f"--parallel={threads}"] + options + ["t"])
                if got != want:
                    os.rename("t", "t.bad")
                    sys.exit(f"case {case}: -S {memory} --parallel={threads} {options}: another "
                             f"result of t.bad\n{got[:300]}\n{want[:300]}")
    print(f"{cases} cases")


if __name__ == "__main__":
    main()
