# SPDX-License-Identifier: MIT
"""Random lines of JSON, loaded into tables of all layouts and scanned, against Python's json.

xtable_json.py SEED CASES
"""
import decimal
import json
import os
import random
import subprocess
import sys

XTABLE = os.environ["XTABLE"]
LAYOUTS = ("nsm", "dsm", "pax", "csm")
LETTERS = ["a", "B", "7", " ", ".", "/", '"', "\\", "\n", "\t", "\x01", "\0", "\x7f", "é", "ß",
           "\u2028", "漢", "😀", ",", "{", "]"]


class Pairs(list):
    """The members of an object in their order."""


def parse(text):
    """Values as they are written: numbers as decimals, so none is rounded."""
    return json.loads(text, parse_float=decimal.Decimal, parse_int=decimal.Decimal)


def text_of(r, value):
    """A text of JSON, with escapes that it does not need."""
    out = []
    for c in value:
        plain = c >= " " and c not in '"\\'
        units = c.encode("utf-16-be")
        escape = "".join(f"\\u{units[i]:02{r.choice('xX')}}{units[i + 1]:02x}"
                         for i in range(0, len(units), 2))
        if plain and r.random() < 0.8:
            out.append(c)
        elif c in '"\\/\n\t' and r.random() < 0.5:
            out.append({"\n": "\\n", "\t": "\\t"}.get(c, "\\" + c))
        else:
            out.append(escape)
    return '"' + "".join(out) + '"'


def number(r, kind):
    """A number of JSON."""
    if kind == "integer":
        return str(r.choice([r.randint(-9, 99), r.randint(-2 ** 40, 2 ** 40), 2 ** 63 - 1, 0]))
    if kind == "long":
        return r.choice(["-", ""]) + str(r.randint(1, 9)) + "".join(r.choices("0123456789", k=24))
    if kind == "cents":
        return f"{r.randint(-99999, 99999) / 100:.2f}"
    return r.choice([f"{r.uniform(-9, 9):.{r.randint(1, 15)}f}",
                     f"{r.randint(0, 9)}e{r.randint(-9, 9)}",
                     f"{r.randint(1, 9)}.5E+{r.randint(0, 20)}",
                     str(r.randint(-9, 9)), "-0", "-0.0"])


def value(r, kind):
    """The text of a value."""
    if kind in ("integer", "long", "cents", "float"):
        return number(r, kind)
    if kind == "boolean":
        return r.choice(["true", "false"])
    if kind == "word":
        return text_of(r, r.choice(["red", "green", "blue", "12", "true"]))
    if kind == "text":
        return text_of(r, "".join(r.choices(LETTERS, k=r.choice([0, 1, 3, 9, 40]))))
    if kind == "date":
        return f'"20{r.randint(10, 29)}-0{r.randint(1, 9)}-{r.randint(10, 28)}"'
    if kind == "time":
        return f'"2024-01-0{r.randint(1, 9)}{r.choice(" T")}10:11:{r.randint(10, 59)}"'
    if kind == "array":
        kinds = r.choices(["integer", "text", "boolean"], k=r.randint(0, 3))
        return "[" + r.choice([", ", ","]).join(value(r, k) for k in kinds) + "]"
    if kind == "kept":
        return r.choice(["[1]", "true", "5"])
    return value(r, r.choice(["word", "integer", "boolean", "array"]))


KINDS = ["integer", "integer", "long", "cents", "float", "boolean", "word", "text", "text", "date",
         "time", "array", "kept", "mixed"]


def shape(r, depth=0):
    """The members of an object: names, and kinds of values or the shapes of objects."""
    names = set()
    while len(names) < r.randint(1, 6):
        names.add("".join(r.choices([c for c in LETTERS if c not in ".\0"], k=r.randint(1, 4))))
    return {name: shape(r, depth + 1) if depth < 3 and r.random() < 0.25 else r.choice(KINDS)
            for name in sorted(names)}


