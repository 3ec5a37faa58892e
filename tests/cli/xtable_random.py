# SPDX-License-Identifier: MIT
"""Holds xtable against a naive program in memory, with random tables.

xtable_random.py round|ask|change|index|sqlite SEED TABLES

round: all columns of all records give the loaded file back.  ask: predicates, aggregates, columns
and records by number or value have the answers of lists in memory.  change: updates,
deletes and appends leave the records of the same changes in memory, also after a conversion.
index: scans of ranges through indexes print what other scans print.
sqlite: the same questions, answered by SQLite.  $XTABLE is the tool; files are made in the current
directory.
"""
import datetime
import math
import os
import random
import sqlite3
import subprocess
import sys
from decimal import Decimal
from fractions import Fraction

XTABLE = os.environ["XTABLE"]
LAYOUTS = ["nsm", "pax", "dsm", "csm"]
EPOCH = datetime.datetime(1970, 1, 1)


def run(args, status=0, **more):
    done = subprocess.run([XTABLE] + args, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **more)
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


class Column:
    """A column: its name, and a value and a field for each record; None is NULL."""

    def __init__(self, r, number, n, kinds, last):
        self.name = f"c{number + 1}"
        self.kind = r.choice(kinds)
        nulls = r.choice([0, 0, 0.1, 0.5])
        make = getattr(self, self.kind)(r)
        self.values = [None if r.random() < nulls else make() for _ in range(n)]
        if self.values[0] is None and last:  # or the separators before it would be trailing
            self.values[0] = make()

    def integer(self, r):
        bits = r.choice([4, 7, 8, 12, 16, 20, 32, 40, 62])
        low = r.choice([0, -(1 << bits) + 2])
        return lambda: r.randint(low, (1 << bits) - 2)

    def unsigned(self, r):
        return lambda: r.randint(0, (1 << 64) - 2)

    def decimal(self, r):
        self.places = r.choice([1, 2, 2, 4, 9])
        high = 10 ** r.choice([2, 4, 8, 14])
        return lambda: Fraction(r.randint(-high, high), 10 ** self.places)

    def real(self, r):
        return lambda: r.choice([r.random(), r.gauss(0, 1e30), r.gauss(0, 1e-300),
                                 float(r.randint(0, 99)), 1.5e300])

    def date(self, r):
        return lambda: EPOCH.date() + datetime.timedelta(r.randint(-20000, 40000))

    def time(self, r):
        self.places = r.choice([0, 3, 6])
        unit = 10 ** (6 - self.places)
        return lambda: EPOCH + datetime.timedelta(
            microseconds=r.randint(-10 ** 15, 4 * 10 ** 15) // unit * unit)

    def word(self, r):
        words = ["".join(r.choices("abcdefgh -", k=r.randint(1, 12))) for _ in range(9)]
        return lambda: r.choice(words)

    def letters(self, r):
        size = r.randint(1, 30)
        return lambda: "".join(r.choices("abcdefghijklmnop", k=size))

    def text(self, r):
        size = r.choice([3, 40, 400])
        return lambda: "".join(r.choices("abc ABC0129-.'", k=r.randint(1, size)))

    def mixed(self, r):
        return lambda: r.choice(["007", "1.50", "1.5", "-0", "+1", "0x1", "1e5", "2026-02-30", "x"])

    def show(self, v):
        if v is None:
            return ""
        if self.kind == "decimal":
            digits = abs(v.numerator * 10 ** self.places // v.denominator)
            whole, part = divmod(digits, 10 ** self.places)
            return f"{'-' if v < 0 else ''}{whole}.{part:0{self.places}}"
        if self.kind == "real":
            return number(v)
        if self.kind == "time":
            part = f"{v.microsecond:06}"[:self.places]
            return v.strftime("%Y-%m-%d %H:%M:%S") + ("." + part if part else "")
        return str(v)


def number(v):
    """The fewest digits that give the number back, in the form of %g."""
    if math.isnan(v) or math.isinf(v):
        return f"{v:g}"
    sign, digits, exponent = Decimal(repr(v)).as_tuple()
    text = "".join(map(str, digits)).rstrip("0") or "0"
    point = len(digits) + exponent  # digits before the point
    minus = "-" if sign else ""
    if v == 0:
        return minus + "0"
    if point > 17 or point < -3:
        rest = "." + text[1:] if text[1:] else ""
        return f"{minus}{text[0]}{rest}e{'+' if point > 0 else '-'}{abs(point - 1):02}"
    if point <= 0:
        return f"{minus}0.{'0' * -point}{text}"
    text = text.ljust(point, "0")
    return minus + text[:point] + ("." + text[point:] if text[point:] else "")


KINDS = ["integer", "integer", "unsigned", "decimal", "real", "date", "time", "word", "letters",
         "text", "mixed"]


class Table:
    """A random table, the bytes of its file, and the options that load it."""

    def __init__(self, r, kinds, csv=None):
        self.r = r
        self.n = r.choice([1, 2, 17, 300, 511, 512, 3000, 4088, 4089, 9000])
        columns = r.choice([1, 2, 3, 5, 8, 20] + ([300] if self.n <= 512 else []))
        if self.n * columns > 60000:
            self.n = 60000 // columns
        self.columns = [Column(r, i, self.n, kinds, i + 1 == columns) for i in range(columns)]
        self.csv = r.random() < 0.3 if csv is None else csv
        self.separator = "," if self.csv else r.choice(["|", "\t", ";"])
        self.trailing = not self.csv and r.random() < 0.2
        self.newline = r.choice(["\n", "\n", "\r\n"])
        self.final = r.random() < 0.8 or columns == 1
        self.header = r.random() < 0.3
        if self.header:
            for c in self.columns:
                c.name = r.choice(["", "x y ", "name"]) + c.name

    def field(self, text, null):
        if self.csv and (any(c in text for c in ',"\n\r') or (text == "" and not null)):
            return '"' + text.replace('"', '""') + '"'
        return text

    def record(self, fields):
        return self.separator.join(fields) + (self.separator if self.trailing else "")

    def lines(self, rows, columns=None):
        shown = self.columns if columns is None else columns
        return [self.record([self.field(c.show(c.values[i]), c.values[i] is None) for c in shown])
                for i in rows]

    def bytes(self):
        lines = self.lines(range(self.n))
        if self.header:
            lines.insert(0, self.record([c.name for c in self.columns]))
        text = self.newline.join(lines) + (self.newline if self.final else "")
        return text.encode()

    def ended(self, lines, rows):
        """The bytes of lines, of which the last one is that of the last row."""
        text = "".join(line + self.newline for line in lines)
        if not self.final and rows and rows[-1] == self.n - 1:
            text = text[:-len(self.newline)]
        return text.encode()

    def options(self):
        return (["--csv"] if self.csv else ["-t", self.separator]) + \
            (["--header"] if self.header else [])

    def layout(self):
        layout = self.r.choice(LAYOUTS)
        options = ["--layout", layout, "--parallel", str(self.r.choice([1, 2, 3, 8]))]
        if layout in ("dsm", "csm") and len(self.columns) > 2 and self.r.random() < 0.4:
            names = [f'"{c.name}"' for c in self.r.sample(self.columns, 2)]
            options += ["--together", ",".join(names)]
        widest = layout in ("nsm", "pax")
        if self.r.random() < 0.5:
            sizes = ["32K", "64K"] if widest else ["512", "1K", "4K", "16K", "64K"]
            options += ["--cell", self.r.choice(sizes)]
        elif widest:
            options += ["--cell", "64K"]
        return options

    def load(self, options, pipe):
        if os.path.exists("t"):
            os.unlink("t")
        if pipe:
            run(["load", "t"] + self.options() + options, input=self.bytes())
        else:
            with open("in", "wb") as f:
                f.write(self.bytes())
            run(["load", "t", "in"] + self.options() + options)


def same(reason, args, got, want):
    if got != want:
        fail(reason, args, got, want)


def round_trip(seed):
    r = random.Random(seed)
    t = Table(r, KINDS)
    options = t.layout()
    t.load(options, r.random() < 0.3)
    same(f"seed {seed}", t.options() + options,
         run(["scan", "t", "--parallel", str(r.choice([1, 2, 3, 8]))]), t.bytes())
    run(["check", "t"])


# Predicates: a text for xtable, and a function of a record number that returns True, False, None.

def literal(c, v):
    text = c.show(v)
    if c.kind in ("date", "time", "word", "letters", "text", "mixed"):
        return "'" + text.replace("'", "''") + "'"
    return text


def order(c, v):
    return v.encode() if isinstance(v, str) else v


COMPARE = {"=": lambda a, b: a == b, "!=": lambda a, b: a != b, "<": lambda a, b: a < b,
           "<=": lambda a, b: a <= b, ">": lambda a, b: a > b, ">=": lambda a, b: a >= b}


def comparison(r, t):
    c = r.choice(t.columns)
    known = [v for v in c.values if v is not None]
    op = r.choice(list(COMPARE))
    name = f'"{c.name}"'
    kind = r.random() if known else 0
    if kind < 0.1:
        return f"{name} is null", lambda i: c.values[i] is None
    if kind < 0.2:
        return f"{name} is not null", lambda i: c.values[i] is not None
    if kind < 0.35:
        some = [r.choice(known) for _ in range(r.randint(1, 4))]
        text = ", ".join(literal(c, s) for s in some)
        return f"{name} in ({text})", lambda i: None if c.values[i] is None else c.values[i] in some

    v = r.choice(known)

    def compare(i):
        if c.values[i] is None:
            return None
        return COMPARE[op](order(c, c.values[i]), order(c, v))
    return f"{name} {op} {literal(c, v)}", compare


def neither(a):
    return None if a is None else not a


def both(a, b):
    return False if a is False or b is False else None if a is None or b is None else True


def either(a, b):
    return True if a or b else None if a is None or b is None else False


def predicate(r, t, depth=2):
    if depth == 0 or r.random() < 0.4:
        return comparison(r, t)
    a, fa = predicate(r, t, depth - 1)
    b, fb = predicate(r, t, depth - 1)
    kind = r.choice(["and", "or", "not"])
    if kind == "not":
        return f"not ({a})", lambda i: neither(fa(i))
    if kind == "and":
        return f"({a}) and ({b})", lambda i: both(fa(i), fb(i))
    return f"({a}) or ({b})", lambda i: either(fa(i), fb(i))


def rounded(value, places):
    """A fraction with so many decimals, half away from 0."""
    scaled = abs(value) * 10 ** places
    digits = math.floor(scaled + Fraction(1, 2))
    whole, part = divmod(digits, 10 ** places)
    sign = "-" if value < 0 and digits else ""
    return f"{sign}{whole}.{part:0{places}}" if places else f"{sign}{whole}"


def aggregate(c, function, rows):
    values = [c.values[i] for i in rows if c.values[i] is not None]
    if function == "count":
        return str(len(values))
    if not values:
        return ""
    if function in ("min", "max"):
        return c.show((min if function == "min" else max)(values, key=lambda v: order(c, v)))
    places = c.places if c.kind == "decimal" else 0
    if c.kind == "real":
        total = sum(map(Fraction, values))
        return number(float(total if function == "sum" else total / len(values)))
    total = sum(values)
    return rounded(Fraction(total), places) if function == "sum" else \
        rounded(Fraction(total) / len(values), places + 6)


def questions(seed, kinds):
    """Yields a table that is loaded, and questions as options with their rows."""
    r = random.Random(seed)
    t = Table(r, kinds)
    t.load(t.layout(), False)
    for _ in range(6):
        text, true = predicate(r, t)
        yield r, t, text, [i for i in range(t.n) if true(i) is True]


def ask(seed):
    for r, t, text, rows in questions(seed, [k for k in KINDS if k != "mixed"]):
        header = [t.record([c.name for c in t.columns])] if t.header else []
        threads = ["--parallel", str(r.choice([1, 2, 3, 8]))]
        args = ["scan", "t", "--where", text] + threads
        args += ["--access", r.choice(["auto", "s-scan", "si-scan"])]
        lines = header + t.lines(rows)
        same(f"seed {seed}", args, run(args), t.ended(lines, rows))
        chosen = r.sample(t.columns, r.randint(1, min(4, len(t.columns))))
        lo = r.randint(0, t.n - 1)
        args = ["scan", "t", "--where", text, "--lo", str(lo), "--agg"]
        names, answers = ["count()"], [str(sum(i >= lo for i in rows))]
        for c in chosen:
            functions = ["count", "min", "max"]
            if c.kind in ("integer", "unsigned", "decimal", "real") and any(
                    v is not None for v in c.values):
                functions += ["sum", "avg"]
            function = r.choice(functions)
            names.append(f'{function}("{c.name}")')
            answers.append(aggregate(c, function, [i for i in rows if i >= lo]))
        args.append(",".join(names))
        got = run(args + threads).decode().rstrip("\r\n").split("\n")[-1].rstrip("\r")
        got = got[:-1] if t.trailing else got
        same(f"seed {seed}", args, got.encode(), t.separator.join(answers).encode())
        wanted = [r.randint(0, t.n + 2) for _ in range(r.choice([1, 5, 300]))]
        there = [i for i in wanted if i < t.n]
        names = ",".join(f'"{c.name}"' for c in chosen)
        args = ["get", "t", "--columns", names, "--keys=-"]
        got = run(args, status=int(there != wanted),
                  input="".join(f"{i}\n" for i in wanted).encode())
        want = "".join(line + t.newline for line in t.lines(there, chosen)).encode()
        same(f"seed {seed}", args, got, want)


def change_once(r, t, alive):
    """Makes a random change of the table and of the lists.  Returns the column that it updates."""
    kind = r.choice(["update", "update", "delete", "append"])
    rows = r.sample(sorted(alive), r.randint(0, min(len(alive), 50)))
    keys = "".join(f"{i}\n" for i in rows).encode()
    if kind == "delete":
        run(["delete", "t", "--keys=-"], input=keys)
        alive.difference_update(rows)
    elif kind == "update":
        c = r.choice(t.columns)
        v = r.choice(c.values)
        text = "null" if v is None else "'" + c.show(v).replace("'", "''") + "'"
        run(["update", "t", "--set", f'"{c.name}"={text}', "--keys=-"], input=keys)
        for i in rows:
            c.values[i] = v
    elif rows:
        lines = [t.record([c.name for c in t.columns])] if t.header else []
        text = "".join(line + t.newline for line in lines + t.lines(rows))
        run(["append", "t"], input=text.encode())
        for c in t.columns:
            c.values += [c.values[i] for i in rows]
        alive.update(range(t.n, t.n + len(rows)))
        t.n += len(rows)
    return c.name if kind == "update" and rows else None


def change(seed):
    r = random.Random(seed)
    t = Table(r, [k for k in KINDS if k != "mixed"])
    t.final = True
    t.load(t.layout(), False)
    alive = set(range(t.n))
    for _ in range(6):
        change_once(r, t, alive)
    header = [t.record([c.name for c in t.columns])] if t.header else []
    want = "".join(s + t.newline for s in header + t.lines(sorted(alive))).encode()
    same(f"seed {seed}", "changed", run(["scan", "t"]), want)
    run(["check", "t"])
    run(["convert", "t", "packed", "--overwrite"] + t.layout())
    same(f"seed {seed}", "converted", run(["scan", "packed"]), want)
    run(["check", "packed"])


TEXTS = ("word", "letters", "text")


def interval(r, c):
    """A predicate that is a range of a column."""
    values = [v for v in c.values if v is not None]

    def bound():
        text = literal(c, r.choice(values))
        if c.kind in TEXTS and text.count("'") == 2 and r.random() < 0.3:
            text = text[:r.randint(1, len(text) - 1)] + "'"
        if c.kind in ("decimal", "real") and r.random() < 0.2:
            text = r.choice(["0", "-0", "1e999", "-1e999", "0.005", "-7"])
        return text
    name = f'"{c.name}"'
    if c.kind in TEXTS and r.random() < 0.3:
        return f"{name} ^= {bound()}"
    parts = [f"{name} {r.choice(['=', '<', '<=', '>', '>='])} {bound()}" for _ in range(2)]
    return " and ".join(parts[:r.randint(1, 2)])


def index(seed):
    r = random.Random(seed)
    t = Table(r, [k for k in KINDS if k != "mixed"])
    t.final = True
    t.load(t.layout(), False)
    known = [c for c in t.columns if any(v is not None for v in c.values)]
    known = r.sample(known, min(len(known), 5))
    for c in known:
        run(["index", "t", c.name, "-o", c.name + ".index"])
    alive, stale = set(range(t.n)), set()
    for _ in range(4):
        for c in r.choices(known, k=4) if known else []:
            if all(v is None for v in c.values):
                continue
            text = interval(r, c)
            args = ["scan", "t", "--where", text, "--access"]
            want = run(args + ["s-scan"])
            args += ["index", "--index", c.name + ".index"]
            if c.name in stale:
                run(args, 2)
            else:
                same(f"seed {seed}", args, run(args), want)
        stale.add(change_once(r, t, alive))


def sqlite(seed):
    kinds = ["integer", "date", "word", "text", "letters"]
    for r, t, text, rows in questions(seed, kinds):
        db = sqlite3.connect(":memory:")
        names = ", ".join(f'"{c.name}"' for c in t.columns)
        db.execute(f"create table t (n integer primary key, {names})")
        marks = ",".join("?" * (len(t.columns) + 1))
        db.executemany(f"insert into t values ({marks})", (
            [i] + [v if isinstance(v, int) or v is None else c.show(v)
                   for c in t.columns for v in [c.values[i]]] for i in range(t.n)))
        want = [i for i, in db.execute(f"select n from t where {text} order by n")]
        args = ["scan", "t", "--where", text]
        lines = ([t.record([c.name for c in t.columns])] if t.header else []) + t.lines(want)
        same(f"seed {seed}", args, run(args), t.ended(lines, want))


if __name__ == "__main__":
    sys.set_int_max_str_digits(0) if hasattr(sys, "set_int_max_str_digits") else None
    TEST = {"round": round_trip, "ask": ask, "change": change, "index": index,
            "sqlite": sqlite}[sys.argv[1]]
    for number_of_table in range(int(sys.argv[3])):
        TEST(int(sys.argv[2]) + number_of_table)
