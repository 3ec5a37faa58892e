# SPDX-License-Identifier: MIT
"""Holds xjoin --json against joins by the json module.

xjoin_json.py CASES SEED

Random files of JSON lines are joined by random paths, types, algorithms, amounts of memory and
numbers of threads, from files and pipes.  Texts of numbers and the order of members must stay.
$XJOIN is the tool; files are made in the current directory.
"""
import csv
import decimal
import io
import json
import os
import random
import re
import subprocess
import sys

NAMES = ["id", "k", "a", "a_2", "a_2_2", "é", "x y", 'q"', "\\", "u", "t"]
TEXTS = ["1", "é", "😀", "", "b c", 'q"', "\\", "x\ny,z"]
# Paths of file 1 and 2.
PATHS = [
    ([".id"], [".id"]),
    ([".id"], [".k"]),
    ([".u.id"], [".id"]),
    ([".t[0]"], [".id"]),
    ([".id", ".k"], [".id", ".k"]),
    ([".id", ".u.id"], [".k", ".id"]),
    (['."é"'], ['."\\u00e9"']),
    (['."x y"', ".id"], ['."x y"', ".k"]),
    (["."], ["."]),
]
WHERE_PATHS = [".id", ".k", ".a_2", '."é"', '."q\\""', ".u.t", ".t[1]", '."x y"']
STEP = r'\.("(?:[^"\\]|\\.)*"|[^.\["]+)'
PAIRS = ("inner", "left", "right", "full")
TYPES = (*PAIRS, "semi", "anti")
ABSENT = object()  # the record of a file without a partner


class Number(str):
    """A number as it is written, behind a #, so that it is not the same text."""


class Members(list):
    """The members of an object, in their order."""


def number_of(text):
    return Number("#" + text)


def read(line):
    return json.loads(line, object_pairs_hook=Members, parse_int=number_of, parse_float=number_of)


def show(v):
    return json.dumps(v, ensure_ascii=False)


def canon(v):
    """Returns what is equal for equal values."""
    if isinstance(v, Members):
        return ("object", frozenset((n, canon(w)) for n, w in dict(v).items()))
    if isinstance(v, list):
        return ("array", tuple(map(canon, v)))
    if isinstance(v, Number):
        return ("number", decimal.Decimal(v[1:]))
    return (type(v).__name__, v)


def name_of(step):
    return json.loads(step) if step[0] == '"' else step


def find(v, path):
    for name, index in re.findall(STEP + r"|\[(\d+)\]", path):
        if name:
            v = dict(v).get(name_of(name)) if isinstance(v, Members) else None
        else:
            inside = isinstance(v, list) and not isinstance(v, Members) and int(index) < len(v)
            v = v[int(index)] if inside else None
    return v


def key(v, paths):
    """Returns the key, or None if a part of it is missing or null."""
    parts = [find(v, path) for path in paths]
    return None if None in parts else tuple(map(canon, parts))


def member(path):
    """Returns the name of a member of the whole value, or None."""
    m = re.fullmatch(STEP, path)
    return m and name_of(m[1])


def merge(left, right, paths):
    keys = {member(a) for a, b in zip(*paths) if member(a) == member(b)} - {None}
    names = {n for n, _ in left}
    shared = {n for n, _ in right if n in names and n not in keys}
    taken = names | {n for n, _ in right}
    suffix = "_2"
    while any(n + suffix in taken for n in shared):
        suffix += "_2"
    rest = [(n + suffix if n in shared else n, v) for n, v in right if n not in keys]
    return Members(left + rest)


def text_at(record, path):
    """Returns the text of a value, None if it has none; other arrays and objects than empty ones
    are a text that nothing equals."""
    v = None if record is ABSENT else find(record, path)
    if isinstance(v, bool):
        return str(v).lower()
    if isinstance(v, list):
        return "\0"
    if isinstance(v, Number):
        return v[1:]
    return v or None


class Where:
    """A random condition: comparisons of members with texts, joined by and."""

    def __init__(self, r, paths, kind):
        self.paths, self.parts, texts = paths, [], []
        sides = (0,) if kind in ("semi", "anti") else (0, 1)
        for _ in range(r.choice([1, 1, 2])):
            side = r.choice([None, *sides])
            path = paths[0][0] if side is None else r.choice(WHERE_PATHS)
            want = r.choice([None, None, "1", "2.0", "é", "true"])
            self.parts.append((side, path, want))
            name = path if side is None else f"{side + 1}{path}"
            if name.isascii() and r.random() < 0.5:
                name = '"' + name.replace('"', '""') + '"'
            if side is None and path == ".":
                name = '"."'
            texts.append(f"{name} is null" if want is None else f"{name} <> '{want}'")
        self.text = " and ".join(texts)

    def is_true(self, records):
        for side, path, want in self.parts:
            if side is None:
                side = int(records[0] is ABSENT)
                path = self.paths[side][0]
            text = text_at(records[side], path)
            if (text is not None) if want is None else text in (None, want):
                return False
        return True


