# SPDX-License-Identifier: MIT
"""Holds xjoin --where against SQLite.

xjoin_where.py CASES SEED

Random files are joined with random conditions, and SQLite joins the same records.  $XJOIN is the
tool; files are made in the current directory.
"""
import json
import os
import random
import sqlite3
import subprocess
import sys

SQL = {
    "inner": "from a join b using (k)",
    "left": "from a left join b using (k)",
    "right": "from b left join a using (k)",
    "full": "from a full join b using (k)",
    "anti": "from a where k not in (select k from b)",
    "semi": "from a where k in (select k from b)",
}
# What xjoin gets, and SQLite: an x is a number of a, y one of b, s a text of both.
CONDITIONS = [
    ("x > {n}", "x > {n}"),
    ("y < x", "y < x"),
    ("x + y > {n}", "x + y > {n}"),
    ("y is null", "y is null"),
    ("x is not null and y is null", "x is not null and y is null"),
    ("k in ('k3', 'k5') or y between {n} and 60", "k in ('k3', 'k5') or y between {n} and 60"),
    ('"1.s" = "2.s"', "a.s = b.s"),
    ('"2.2" like \'%a%\' or x = {n}', "b.y like '%a%' or x = {n}"),
    ("coalesce(x, y, 0) % 7 = 3", "coalesce(x, y, 0) % 7 = 3"),
    ("not (x > {n} or \"2.s\" ^= 'b')", "not (x > {n} or substr(b.s, 1, 1) = 'b')"),
    ("upper(\"1.s\") = 'BB'", "upper(a.s) = 'BB'"),
    ("k != 'k4'", "k != 'k4'"),
]
# Of file 1 alone.
ALONE = [(text, text) for text in ("x > {n}", "s = 'bb' or x is null", "k != 'k4'")]


def records(r, n, keys, ordered):
    rows = [
        (
            f"k{r.randrange(keys)}",
            r.randint(0, 99) if r.random() < 0.85 else None,
            r.choice(["a", "bb", "ba", None]),
        )
        for _ in range(n)
    ]
    return sorted(rows, key=lambda row: row[0]) if ordered else rows


def write(name, header, rows):
    with open(name, "w", encoding="utf-8") as f:
        f.write(header + "\n")
        f.writelines(",".join("" if v is None else str(v) for v in row) + "\n" for row in rows)


def files(r, db):
    ordered = r.random() < 0.4
    sizes = [r.choice([0, 5, 200, 3000]) for _ in range(2)]
    keys = max(sizes) // 2 + 8
    for name, number, size in (("a", "x", sizes[0]), ("b", "y", sizes[1])):
        rows = records(r, size, keys, ordered)
        write(name, f"k,{number},s", rows)
        db.execute(f"drop table if exists {name}")
        db.execute(f"create table {name} (k text, {number} integer, s text)")
        db.executemany(f"insert into {name} values (?, ?, ?)", rows)
    return ordered


def options(r, kind, ordered):
    args = ["--header", f"--type={kind}", f"--parallel={r.choice([1, 2, 3, 8])}"]
    args.append("-S" + r.choice(["64K", "1M", "1G"]))
    form = r.choice(["csv", "lines", "merge"] if ordered and kind != "semi" else ["csv", "lines"])
    args += ["--csv"] if form == "csv" else ["-t,"]
    if form != "csv" and kind not in ("anti", "semi"):
        args.append("-oauto")
    if form == "merge":
        return args + ["--algorithm=merge", "--nocheck-order"]
    if r.random() < 0.5:
        args.append("--algorithm=" + r.choice(["hybrid", "grace", "shj", "nested"]))
    if r.random() < 0.3:
        args.append(f"--ordered={r.randint(1, 2) if kind not in ('semi', 'anti') else 1}")
    return args


def truth(db, kind, condition):
    columns = "k, x, s" if kind in ("anti", "semi") else "k, a.x, a.s, b.y, b.s"
    tail = SQL[kind]
    joined = "and" if "where" in tail else "where"
    if kind in ("anti", "semi"):
        condition = condition.replace("a.", "")
    rows = db.execute(f"select {columns} {tail} {joined} ({condition})")
    return sorted(",".join("" if v is None else str(v) for v in row) for row in rows)


def run(r, args, piped):
    with open("a" if piped else os.devnull, "rb") as stdin:
        done = subprocess.run(args, stdin=stdin, capture_output=True, check=False)
    if done.returncode:
        sys.exit(f"{args}: {done.stderr.decode()}")
    return done.stdout.decode().splitlines()


def main():
    cases, seed = int(sys.argv[1]), int(sys.argv[2])
    r, db = random.Random(seed), sqlite3.connect(":memory:")
    db.execute("pragma case_sensitive_like = on")
    some = 0
    for case in range(cases):
        if case % 8 == 0:
            ordered = files(r, db)
        kind = r.choice(list(SQL))
        ours, theirs = r.choice(ALONE if kind in ("anti", "semi") else CONDITIONS)
        number = str(r.randint(0, 90))
        condition = ours.replace("{n}", number)
        piped = r.random() < 0.3
        args = [os.environ["XJOIN"], "--where", condition, "--stats=stats"]
        args += [*options(r, kind, ordered), "-" if piped else "a", "b"]
        got = run(r, args, piped)
        want = truth(db, kind, theirs.replace("{n}", number))
        lines = sorted(got[1:])
        if lines != want:
            sys.exit(f"seed {seed}, case {case}: {args}: {len(lines)} records, not {len(want)}")
        with open("stats", encoding="utf-8") as f:
            result = json.load(f)["result"]
        everything = len(truth(db, kind, "1"))
        if result["filtered"] != everything - len(want):
            sys.exit(f"seed {seed}, case {case}: {args}: filtered is {result['filtered']}")
        some += 0 < len(want) < everything
    if some < cases // 4:
        sys.exit(f"only {some} of {cases} conditions choose some records")


if __name__ == "__main__":
    main()
