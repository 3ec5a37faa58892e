# SPDX-License-Identifier: MIT
"""Holds random sequences of alterations and other changes of tables against lists in memory.

xtable_alter.py SEED TABLES

Each step alters columns, appends, updates or deletes records, or builds an index.  After it a scan
gives the records of the lists, "xtable check" finds nothing, and indexes have the answers of a scan
or are refused.  $XTABLE is the tool; files are made in the current directory.
"""
import os
import random
import subprocess
import sys

TYPES = {  # those that have all values of a type, and how a random value is written
    "i8": ["i16", "i32", "i64", "f64", "text", "char(9)"], "i32": ["i64", "dec64(0)", "text"],
    "u16": ["u32", "u64", "i64"], "dec16(2)": ["dec32(2)", "text"],
    "text": ["text"], "char(6)": ["char(12)", "text", "dict16"], "dict8": ["dict16", "text"],
}
LAYOUTS = ["csm", "csm", "dsm", "nsm", "pax"]


def value(r, kind):
    if r.random() < 0.1:
        return ""
    if kind in ("i8", "u16", "i32"):
        return str(r.randrange(100))
    if kind == "dec16(2)":
        return f"{r.randrange(300)}.{r.randrange(100):02}"
    if kind == "text":
        return "x" + "long" * r.choice([0, 1, 2, 300]) + str(r.randrange(1000))
    return r.choice(["red", "green", "blue", "z"])


def call(args):
    return subprocess.run([os.environ["XTABLE"], *args], capture_output=True, check=False)


class Altered:
    """A table and its lists: columns with name, first type, type and values; records that exist."""

    def __init__(self, seed):
        self.r, self.seed, self.log, self.made = random.Random(seed), seed, [], 0
        n = self.r.choice([0, 1, 30, 511, 600, 3000, 5000])
        self.exists = [True] * n
        self.columns = [self.new_column(n) for _ in range(self.r.choice([1, 1, 2, 3, 6]))]
        self.columns[0][1] = self.columns[0][2] = "i32"
        self.columns[0][3] = [value(self.r, "i32") or "5" for _ in range(n)]
        self.write("in", range(n))
        layout = self.r.choice(LAYOUTS)
        options = ["--layout=" + layout] + self.r.choice([[], ["--cell=512"], ["--cell=1K"]])
        if "--cell=512" not in options and self.r.random() < 0.5:
            options.append("--records-per-page=" + self.r.choice(["7", "100", "2048", "3000"]))
        if layout in ("csm", "dsm") and len(self.columns) > 2 and self.r.random() < 0.5:
            options.append("--together=" + ",".join(c[0] for c in self.columns[1:3]))
        types = ",".join(f"{c[0]}:{c[2]}" for c in self.columns)
        options.append("--types=" + types)
        self.run(["load", "t", "in", "--csv", "--header", "--overwrite"] + options)

    def new_column(self, n):
        kind = self.r.choice(list(TYPES))
        self.made += 1
        return [f"c{self.made}", kind, kind, [value(self.r, kind) for _ in range(n)]]

    def spare(self, c):
        """The first column has no NULL, so no line is blank, and stays."""
        return "5" if c is self.columns[0] else ""

    def lines(self, rows):
        names = ",".join(c[0] for c in self.columns)
        return [names] + [",".join(c[3][i] for c in self.columns) for i in rows]

    def write(self, path, rows):
        with open(path, "w", encoding="ascii") as f:
            f.write("".join(line + "\n" for line in self.lines(rows)))

    def run(self, args, refused=()):
        self.log.append(" ".join(args)[:300])
        done = call(args)
        if done.returncode and not any(text in done.stderr.decode() for text in refused):
            self.die(done.stderr.decode())
        return done

    def die(self, text):
        sys.exit("\n".join(self.log + [f"seed {self.seed}: {text}"]))

    def alter(self):
        r, n = self.r, len(self.exists)
        args = ["alter", "t", "-S", r.choice(["4M", "64M"])]
        columns = [list(c) for c in self.columns]
        if r.random() < 0.5 and len(columns) > 1:
            gone = r.sample(range(1, len(columns)), r.randrange(1, min(3, len(columns))))
            args.append("--drop=" + ",".join(columns[i][0] for i in gone))
            columns = [c for i, c in enumerate(columns) if i not in gone]
        kept, wider = list(columns), []
        for c in kept:
            if r.random() < 0.2:
                self.made += 1
                args.append(f"--rename={c[0]}=c{self.made}")
                c.append(c[0])
                c[0] = f"c{self.made}"
            if r.random() < 0.3 and c[1] == c[2] and c[1] != "text":
                c[2] = r.choice(TYPES[c[1]])
                wider.append(f"{c[4] if len(c) > 4 else c[0]}:{c[2]}")
        if wider:
            args.append("--types=" + ",".join(wider))
        if r.random() < 0.6 or len(args) == 4:
            fresh = [self.new_column(n) for _ in range(r.choice([1, 1, 2, 4]))]
            args.append("--add=" + ",".join(f"{c[0]}:{c[2]}" for c in fresh))
            for c in fresh:
                one = value(r, c[1])
                c[3] = [one] * n
                if one:
                    args.append(f"--set={c[0]}={one}")
            columns += fresh
        refused = ["does not fit a cell", "no space for", "would be left, with A-pages"]
        done = self.run(args, refused)
        if not done.returncode:
            self.columns = [c[:4] for c in columns]

    def append(self):
        n = self.r.choice([1, 40, 700])
        first = len(self.exists)
        for c in self.columns:
            c[3] += [value(self.r, c[1]) or self.spare(c) for _ in range(n)]
        self.exists += [True] * n
        self.write("more", range(first, first + n))
        self.run(["append", "t", "more"])

    def update(self):
        rows = [i for i in range(len(self.exists)) if self.exists[i] and self.r.random() < 0.05]
        c = self.r.choice(self.columns)
        new = value(self.r, c[1]) or self.spare(c)
        if rows:
            self.run(["update", "t", f"--set={c[0]}={new or 'null'}"] + [str(i) for i in rows])
        for i in rows:
            c[3][i] = new

    def delete(self):
        rows = [i for i in range(len(self.exists)) if self.exists[i] and self.r.random() < 0.03]
        if rows:
            self.run(["delete", "t"] + [str(i) for i in rows])
        for i in rows:
            self.exists[i] = False

    def index(self):
        self.run(["index", "t", self.r.choice(self.columns)[0]])

    def check(self):
        done = self.run(["check", "t"])
        rows = [i for i, there in enumerate(self.exists) if there]
        if self.run(["scan", "t"]).stdout.decode().splitlines() != self.lines(rows):
            self.die("a scan has other records")
        for c in self.columns:
            wanted = next((c[3][i] for i in rows if c[3][i]), None)
            if not os.path.exists(f"t.{c[0]}.index") or wanted is None:
                continue
            found = call(["get", "t", "--by=" + c[0], wanted])
            right = [line for line, i in zip(self.lines(rows)[1:], rows) if c[3][i] == wanted]
            if found.returncode == 2:
                if b"index" not in found.stderr:
                    self.die(found.stderr.decode())
            elif found.stdout.decode().splitlines() != right:
                self.die(f"an index of {c[0]} has other records: {done}")


def main():
    for seed in range(int(sys.argv[1]), int(sys.argv[1]) + int(sys.argv[2])):
        for name in os.listdir("."):
            if name.endswith(".index"):
                os.unlink(name)
        t = Altered(seed)
        t.check()
        for _ in range(8):
            t.r.choice([t.alter, t.alter, t.alter, t.append, t.update, t.delete, t.index])()
            t.check()


main()