def name_at(path, file):
    """Returns the name of a column."""
    if path == ".":
        return ("left", "right")[file]
    m = re.fullmatch(r'\.("(?:[^"\\]|\\.)*")', path)
    return json.loads(m[1]) if m else path[1:]


class Columns:
    """Random columns of the result, written as objects or as CSV."""

    def __init__(self, r, paths):
        self.paths, self.csv = paths, r.random() < 0.5
        while True:
            self.at = [r.choice([None, 0, 0, 1, 1]) for _ in range(r.randrange(1, 6))]
            self.at = [(f, r.choice([*WHERE_PATHS, "."])) for f in self.at]
            self.names = [(f or 0, n) for f, path in self.at for n in self.names_of(f, path)]
            names = self.suffixed()
            if len(set(names)) == len(names) and len(set(self.names)) == len(names):
                break
        self.names = names
        texts = [r.choice(["0", "0"]) if f is None else f"{f + 1}{path}" for f, path in self.at]
        self.text = r.choice([",", " "]).join(texts)

    def names_of(self, file, path):
        return [name_at(p, 0) for p in self.paths[0]] if file is None else [name_at(path, file)]

    def suffixed(self):
        others = [{n for f, n in self.names if f != file} for file in (0, 1)]
        return [n + "_2" if f and n in others[1] else n for f, n in self.names]

    def values(self, records):
        found = []
        for file, path in self.at:
            side = int(records[0] is ABSENT) if file is None else file
            for p in self.paths[side] if file is None else [path]:
                found.append(None if records[side] is ABSENT else find(records[side], p))
        return found

    def row(self, records):
        values = self.values(records)
        return [cell(v) for v in values] if self.csv else Members(zip(self.names, values))

    def read(self, text):
        """Reads a result in CSV."""
        rows = list(csv.reader(io.StringIO(text)))
        assert rows[:1] == [self.names], rows[:1]
        return [[cell(read(c)) if c[:1] in ("[", "{") else c for c in row] for row in rows[1:]]


def cell(v):
    """Returns the text of a value; a list as it is shown."""
    if isinstance(v, list):
        return show(v)
    if isinstance(v, bool):
        return str(v).lower()
    return v[1:] if isinstance(v, Number) else v or ""


class Join:
    """A join of two lists of values; nested: names of two members, or None."""

    def __init__(self, files, paths, kind, nested, where, columns):
        self.files, self.paths, self.kind, self.nested = files, paths, kind, nested
        self.where, self.columns = where, columns
        self.keys = [[key(v, p) for v in f] for f, p in zip(files, paths)]
        self.records = [{}, {}]
        for side in 0, 1:
            for i, k in enumerate(self.keys[side]):
                if k is not None:
                    self.records[side].setdefault(k, []).append(i)
        self.unpaired = [kind in ("left", "full", "anti"), kind in ("right", "full")]

    def row(self, records):
        """Returns the record of the result of a record of each file; None: no record."""
        if self.columns:
            return self.columns.row(records)
        if self.nested:
            return Members((n, None if v is ABSENT else v) for n, v in zip(self.nested, records))
        alone = [v for v in records if v is not ABSENT]
        return alone[0] if len(alone) == 1 else merge(*alone, self.paths)

    def found(self, major):
        """Yields, in the order of file 0 or 1, its record and the one of the other file."""
        minor = 1 - major
        for i, k in enumerate(self.keys[major]):
            others = self.records[minor].get(k, [])
            if self.kind in PAIRS:
                yield from ((i, other) for other in others)
            if (others and self.kind == "semi") or (not others and self.unpaired[major]):
                yield i, None
        for i, k in enumerate(self.keys[minor]):
            if self.unpaired[minor] and k not in self.records[major]:
                yield None, i

    def rows(self, major):
        """Returns the result in the order of file 0 or 1."""
        result = []
        for numbers in self.found(major):
            sides = zip(self.files, numbers if major == 0 else numbers[::-1])
            records = [ABSENT if i is None else f[i] for f, i in sides]
            if not self.where or self.where.is_true(records):
                result.append(self.row(records))
        return result


def blanks(r):
    return r.choice(["", "", "", " ", "\t", "  "])


def text_of(r, text):
    """Writes a text with random escapes."""
    out = ""
    for c in text:
        if c in '"\\' and r.random() < 0.5:
            out += "\\" + c
        elif c in '"\\\n' or r.random() < 0.2:
            data = c.encode("utf-16-be")
            for i in range(0, len(data), 2):
                out += f"\\u{data[i] << 8 | data[i + 1]:04{r.choice('xX')}}"
        else:
            out += c
    return f'"{out}"'


def number(r):
    n = r.randrange(4)
    forms = [str(n), f"{n}.0", f"{n}e0", f"{n * 10}E-1", f"0.{n}e+1", f"-{n}", f"1{n}{'0' * 18}"]
    return r.choice(forms)


