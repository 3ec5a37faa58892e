# SPDX-License-Identifier: MIT
"""Random JSON lines, and their order by a member as Python computes it.

    xsort_json.py lines SEED COUNT        writes lines
    xsort_json.py sort SPEC... <lines     sorts them; a SPEC is PATH, :r, :n, :E or :e behind it
"""
import functools
import json
import random
import re
import sys
from decimal import Decimal

TEXTS = ["", "a", "A", "ab", "é", "\u2028", "😀", 'q"q', "back\\slash", "tab\t", "\x00", "10",
         "9", "-1", "1e2", "x" * 40, "z" * 300, " 7", "0012"]
NUMBERS = ["0", "-0", "1", "1.0", "10", "1e1", "-5", "-5.00", "0.5", "5e-1", "1e400", "-1e400",
           "1e-400", "123456789012345678901234567890", "99.99"]


def scalar(rng):
    kind = rng.randrange(12)
    if kind < 4:
        return rng.choice(TEXTS)
    if kind < 8:
        return Decimal(rng.choice(NUMBERS))
    return rng.choice([None, True, False, None])


def value(rng, depth):
    kind = rng.randrange(10)
    if depth and kind == 0:
        return [value(rng, depth - 1) for _ in range(rng.randrange(4))]
    if depth and kind == 1:
        return {rng.choice("abcdé"): value(rng, depth - 1) for _ in range(rng.randrange(4))}
    return scalar(rng)


def text_of(rng, v):
    """One of the spellings of a value."""
    space = rng.choice(["", "", "", " ", "  "])
    if isinstance(v, Decimal):
        return str(v)
    if isinstance(v, list):
        return "[" + space + ("," + space).join(text_of(rng, e) for e in v) + space + "]"
    if isinstance(v, dict):
        members = [(k, text_of(rng, e)) for k, e in v.items()]
        if members and rng.randrange(8) == 0:
            members.insert(0, (members[-1][0], text_of(rng, scalar(rng))))
        texts = [text_of(rng, k) + space + ":" + space + e for k, e in members]
        return "{" + space + ("," + space).join(texts) + "}"
    return json.dumps(v, ensure_ascii=rng.randrange(2) == 0)


def lines(seed, count):
    rng = random.Random(seed)
    for i in range(count):
        record = {}
        for name in rng.sample(["k", "n", "s", "deep", "odd name", "é"], rng.randrange(1, 7)):
            record[name] = value(rng, 2)
        if rng.randrange(3) == 0:
            record["deep"] = {"er": value(rng, 1),
                              "list": [value(rng, 1) for _ in range(rng.randrange(3))]}
        record["i"] = Decimal(i)
        v = record if rng.randrange(40) else value(rng, 1)
        sys.stdout.write(text_of(rng, v) + rng.choice(["", "", "", " ", "\r"]) + "\n")


def load(line):
    return json.loads(line, parse_float=Decimal, parse_int=Decimal)


def steps(path):
    step = r'\.([^.\["]+)|\.("(?:[^"\\]|\\.)*")|\[(\d+)\]'
    for name, quoted, index in re.findall(step, path):
        yield int(index) if index else json.loads(quoted) if quoted else name


def find(v, path):
    for step in steps(path):
        if isinstance(step, int):
            v = v[step] if isinstance(v, list) and step < len(v) else None
        else:
            v = v.get(step) if isinstance(v, dict) else None
    return v


def rank(v):
    kinds = [type(None), bool, bool, Decimal, str, list, dict]
    return 1 if v is False else 2 if v is True else kinds.index(type(v))


def compare(a, b):
    if rank(a) != rank(b):
        return rank(a) - rank(b)
    if isinstance(a, str):
        a, b = a.encode("utf-8"), b.encode("utf-8")
    if isinstance(a, list):
        for x, y in zip(a, b):
            if compare(x, y):
                return compare(x, y)
        return len(a) - len(b)
    if isinstance(a, dict):
        names = [sorted(d, key=lambda n: n.encode()) for d in (a, b)]
        diffs = (compare(a[n], b[n]) for n in names[0])
        return compare(*names) or next((d for d in diffs if d), 0)
    return 0 if a is None or a == b else -1 if a < b else 1


def number(v):
    if isinstance(v, Decimal):
        return v
    # As text, values other than texts and numbers begin with no digit.
    if not isinstance(v, str):
        return Decimal(0)
    text = v.lstrip(" \t")
    if re.fullmatch(r"-?(0|[1-9]\d*)(\.\d+)?([eE][-+]?\d+)?", text):
        return Decimal(text)
    found = re.match(r"-?\d*\.?\d*", text).group()
    return Decimal(found) if re.search(r"\d", found) else Decimal(0)


def by(spec):
    """A comparison of lines by one key."""
    path, _, letters = re.match(r"(.*?)(:([a-zE]*))?$", spec).groups()
    sign = -1 if "r" in (letters or "") else 1

    def diff(a, b):
        x, y = find(a, path), find(b, path)
        if letters and ("e" in letters or "E" in letters):
            empty = [v is None or ("n" in letters and v == "") for v in (x, y)]
            if empty[0] != empty[1]:
                return -1 if empty[0] == ("e" in letters) else 1
        if letters and "n" in letters:
            x, y = number(x), number(y)
            return sign * (0 if x == y else -1 if x < y else 1)
        return sign * compare(x, y)

    return diff


def sort(specs, unique):
    data = sys.stdin.buffer.read().split(b"\n")[:-1]
    keys = [by(s) for s in specs]
    records = [(load(line), line) for line in data]

    def diff(a, b):
        return next((d for d in (k(a[0], b[0]) for k in keys) if d), 0)

    records.sort(key=functools.cmp_to_key(diff))
    before = None
    for record in records:
        if not unique or before is None or diff(before, record):
            sys.stdout.buffer.write(record[1] + b"\n")
        before = record


if __name__ == "__main__":
    if sys.argv[1] == "lines":
        lines(int(sys.argv[2]), int(sys.argv[3]))
    else:
        sort(sys.argv[2:], sys.argv[1] == "unique")
