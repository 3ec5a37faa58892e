#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares xgroup with a truth computed by exact fractions, for random records and options.

    xgroup_random.py XGROUP CASES SEED [CASE]

Each case is run with several numbers of threads, amounts of memory, and from a pipe: all results
must have the same bytes, and the first one the values of the truth.
"""
import bisect
import csv
import io
import math
import os
import random
import re
import subprocess
import sys
from fractions import Fraction

from xgroup_expressions import (as_number, as_text, compare, make_condition, make_number, make_text,
                                parse)

WORDS = ["", "a", "A", "b", "north", "South", 'say "x"', "c, d", "two\nlines", "\u00e9t\u00e9",
         "-1", "01", "1", "1.0", "  x", "\x01\x02", "zz" * 40]
FUNCTIONS = ["count", "sum", "mean", "min", "max", "first", "last", "distinct", "median", "p25",
             "p99.9", "p0", "p100", "~median", "~p25", "~p99.9", "var", "stddev", "mode", "list"]
PAIRS = ["corr", "slope", "r2"]
NUMBERS = {"sum", "mean", "median", "p25", "p99.9", "p0", "p100", "~median", "~p25", "~p99.9",
           "var", "stddev"}


class Number:
    """A value as xgroup reads it: exact with at most 9 decimal places, or an f64."""

    def __init__(self, text):
        digits = text.lstrip("+-")
        whole, _, places = digits.partition(".")
        self.real = not (digits.replace(".", "", 1).isdigit() and len(places) <= 9
                         and len(whole.lstrip("0")) <= 18)
        self.places = 0 if self.real else len(places)
        self.value = Fraction(float(text)) if self.real else Fraction(text)


def is_number(text):
    try:
        return math.isfinite(float(text)) and "_" not in text and not any(c.isspace() for c in text)
    except ValueError:
        return False


def rounded(value, places):
    """The text of a fraction, rounded half away from 0."""
    scaled = abs(value) * 10**places
    units = math.floor(scaled + Fraction(1, 2))
    text = str(units).rjust(places + 1, "0")
    text = text[:-places] + "." + text[-places:] if places else text
    return ("-" if value < 0 and units else "") + text


def inexact(number):
    """True if the value is not a number of units of 10^-9, so xgroup computes with f64."""
    units = number.value * 10**9
    return units.denominator != 1 or abs(units) >= 2**90


class Estimate(float):
    """A percentile that may differ: the two numbers that it is between by 1 / 128 of each."""

    def __new__(cls, numbers, part):
        ordered = sorted(n.value for n in numbers)
        at = Fraction(len(ordered) - 1) * part
        low, rest = ordered[math.floor(at)], at - math.floor(at)
        high = ordered[math.ceil(at)]
        self = super().__new__(cls, float(low + (high - low) * rest))
        self.error = float(abs(low) * (1 - rest) + abs(high) * rest) / 128 + 1e-12
        return self


def percentile(numbers, part):
    """Returns the value; whether it is one of the numbers; whether it is an f64."""
    ordered = sorted(numbers, key=lambda n: n.value)
    at = Fraction(len(ordered) - 1) * part
    low = ordered[math.floor(at)]
    if at == math.floor(at):
        return low.value, True, inexact(low)
    high = ordered[math.floor(at) + 1]
    value = low.value + (high.value - low.value) * (at - math.floor(at))
    return value, False, inexact(low) or inexact(high)


def order_of(text):
    """The order of min and max: numbers by value, then texts by their bytes."""
    if is_number(text):
        return (False, Number(text).value, b"")
    return (True, 0, text.encode())


def deviations(xs, ys):
    n = len(xs)
    return sum(x * y for x, y in zip(xs, ys)) - sum(xs) * sum(ys) / n


def aggregate(function, texts, others):
    """Returns the value: text, or a float that is compared by its value; None for NULL."""
    if function in PAIRS:
        pairs = [(a, b) for a, b in zip(texts, others) if a and b]
        if len(pairs) < 2:
            return None
        numbers = [(Number(a), Number(b)) for a, b in pairs]
        xs, ys = [a.value for a, _ in numbers], [b.value for _, b in numbers]
        xx, yy, xy = deviations(xs, xs), deviations(ys, ys), deviations(xs, ys)
        if not xx or (function != "slope" and not yy):
            return None
        if function == "slope":
            return float(xy / xx)
        r2 = xy * xy / (xx * yy)
        return float(r2) if function == "r2" else math.copysign(math.sqrt(r2), xy)
    values = [t for t in texts if t]
    if function == "count":
        return str(len(values))
    if function == "distinct":
        return str(len(set(values)))
    if not values:
        return None
    if function in ("first", "last"):
        return values[0 if function == "first" else -1]
    if function == "list":
        return ";".join(values)
    if function == "mode":
        counts = {v: values.count(v) for v in values}
        most = max(counts.values())
        return min((v.encode() for v in counts if counts[v] == most)).decode()
    if function in ("min", "max"):
        best = (min if function == "min" else max)(values, key=order_of)
        if not is_number(best):
            return best
        numbers = [Number(t) for t in values if is_number(t)]
        same = [n for n in numbers if n.value == Number(best).value]
        exact = [n for n in same if not n.real]
        value = same[0].value
        return rounded(value, max(n.places for n in exact)) if exact else float(value)
    numbers = [Number(t) for t in values]
    real, places, n = any(x.real for x in numbers), max(x.places for x in numbers), len(numbers)
    total = sum(x.value for x in numbers)
    if function == "sum":
        return float(total) if real else rounded(total, places)
    if function == "mean":
        return float(total / n) if real else rounded(total / n, max(6, places))
    if function in ("var", "stddev"):
        if n < 2:
            return None
        v = deviations([x.value for x in numbers], [x.value for x in numbers]) / (n - 1)
        return float(v) if function == "var" else math.sqrt(v)
    name = function.lstrip("~")
    part = Fraction(1, 2) if name == "median" else Fraction(name[1:]) / 100
    if name != function:
        return Estimate(numbers, part)
    value, exact, real = percentile(numbers, part)
    if real:
        return float(value)
    return rounded(value, places if exact else max(6, places))


def equal(got, want):
    if want is None:
        return got == ""
    if isinstance(want, Estimate):
        return got != "" and abs(float(got) - want) <= want.error
    if isinstance(want, float):
        return got != "" and math.isclose(float(got), want, rel_tol=1e-11, abs_tol=1e-40)
    return got == want


def random_number(rng, kind):
    if kind == 0:
        return str(rng.randint(-5, 5))
    if kind == 1:
        return f"{rng.uniform(-1000, 1000):.{rng.randint(0, 9)}f}"
    if kind == 2:
        return rng.choice(["1e3", "2.5E-7", "0.12345678901", "123456789012345678901", "-1e20",
                           "1e-30", "7"])
    if kind == 3:
        return str(10**15 + rng.randint(0, 9))
    return str(rng.randint(-10**17, 10**17))


def random_column(rng, n):
    """Values of a column: numbers of one kind or several, or words."""
    if rng.random() < 0.3:
        return "words", [rng.choice(WORDS) for _ in range(n)]
    kinds = rng.choice([[0], [1], [0, 1], [2], [0, 1, 2], [3], [4]])
    empty = rng.choice([0, 0, 0.2])
    return "numbers", ["" if rng.random() < empty else random_number(rng, rng.choice(kinds))
                       for _ in range(n)]


def key_of(text, letters):
    if "n" in letters:
        digits = re.match(r"[ \t\n]*(-?[0-9]*\.?[0-9]*)", text).group(1)
        return Fraction(digits if digits.strip("-.") else 0)
    return (text.upper() if "f" in letters else text).encode()


class Case:
    def __init__(self, seed, number):
        rng = self.rng = random.Random(f"{seed}/{number}")
        self.csv = rng.random() < 0.7
        self.header = rng.random() < 0.6
        n = rng.choice([0, 1, 2, 10, 100, 1000, 5000])
        columns = []
        nkeys = rng.choice([0, 1, 1, 1, 2, 3])
        spread = rng.choice([1, 3, 30, 1000, 10**6])
        for _ in range(nkeys):
            kind = rng.randint(0, 2)
            columns.append(("key", [rng.choice(WORDS) if kind == 0
                                    else ("" if kind == 1 else "k") + str(rng.randint(0, spread))
                                    for _ in range(n)]))
        for _ in range(rng.randint(1, 4)):
            columns.append(random_column(rng, n))
        if not self.csv:  # words without separators and line ends
            columns = [(k, [v.replace("\n", "_").replace(",", ";") for v in c])
                       for k, c in columns]
        self.columns, self.n, self.nkeys = columns, n, nkeys
        self.letters = [rng.choice(["", "", "", "r", "f", "n", "nr"]) for _ in range(nkeys)]
        self.names = [f"k{i}" for i in range(nkeys)]
        self.names += [f"v {i}" for i in range(len(columns) - nkeys)]
        self.aggregates = []
        for _ in range(rng.randint(1, 8)):
            v = rng.randrange(nkeys, len(columns))
            function = rng.choice(FUNCTIONS)
            numeric = [i for i in range(nkeys, len(columns)) if columns[i][0] == "numbers"]
            if function in NUMBERS and columns[v][0] != "numbers":
                function = "distinct"
            other = None
            if len(numeric) > 1 and rng.random() < 0.2:
                function, v, other = rng.choice(PAIRS), rng.choice(numeric), rng.choice(numeric)
            self.aggregates.append((function, v, other))
        self.make_expressions()
        self.hist = None
        if rng.random() < 0.3:
            numeric = [i for i in range(nkeys, len(columns)) if columns[i][0] == "numbers"]
            texts = [t for i in numeric for t in columns[i][1] if t]
            some = rng.sample(texts, min(len(texts), rng.randint(1, 20)))
            some += ["-2", "0", "1.5", "1e9"]
            by_value = {Number(t).value: t for t in some}
            if numeric:
                self.hist = rng.choice(numeric), [by_value[v] for v in sorted(by_value)]

    def make_expressions(self):
        """Conditions, and calculated columns behind the others; None: there is none."""
        rng, texts = self.rng, [c for _, c in self.columns]
        columns = [(f'"{name}"' if self.header else f"${i + 1}", i,
                    self.columns[i][0] == "numbers") for i, name in enumerate(self.names)]
        self.where, self.derived, self.having = None, {}, None
        if rng.random() < 0.4:
            self.where, is_true = make_condition(rng, columns, rng.randint(0, 3))
            kept = [row for row in zip(*texts) if is_true(row)]
            self.kept = [list(c) for c in zip(*kept)] or [[] for _ in texts]
        else:
            self.kept = texts
        rows = list(zip(*self.kept))
        for i in range(self.nkeys):
            if rng.random() < 0.2:
                self.derive(("key", i), make_text(rng, columns, rng.randint(1, 3)), rows)
        for i, (function, _, other) in enumerate(self.aggregates):
            if other is None and rng.random() < 0.3:
                make = make_number if function in NUMBERS else rng.choice([make_number, make_text])
                self.derive(("aggregate", i), make(rng, columns, rng.randint(1, 3)), rows)
        self.named = bool(self.derived) or rng.random() < 0.3
        if self.named and rng.random() < 0.4:
            i = rng.randrange(len(self.aggregates))
            at, function = self.nkeys + i, self.aggregates[i][0]
            name = rng.choice([f"a{i}", f'"a{i}"', f"${at + 1}"])
            if function[0] == "~":
                self.having = f"{name} is not null", lambda row: row[at] is not None
            elif function in NUMBERS or function in PAIRS or function == "count":
                limit = rng.choice(["0.34567", "7.777", "-1.23456"])
                self.having = (f"{name} > {limit}",
                               lambda row: compare(">", row[at], parse(limit), "number"))
            else:
                self.having = f"{name} is not null", lambda row: row[at] is not None

    def derive(self, key, expression, rows):
        text, value = expression
        # 1 is the first column, and 1 + 2 is refused.
        alone = is_number(text) or not text.strip("+-*/%|. 0123456789")
        text = f"number({text})" if alone else text
        values = [as_number(value(row)) if alone else value(row) for row in rows]
        self.derived[key] = text, [as_text(v) or "" for v in values]

    def values(self, what, i, column):
        """The texts of a key or an aggregate's argument, of the records that are grouped."""
        return self.derived[what, i][1] if (what, i) in self.derived else self.kept[column]

    def reference(self, i):
        name = self.names[i]
        if not self.header:
            return str(i + 1)
        return f'"{name}"' if self.rng.random() < 0.5 else name

    def arguments(self):
        args = ["--csv"] if self.csv else ["-t,"]
        args += ["--header"] if self.header else []
        for i, letters in enumerate(self.letters):
            key = self.reference(i)
            if ("key", i) in self.derived:
                key = f"{self.derived['key', i][0]} as e{i}"
            args += ["-k", key + (":" + letters if letters else "")]
        texts = []
        for i, (f, v, o) in enumerate(self.aggregates):
            text = self.reference(v) + (", " + self.reference(o) if o is not None else "")
            if ("aggregate", i) in self.derived:
                text = self.derived["aggregate", i][0]
            texts.append(f"{f}({text})")
            if self.named or (self.header and not self.csv and "," in text):
                texts[i] += f" as a{i}"
        if self.hist:
            name = " as h" if self.header and not self.csv else ""
            texts.append(f"hist({self.reference(self.hist[0])}, {', '.join(self.hist[1])}){name}")
        args += ["--where", self.where] if self.where else []
        args += ["--having", self.having[0]] if self.having else []
        return args + ["--agg", ", ".join(texts)]

    def text(self):
        out = io.StringIO()
        rows = list(zip(*[c for _, c in self.columns]))
        if self.header:
            rows.insert(0, tuple(self.names))
        for row in rows:
            fields = []
            for i, v in enumerate(row):
                quote = self.csv and (any(c in v for c in ',"\n') or self.rng.random() < 0.1)
                fields.append('"' + v.replace('"', '""') + '"' if quote else v)
            if len(fields) == 1 and not fields[0]:
                fields[0] = '""' if self.csv else ""
            out.write(",".join(fields) + "\n")
        return out.getvalue()

    def truth(self):
        groups = {}
        own = [self.values("key", i, i) for i in range(self.nkeys)]
        arguments = [self.values("aggregate", i, v) for i, (_, v, _) in enumerate(self.aggregates)]
        for row in range(len(self.kept[0])):
            key = tuple(key_of(own[i][row], self.letters[i]) for i in range(self.nkeys))
            groups.setdefault(key, []).append(row)
        if not self.nkeys and not groups:
            groups[()] = []
        keys = list(groups)
        for i in range(self.nkeys - 1, -1, -1):
            keys.sort(key=lambda k: k[i], reverse="r" in self.letters[i])
        for key in keys:
            rows = groups[key]
            result = [column[rows[0]] for column in own]
            for i, (function, _, other) in enumerate(self.aggregates):
                texts = [arguments[i][r] for r in rows]
                others = [self.kept[other][r] for r in rows] if other is not None else None
                result.append(aggregate(function, texts, others))
            if self.hist:
                bounds = [Number(t).value for t in self.hist[1]]
                counts = [0] * (len(bounds) + 1)
                for text in (self.kept[self.hist[0]][r] for r in rows):
                    if text:
                        counts[bisect.bisect_right(bounds, Number(text).value)] += 1
                result += [str(n) for n in counts]
            if not self.having or self.having[1]([as_field(v) for v in result]):
                yield result