def value(r, depth):
    kind = r.randrange(10 if depth else 7)
    if kind < 2:
        return number(r)
    if kind < 4:
        return text_of(r, r.choice(TEXTS))
    if kind < 7:
        return r.choice(["null", "true", "false", "null", number(r)])
    if kind < 8:
        return obj(r, depth - 1)
    inside = f"{blanks(r)},{blanks(r)}".join(value(r, depth - 1) for _ in range(r.randrange(3)))
    return f"[{blanks(r)}{inside}{blanks(r)}]"


def obj(r, depth, many=0):
    names = [r.choice(NAMES) for _ in range(r.randrange(6))] + ["id"] * (r.random() < 0.8)
    names += [f"m{r.randrange(2 * many)}" for _ in range(many)]
    r.shuffle(names)
    members = []
    for n in names:
        members.append(f"{text_of(r, n)}{blanks(r)}:{blanks(r)}{value(r, depth)}{blanks(r)}")
    return "{" + blanks(r) + f",{blanks(r)}".join(members) + "}"


def lines(r, any_kind):
    many = 50 if r.random() < 0.1 else 0
    texts = []
    for _ in range(r.choice([0, 1, 5, 40, 40, 300])):
        if any_kind and r.random() < 0.2:
            text = value(r, 2)
        else:
            text = obj(r, 2, r.randrange(many) if many else 0)
        texts.append(blanks(r) + text + blanks(r) + r.choice(["", "", "\r"]))
    return texts


def write(r, name, texts):
    with open(name, "w", encoding="utf-8", newline="") as f:
        f.write(r.choice(["", "", "\ufeff"]) + "\n".join(texts))
        f.write("\n" if texts and r.random() < 0.8 else "")


def options(r, join, ordered):
    o = ["--json", "-1", ",".join(join.paths[0]), "-2", ",".join(join.paths[1])]
    o += [f"--type={join.kind}", f"--build={r.choice('12')}"]
    if join.where:
        o.append(f"--where={join.where.text}")
    if join.columns:
        o += ["-o", join.columns.text]
        if join.columns.csv or r.random() < 0.5:
            o.append(f"--format={'csv' if join.columns.csv else 'json'}")
    if join.nested:
        usual = join.nested == ("left", "right")
        o.append("--nested" if usual else f"--nested={','.join(join.nested)}")
    if ordered:
        o.append(f"--ordered={ordered}")
    if r.random() < 0.2:
        o.append("--strict")
    o.append(f"--algorithm={r.choice(['auto', 'hybrid', 'grace', 'shj', 'nested'])}")
    return o + [f"--parallel={r.choice([1, 2, 3, 8])}", "-S", r.choice(["256K", "1G"])]


def run(args, piped):
    """Joins a and b; piped: 0 or 1, read from a pipe; or None."""
    inputs = ["-" if i == piped else n for i, n in enumerate("ab")]
    data = b""
    if piped is not None:
        with open("ab"[piped], "rb") as f:
            data = f.read()
    command = [os.environ["XJOIN"], *args, *inputs]
    return subprocess.run(command, input=data, capture_output=True, check=False)


def case(r):
    """Returns the arguments of a join that failed, and the reason; or None."""
    kind = r.choice(TYPES)
    pairs = kind in PAIRS
    nested = r.choice([None, ("left", "right"), ("é", 'q"')]) if pairs else None
    paths = r.choice(PATHS)
    columns = Columns(r, paths) if not nested and r.random() < 0.5 else None
    ordered = r.choice([0, 0, 1, 2] if pairs else [0, 1])
    texts = [lines(r, nested or columns or not pairs) for _ in range(2)]
    for name, file in zip("ab", texts):
        write(r, name, file)
    where = Where(r, paths, kind) if r.random() < 0.4 else None
    join = Join([[read(t) for t in f] for f in texts], paths, kind, nested, where, columns)
    args = options(r, join, ordered)
    done = run(args, r.choice([None, None, 0, 1]))
    if done.returncode or done.stderr:
        return args, f"status {done.returncode}: {done.stderr.decode()}"
    if columns and columns.csv:
        got = [show(row) for row in columns.read(done.stdout.decode())]
    else:
        got = [show(read(line)) for line in done.stdout.decode().split("\n")[:-1]]
    want = [show(v) for v in join.rows(ordered - 1 if ordered else 0)]
    if (got if ordered else sorted(got)) == (want if ordered else sorted(want)):
        return None
    with open("want", "w", encoding="utf-8") as f:
        f.write("\n".join(want))
    return args, f"{len(got)} lines, not {len(want)}; the file want has the right ones"


def main(cases, seed):
    for i in range(cases):
        failed = case(random.Random(f"{seed}.{i}"))
        if failed:
            sys.exit(f"case {i} of seed {seed}: {' '.join(failed[0])}: {failed[1]}")


main(int(sys.argv[1]), int(sys.argv[2]))
