# SPDX-License-Identifier: MIT
"""Holds predicates of tables against conditions of xsort.

xtable_where.py CASES SEED

A random CSV file is loaded as a table, and random conditions choose its records by xtable scan and
by xsort, which must be the same ones.  $XTABLE and $XSORT are the tools; files are made in the
current directory.
"""
import os
import random
import subprocess
import sys

WORDS = ["ab", "abc", "b", "Zab", "x y", "x_y", "a%", "it's", "aaa", "\u00e4b"]
COMPARISONS = ["=", "!=", "<>", "<", "<=", ">", ">="]
REFUSED = ("one side must be a column", "a column is missing in the condition")


def records(r, n):
    yield "n,a,b,d,w,t,h,k"
    for i in range(n):
        fields = [
            r.randint(-9, 9),
            r.randint(0, 60000),
            f"{r.randint(-500, 500) / 100:.2f}",
            r.choice(WORDS),
            f"t{r.choice(WORDS)}{i % 50}",
            f"20{r.randint(20, 24)}-{r.randint(1, 12):02}-{r.randint(1, 28):02}",
            r.randint(-(2**60), 2**60) if r.random() < 0.1 else r.randint(-9, 9),
        ]
        yield f"{i}," + ",".join("" if r.random() < 0.15 else str(f) for f in fields)


def quoted(text):
    return "'" + text.replace("'", "''") + "'"


class Maker:
    def __init__(self, r):
        self.r = r

    def choose(self, depth, simple, deep):
        r = self.r
        return r.choice(simple + deep)(depth - 1) if depth > 0 else r.choice(simple)(0)

    def number(self, depth):
        r = self.r
        sub = self.number
        return self.choose(
            depth,
            [
                lambda _: r.choice(["a", "b", "d", "$2", '"d"', "k"]),
                lambda _: r.choice(["a", "d"]),
                lambda _: r.choice(["0", "1", "-3", "2.5", "0.125", "1e2", "60000", ".5"]),
            ],
            [
                lambda d: f"({sub(d)} {r.choice('+-*/%')} {sub(d)})",
                lambda d: f"-{sub(d)}",
                lambda d: f"length({self.text(d)})",
                lambda d: f"round({sub(d)}, {r.randint(-1, 2)})",
                lambda d: f"abs({sub(d)})",
                lambda d: f"{r.choice(['year', 'month', 'day', 'weekday'])}(h)",
                lambda d: f"coalesce({sub(d)}, {sub(d)})",
                lambda d: f"if({self.condition(d)}, {sub(d)}, {sub(d)})",
                lambda d: "number(substr(t || '7', -1, 1))",
            ],
        )

    def text(self, depth):
        r = self.r
        return self.choose(
            depth,
            [
                lambda _: r.choice(["w", "t", "$5"]),
                lambda _: quoted(r.choice(WORDS) if r.random() < 0.7 else "ta"),
            ],
            [
                lambda d: f"{r.choice(['upper', 'lower'])}({self.text(d)})",
                lambda d: f"substr({r.choice('wt')}, 1, {r.randint(1, 3)})",
                lambda d: f"({self.text(d)} || {quoted(r.choice(WORDS))})",
                lambda d: f"replace({self.text(d)}, 'a', 'bb')",
                lambda d: f"coalesce({self.text(d)}, 'none')",
                lambda d: f"if({self.condition(d)}, {self.text(d)}, 'other')",
            ],
        )

    def pattern(self):
        r = self.r
        parts = ["a", "b", "t", "%", "_", "\\%", "x"]
        return quoted("".join(r.choice(parts) for _ in range(r.randint(1, 4))))

    def test(self, depth):
        r = self.r
        kind = r.random()
        one = self.number if kind < 0.6 else self.text
        left = r.choice(["a", "b", "d"] if one == self.number else ["w", "t"])
        if r.random() < 0.4:
            left = one(depth)
        signs = COMPARISONS + (["^="] if one == self.text else [])
        negated = r.choice(["", "not "])
        what = r.randint(0, 7)
        if what == 0:
            return f"{left} {negated}between {one(0)} and {one(depth)}"
        if what == 1:
            values = ", ".join(one(depth // 2) for _ in range(r.randint(1, 5)))
            return f"{left} {negated}in ({values})"
        if what == 2:
            return f"{self.text(depth)} {negated}like {self.pattern()}"
        if what == 3:
            return f"{left} is {negated}null"
        if what == 4:
            day = f"'20{r.randint(20, 24)}-0{r.randint(1, 9)}-15'"
            return f"h {r.choice(COMPARISONS)} {day}" if r.random() < 0.7 else f"{day} <= h"
        if what == 5:
            return f"{one(depth)} {r.choice(signs)} {left} {r.choice(signs)} {one(depth)}"
        return f"{left} {r.choice(signs)} {one(depth)}"

    def condition(self, depth):
        r = self.r
        if depth <= 0 or r.random() < 0.3:
            return self.test(depth)
        if r.random() < 0.2:
            return f"not ({self.condition(depth - 1)})"
        word = r.choice([" and ", " or ", " AND "])
        return word.join(f"({self.condition(depth - 1)})" for _ in range(r.randint(2, 3)))


def call(args):
    return subprocess.run(args, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)


def main():
    cases, seed = int(sys.argv[1]), int(sys.argv[2])
    r = random.Random(seed)
    xtable, xsort = os.environ["XTABLE"], os.environ["XSORT"]
    chosen = refused = 0
    for case in range(cases):
        if case % 50 == 0:
            layout = r.choice(["nsm", "pax", "dsm", "csm"])
            with open("in.csv", "w", encoding="utf-8") as f:
                f.writelines(line + "\n" for line in records(r, r.choice([40, 1500, 3000])))
            load = [xtable, "load", "t", "in.csv", "--csv", "--header", "--overwrite"]
            load.append(f"--layout={layout}")
            done = call(load)
            if done.returncode:
                sys.exit(f"{load}: {done.stderr.decode()}")
        condition = Maker(r).condition(r.randint(0, 3))
        threads = f"--parallel={r.choice([1, 2, 8])}"
        got = call([xtable, "scan", "t", "--where", condition, threads])
        want = call([xsort, "--csv", "--header", "-k", "n:n", "--where", condition, "in.csv"])
        if got.returncode == 2 and any(reason in got.stderr.decode() for reason in REFUSED):
            refused += 1
        elif want.returncode or got.returncode or got.stdout != want.stdout:
            sys.exit(
                f"seed {seed}, case {case}: {condition}: {got.returncode} {got.stderr.decode()}, "
                f"{want.returncode} {want.stderr.decode()}: "
                f"{len(got.stdout)} bytes, not {len(want.stdout)}"
            )
        else:
            chosen += 60 < len(got.stdout) < os.path.getsize("in.csv")
    if chosen < cases // 3 or refused > cases // 3:
        sys.exit(f"only {chosen} of {cases} conditions choose records, {refused} are refused")


if __name__ == "__main__":
    main()