def record(r, members):
    """The text of an object, and its values by path, as texts."""
    blank = r.choice(["", "", " ", "\t"])
    out, values = [], {}
    names = list(members)
    if r.random() < 0.3:
        r.shuffle(names)
    for name in names:
        kind = members[name]
        if r.random() < 0.1:
            continue
        if r.random() < 0.1:
            text, below = "null", {"": None}
        elif isinstance(kind, dict):
            text, below = record(r, kind)
        else:
            text = value(r, kind)
            below = {"": text}
        if r.random() < 0.03 and not isinstance(kind, dict):
            out.append(f"{text_of(r, name)}:{blank}{value(r, kind)}")
        out.append(f"{text_of(r, name)}{blank}:{blank}{text}")
        for path, v in below.items():
            values[name + ("." + path if path else "")] = v
    return "{" + blank + ("," + blank).join(out) + blank + "}", values


def expected(rows, lines):
    """The objects that a scan prints: a column with a text has texts, others keep their values."""
    columns, texts = {}, set()
    objects = set()

    def visit(path, v):
        if isinstance(v, dict):
            objects.add(path)
            for name, below in v.items():
                visit(path + "." + name if path else name, below)
        else:
            columns.setdefault(path, None)

    def visit_all(pairs, path):
        """Also members that do not count decide on types."""
        for name, v in pairs:
            at = path + "." + name if path else name
            if isinstance(v, Pairs):
                visit_all(v, at)
            elif isinstance(v, str):
                texts.add(at)

    for line in lines:
        visit("", json.loads(line))
        visit_all(json.loads(line, object_pairs_hook=Pairs), "")
    columns = [c for c in columns if c not in objects]
    result = []
    for row in rows:
        out = {}
        for c in columns:
            raw = row.get(c)
            if raw is None:
                out[c] = None
            elif c in texts:
                out[c] = json.loads(raw) if raw[0] == '"' else raw
            else:
                out[c] = parse(raw)
        result.append(out)
    return result


def run(args, **kw):
    return subprocess.run([XTABLE] + args, capture_output=True, check=False, **kw)


def check(done, what):
    if done.returncode:
        sys.exit(f"{what}: status {done.returncode}: {done.stderr.decode()}")
    return done.stdout


def case(seed):
    r = random.Random(seed)
    members = shape(r)
    rows, lines = [], []
    for _ in range(r.choice([1, 2, 30, 400])):
        text, values = record(r, members)
        lines.append(text)
        rows.append(values)
    want = expected(rows, lines)
    if not want[0]:
        return
    end = r.choice(["\n", "\n", "\r\n"])
    data = (end.join(lines) + r.choice(["", end])).encode()
    if r.random() < 0.2:
        data = b"\xef\xbb\xbf" + data
    if r.random() < 0.2:
        data = data.replace(end.encode(), (end + " \t" + end).encode(), 1)
    with open("in", "wb") as f:
        f.write(data)
    for layout in LAYOUTS:
        what = f"seed {seed}, {layout}"
        common = ["load", "--overwrite", "--json", "--layout=" + layout, "t"]
        if r.random() < 0.5:
            common += ["--parallel=" + str(r.randint(1, 4))]
        if r.random() < 0.3:
            common += ["--exact"]
        if r.random() < 0.5:
            check(run(common + ["in"]), what)
        else:
            check(run(common, input=data), what)
        got = check(run(["scan", "t", "--format=json"]), what)
        have = [parse(line) for line in got.decode().split("\n")[:-1]]
        if have != want or [list(o) for o in have] != [list(o) for o in want]:
            for i, (h, w) in enumerate(zip(have, want)):
                if h != w:
                    sys.exit(f"{what}: record {i}: {h} is not {w}: {lines[i]}")
            sys.exit(f"{what}: {len(have)} records are not {len(want)}, or columns differ")
        # What is printed makes a table with the same values.
        check(run(["load", "--overwrite", "--json", "again"], input=got), what)
        again = check(run(["scan", "again"]), what)
        if [parse(line) for line in again.decode().split("\n")[:-1]] != have:
            sys.exit(f"{what}: lines that were scanned give other values")


if __name__ == "__main__":
    for number_of_case in range(int(sys.argv[2])):
        case(int(sys.argv[1]) + number_of_case)
