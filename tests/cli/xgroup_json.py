# SPDX-License-Identifier: MIT
"""Totals of JSON lines by values of members, as Python computes them.

    xgroup_json.py PATH[:r]... <lines
"""
import functools
import json
import sys

from xsort_json import by, find, load


def spelling(text, path):
    """A value as it is written in the line."""
    decoder = json.JSONDecoder()
    names = path[1:].split(".")
    at = 0
    for name in names:
        # The last member of a name counts, so all are walked.
        at += len(text[at:]) - len(text[at:].lstrip(" \t"))
        if text[at:at + 1] != "{":
            return "null"
        at += 1
        found = None
        while True:
            at += len(text[at:]) - len(text[at:].lstrip(" \t,\r"))
            if text[at] == "}":
                break
            key, at = decoder.raw_decode(text, at)
            at = text.index(":", at) + 1
            at += len(text[at:]) - len(text[at:].lstrip(" \t"))
            _, end = decoder.raw_decode(text, at)
            if key == name:
                found = (at, end)
            at = end
        if found is None:
            return "null"
        at, end = found
    return text[at:end]


def main():
    specs = sys.argv[1:]
    keys = [by(s) for s in specs]
    paths = [s.split(":")[0] for s in specs]

    def diff(a, b):
        return next((d for d in (k(a[0], b[0]) for k in keys) if d), 0)

    records = [(load(line), line) for line in sys.stdin.read().split("\n")[:-1]]
    records.sort(key=functools.cmp_to_key(diff))
    groups = []
    for record in records:
        if not groups or diff(groups[-1][0], record):
            groups.append([record])
        else:
            groups[-1].append(record)
    for group in groups:
        row = []
        for path in paths:
            name = json.dumps(path[1:], ensure_ascii=False)
            row.append(name + ":" + spelling(group[0][1], path))
        texts = {text_of(find(r[0], ".s")) for r in group} - {""}
        numbers = [n for n in (find(r[0], ".i") for r in group) if n is not None]
        row.append('"rows":%d' % len(group))
        row.append('"i":%s' % (sum(numbers) if numbers else "null"))
        row.append('"texts":%d' % len(texts))
        print("{" + ",".join(row) + "}")


def text_of(v):
    """A value as a text: only texts of scalars are compared."""
    if v is None:
        return ""
    return v if isinstance(v, str) else repr(v) if not isinstance(v, bool) else str(v).lower()


if __name__ == "__main__":
    main()
