# SPDX-License-Identifier: MIT
"""Holds xtable against a naive program in memory, with random tables.

xtable_random.py round|ask|sqlite SEED TABLES

round: all columns of all records give the loaded file back, also after a conversion.  ask:
predicates, aggregates, columns and records by number or value have the answers of lists in memory.
sqlite: the same questions and changes, answered by SQLite.  $XTABLE is the tool; files are made in
the current directory.  xtable_history.py has sequences of changes.
"""
import os
import random
import sqlite3
import subprocess
import sys
from xtable_predicates import predicate
from xtable_values import INFERRED, NAMED, REALS, Column

XTABLE = os.environ["XTABLE"]
QUOTED = frozenset(',"\n\r')  # in CSV
LAYOUTS = ["nsm", "pax", "dsm", "csm"]
ORDERED = [k for k in INFERRED if k not in ("text", "mixed")]  # whose order is known
FULL_CELL = ("exceed the payload", "has at most", "does not fit", "more than a cell")
SIZES = [0, 1, 2, 17, 300, 511, 512, 3000, 4088, 4089, 9000]


def call(args, **more):
    return subprocess.run([XTABLE] + args, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **more)


def run(args, status=0, **more):
    done = call(args, **more)
    if done.returncode != status:
        sys.exit(f"xtable {args}: status {done.returncode}, not {status}: {done.stderr.decode()}")
    return done.stdout


def fail(reason, args, got, want):
    with open("got", "wb") as f:
        f.write(got)
    with open("want", "wb") as f:
        f.write(want)
    lines = zip(got.split(b"\n"), want.split(b"\n"))
    first = next((pair for pair in lines if pair[0] != pair[1]), (got[-80:], want[-80:]))
    sys.exit(f"{reason}: {args}: {first[0][:300]!r}, not {first[1][:300]!r}")


def same(reason, args, got, want):
    if got != want:
        fail(reason, args, got, want)


class Table:
    """A random table, the bytes of its file, and the options that load it."""

    def __init__(self, r, kinds, final=None, sizes=SIZES):
        self.r = r
        self.n = r.choice(sizes)
        columns = r.choice([1, 2, 3, 5, 8, 20] + ([300] if self.n <= 512 else []))
        if self.n * columns > 60000:
            self.n = 60000 // columns
        self.columns = [Column(r, i, self.n, kinds, i + 1 == columns) for i in range(columns)]
        self.csv = r.random() < 0.4
        self.separator = "," if self.csv else r.choice(["|", "\t", ";"])
        self.trailing = not self.csv and r.random() < 0.2
        self.newline = r.choice(["\n", "\n", "\r\n"])
        self.final = (r.random() < 0.8 if final is None else final) or columns == 1 or not self.n
        self.header = r.random() < 0.3
        if not self.final and self.n == 1 and not self.header:
            self.newline = "\n"  # the text has none, so nothing says how lines end
        if not self.n and not self.header:
            self.newline = "\n"
            self.trailing = False
        if self.header:
            for c in self.columns:
                c.name = r.choice(["", "x y ", "name"]) + c.name
        self.plain = False  # predicates are those of SQL
        self.settle()

    def settle(self):
        """Removes what lines cannot have: empty texts, separators, ends of lines."""
        for c in self.columns:
            if c.kind in ("quoted", "chars") and not self.csv:
                gone = str.maketrans("", "", "\n\r" + self.separator)
                c.values = [None if v is None else v.translate(gone) + "x" for v in c.values]
                if c.kind == "chars":
                    c.type = "char(41)"

    def field(self, text, null):
        if self.csv and (not QUOTED.isdisjoint(text) or (text == "" and not null)):
            return '"' + text.replace('"', '""') + '"'
        return text

    def record(self, fields):
        return self.separator.join(fields) + (self.separator if self.trailing else "")

    def lines(self, rows, columns=None):
        shown = self.columns if columns is None else columns
        rows = list(rows)
        return [self.record(f) for f in zip(*(self.fields(c, rows) for c in shown))]

    def fields(self, c, rows):
        """The fields of a column; each value is spelled once."""
        out = []
        for v in (c.values[i] for i in rows):
            key = repr(v) if c.kind in REALS else v  # -0 is another spelling
            text = c.spelled.get(key)
            if text is None:
                text = c.spelled[key] = self.field(c.show(v), v is None)
            out.append(text)
        return out

    def headers(self, columns=None):
        shown = self.columns if columns is None else columns
        return [self.record([c.name for c in shown])] if self.header else []

    def bytes(self):
        text = self.newline.join(self.headers() + self.lines(range(self.n)))
        ended = self.final and (self.n or self.header)
        return (text + (self.newline if ended else "")).encode()

    def ended(self, lines, rows):
        """The bytes of lines, of which the last one is that of the last row."""
        text = "".join(line + self.newline for line in lines)
        if not self.final and rows and rows[-1] == self.n - 1:
            text = text[:-len(self.newline)]
        return text.encode()

    def options(self):
        types = [f'"{c.name}":{c.type or "text"}' for c in self.columns if c.type or not self.n]
        return ["--exact"] + (["--csv"] if self.csv else ["-t", self.separator]) + \
            (["--header"] if self.header else []) + (["--types", ",".join(types)] if types else [])

    def layout(self):
        """Options of a layout."""
        layout = self.r.choice(LAYOUTS)
        options = ["--layout", layout] + resources(self.r)
        names = [f'"{c.name}"' for c in self.r.sample(self.columns, len(self.columns))]
        while layout in ("dsm", "csm") and len(names) > 2 and self.r.random() < 0.4:
            size = self.r.randint(2, min(len(names), 5))
            options += ["--together", ",".join(names[:size])]
            names = names[size:]
        if self.r.random() < 0.6:
            options += ["--cell", self.r.choice(["512", "1K", "4K", "16K", "64K"])]
        if self.r.random() < 0.2:
            options += [f"--records-per-page={self.r.choice([1, 7, 63, 1000])}"]
        if self.r.random() < 0.1:
            options += ["--volume", "sim:" + self.r.choice(["cheetah36es-like", "flash"])]
        return options

    def make(self, args, options, **more):
        """Runs a command that makes a table; if its records do not fit a cell, in larger ones."""
        done = call(args + options, **more)
        if done.returncode and any(t in done.stderr.decode() for t in FULL_CELL):
            options = [o for o in options if not o.startswith("--records-per-page")]
            run(args + options + ["--cell=64K"], **more)
        elif done.returncode:
            sys.exit(f"xtable {args + options}: {done.stderr.decode()}")

    def load(self, pipe=False):
        if os.path.exists("t"):
            os.unlink("t")
        with open("in", "wb") as f:
            f.write(self.bytes())
        args = ["load", "t"] + self.options()
        self.make(args if pipe else args + ["in"], self.layout(),
                  **({"input": self.bytes()} if pipe else {}))