def as_field(value):
    """A value of the result, as a condition of rows sees it."""
    return repr(value) if isinstance(value, float) else None if value is None else str(value)


def run(command, stdin=None):
    done = subprocess.run(command, input=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          check=False)
    if done.returncode or done.stderr:
        raise AssertionError(f"status {done.returncode}: {done.stderr.decode()}")
    return done.stdout


def check(xgroup, case):
    text, args = case.text().encode(), case.arguments()
    with open("in", "wb") as f:
        f.write(text)
    first = run([xgroup, "--parallel=1", *args, "in"])
    if case.csv:
        rows = list(csv.reader(io.StringIO(first.decode())))
    else:
        rows = [line.split(",") for line in first.decode().split("\n")[:-1]]
    rows = rows[1:] if case.header else rows
    wanted = list(case.truth())
    assert len(rows) == len(wanted), f"{len(rows)} rows instead of {len(wanted)}"
    for got, want in zip(rows, wanted):
        for g, w in zip(got, want):
            assert equal(g, w), f"{got}: {g!r} instead of {w!r}"
        assert len(got) == len(want), got
    for threads, memory in ((2, "1b"), (3, "2M"), (8, "8M")):
        again = run([xgroup, f"--parallel={threads}", "-S", memory, *args, "in"])
        assert again == first, f"--parallel={threads} -S {memory}: other bytes"
    assert run([xgroup, "-S", "1M", *args], text) == first, "pipe: other bytes"
    return args


def main():
    xgroup, cases, seed = os.path.abspath(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    numbers = [int(sys.argv[4])] if len(sys.argv) > 4 else range(cases)
    for number in numbers:
        case = Case(seed, number)
        try:
            check(xgroup, case)
        except (AssertionError, ValueError) as error:
            print(f"case {number} of seed {seed}: {error}\n{case.arguments()}", file=sys.stderr)
            return 1
    print(f"{len(numbers)} cases")
    return 0


sys.exit(main())