def resources(r):
    return ["--parallel", str(r.choice([1, 2, 3, 8])), "-S", r.choice(["4M", "16M", "64M"])]


def round_trip(seed):
    r = random.Random(seed)
    t = Table(r, r.choice([INFERRED, NAMED, INFERRED + NAMED]))
    t.load(r.random() < 0.3)
    same(f"seed {seed}", t.options(), run(["scan", "t"] + resources(r)), t.bytes())
    run(["check", "t"])
    t.make(["convert", "t", "u", "--overwrite"], t.layout())
    same(f"seed {seed}", "converted", run(["scan", "u"] + resources(r)), t.bytes())
    run(["check", "u"])


def fields_of(t, line):
    """The fields of the last line of an output, with the ends of lines removed."""
    line = line.decode("utf-8", "surrogateescape")
    if t.header:
        line = line.split(t.newline, 1)[1]
    line = line[:-len(t.newline)] if line.endswith(t.newline) else line
    return line[:-1] if t.trailing else line


def ask_scan(seed, r, t, text, rows):
    lo, hi = sorted([r.randint(0, t.n + 5), r.randint(0, t.n + 5)])
    limit = r.choice([10 ** 19, 0, 1, 7, t.n])
    rows = [i for i in rows if lo <= i < hi][:limit]
    args = ["scan", "t", "--where", text, "--access", r.choice(["auto", "s-scan", "si-scan"])]
    args += ["--lo", str(lo), "--hi", str(hi), "--limit", str(limit)] + resources(r)
    same(f"seed {seed}", args, run(args), t.ended(t.headers() + t.lines(rows), rows))


def ask_aggregates(seed, r, t, text, rows):
    lo = r.randint(0, t.n)
    args = ["scan", "t", "--where", text, "--lo", str(lo)] + resources(r)
    names, answers = ["count()"], [str(sum(i >= lo for i in rows))]
    for c in r.sample(t.columns, r.randint(1, min(4, len(t.columns)))):
        function = r.choice(c.functions())
        names.append(f'{function}("{c.name}")')
        some = [i for i in rows if i >= lo]
        answer = c.aggregate(function, some)
        empty = all(c.values[i] is None for i in some)
        answers.append(t.field(answer, empty))
    args += ["--agg", ",".join(names)]
    got = fields_of(t, run(args)).encode()
    same(f"seed {seed}", args, got, t.separator.join(answers).encode())


def ask_get(seed, r, t):
    chosen = r.sample(t.columns, r.randint(1, min(4, len(t.columns))))
    wanted = [r.randint(0, t.n + 2) for _ in range(r.choice([1, 5, 300]))]
    there = [i for i in wanted if i < t.n]
    args = ["get", "t", "--columns", ",".join(f'"{c.name}"' for c in chosen), "--keys=-"]
    got = run(args + resources(r), status=int(there != wanted),
              input="".join(f"{i}\n" for i in wanted).encode())
    want = "".join(line + t.newline for line in t.lines(there, chosen)).encode()
    same(f"seed {seed}", args, got, want)


def ask_key(seed, r, t):
    """Records by the values of a column, through its index."""
    c = r.choice(t.columns)
    known = [v for v in c.values if v is not None]
    keys = [r.choice(known) for _ in range(r.choice([1, 20]))] if known else []
    keys = [k for k in keys if not set(c.show(k)) & set("\0\n\r")]
    if not keys:
        return
    run(["index", "t", c.name, "-o", "t.index"] + resources(r))
    numbers = {}
    for i, v in enumerate(c.values):
        numbers.setdefault(c.order(v), []).append(i)
    there = [i for k in keys for i in numbers[c.order(k)]]
    args = ["get", "t", "--by", c.name, "--index=t.index", "--keys=-"]
    got = run(args + resources(r), input="".join(f"{c.show(k)}\n" for k in keys).encode())
    same(f"seed {seed}", args + keys, got, "".join(s + t.newline for s in t.lines(there)).encode())


def ask(seed):
    r = random.Random(seed)
    t = Table(r, r.choice([ORDERED, NAMED, ORDERED + NAMED]))
    t.load()
    for _ in range(4):
        text, true = predicate(r, t)
        rows = [i for i in range(t.n) if true(i) is True]
        ask_scan(seed, r, t, text, rows)
        ask_aggregates(seed, r, t, text, rows)
    ask_get(seed, r, t)
    ask_key(seed, r, t)


def sqlite_table(t):
    db = sqlite3.connect(":memory:")
    names = ", ".join(f'"{c.name}"' for c in t.columns)
    db.execute(f"create table t (n integer primary key, {names})")
    marks = ",".join("?" * (len(t.columns) + 1))
    db.executemany(f"insert into t values ({marks})", (
        [i] + [v if isinstance(v, (int, float)) or v is None else c.show(v)
               for c in t.columns for v in [c.values[i]]] for i in range(t.n)))
    return db


def sqlite_aggregates(seed, t, db, text):
    functions = [(f, c) for c in t.columns[:6] for f in ("count", "min", "max")]
    functions += [("sum", c) for c in t.columns[:6] if c.kind == "integer" and c.known() and
                  sum(abs(v or 0) for v in c.values) < 1 << 63]
    names = ",".join(f'{f}("{c.name}")' for f, c in functions)
    answers = db.execute(f"select {names} from t where {text}").fetchone()
    want = [t.field(number_or_text(c, a), a is None) for (_, c), a in zip(functions, answers)]
    args = ["scan", "t", "--where", text, "--agg", names]
    same(f"seed {seed}", args, fields_of(t, run(args)).encode(), t.separator.join(want).encode())


def number_or_text(c, answer):
    if isinstance(answer, float):
        return c.show(answer + 0.0)
    return "" if answer is None else str(answer)


def sqlite(seed):
    r = random.Random(seed)
    t = Table(r, ["integer", "date", "word", "named", "letters", "binary"], final=True)
    t.plain = True
    t.load()
    db = sqlite_table(t)
    for _ in range(4):
        text, _ = predicate(r, t)
        rows = [i for i, in db.execute(f"select n from t where {text} order by n")]
        args = ["scan", "t", "--where", text]
        same(f"seed {seed}", args, run(args + resources(r)),
             t.ended(t.headers() + t.lines(rows), rows))
        sqlite_aggregates(seed, t, db, text)
    sqlite_change(seed, r, t, db)


def sqlite_change(seed, r, t, db):
    """Updates and deletes records by predicates, in both."""
    for kind in ("update", "delete"):
        text, _ = predicate(r, t)
        c = r.choice(t.columns)
        known = [v for v in c.values if v is not None]
        if not known:
            continue
        v = c.literal(r.choice(known))
        if kind == "update":
            n = db.execute(f'update t set "{c.name}" = {v} where {text}').rowcount
            args = ["update", "t", f'--set="{c.name}"={v}', "--where", text]
            run(args + resources(r), int(not n))
        else:
            n = db.execute(f"delete from t where {text}").rowcount
            run(["delete", "t", "--where", text] + resources(r), int(not n))
    rows = db.execute("select * from t order by n").fetchall()
    lines = [t.record([t.field(c.show(v) if isinstance(v, float) else "" if v is None else str(v),
                               v is None) for c, v in zip(t.columns, row[1:])]) for row in rows]
    want = "".join(line + t.newline for line in t.headers() + lines).encode()
    same(f"seed {seed}", "changed", run(["scan", "t"]), want)


if __name__ == "__main__":
    TEST = {"round": round_trip, "ask": ask, "sqlite": sqlite}[sys.argv[1]]
    for number_of_table in range(int(sys.argv[3])):
        TEST(int(sys.argv[2]) + number_of_table)
