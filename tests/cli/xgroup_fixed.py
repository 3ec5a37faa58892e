# SPDX-License-Identifier: MIT
"""Records of a fixed length, and their totals as Python computes them.

    xgroup_fixed.py records COUNT SEED >records
    xgroup_fixed.py totals KEY... <records >rows

A record has 31 bytes: the fields below.  Rows have the keys, the number of records, the sum of the
field s, the smallest u, and the records' positions in a list.
"""
import csv
import random
import struct
import sys
from fractions import Fraction

FIELDS = {
    "0:8:u64": "<Q",
    "8:8:i64be": ">q",
    "16:2:i16": "<h",
    "18:1:u8": "<B",
    "19:4:f32be": ">f",
    "23:4": "4s",
    "27:4:u32": "<I",
}
BYTES = 31


def records(count, seed):
    r = random.Random(seed)
    wide = [0, 7, 2**63, 2**63 + 1, 2**64 - 1]
    for i in range(count):
        sys.stdout.buffer.write(
            struct.pack("<Q", r.choice(wide))
            + struct.pack(">q", r.choice([-(2**63), -(2**63) + 1, -1, 0, 5]))
            + struct.pack("<h", r.randrange(-30000, 30000))
            + struct.pack("<B", r.randrange(3) * 100)
            + struct.pack(">f", r.choice([0.1, -2.5, 3e30, -0.0, 1.0]))
            + r.choice([b"ab\n ", b'"q",', b"\xff\xfe\x01\x00", b"    "])
            + struct.pack("<I", i)
        )


def fields(record):
    at, found = 0, {}
    for name, code in FIELDS.items():
        n = struct.calcsize(code)
        found[name] = struct.unpack(code, record[at : at + n])[0]
        at += n
    return found


def text(value):
    if isinstance(value, float):
        shown = next(s for d in range(1, 10) if struct.pack("f", float(s := f"{value:.{d}g}"))
                     == struct.pack("f", value))
        return {"-0": "-0"}.get(shown, shown)
    return value.decode("latin-1") if isinstance(value, bytes) else str(value)


def totals(keys):
    data = sys.stdin.buffer.read()
    groups = {}
    names = [k.removesuffix(":r") for k in keys]
    for at in range(0, len(data), BYTES):
        f = fields(data[at : at + BYTES])
        groups.setdefault(tuple(f[n] for n in names), []).append(f)
    order = list(groups)
    for key, name in reversed(list(enumerate(keys))):
        order.sort(key=lambda g, key=key: g[key], reverse=name.endswith(":r"))
    sys.stdout.reconfigure(encoding="latin-1", newline="")
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow([*names, "n", "s", "u", "list"])
    for key in order:
        group = groups[key]
        out.writerow(
            [text(group[0][n]) for n in names]
            + [len(group), sum(Fraction(f["16:2:i16"]) for f in group),
               min(f["18:1:u8"] for f in group), ";".join(str(f["27:4:u32"]) for f in group)]
        )


if __name__ == "__main__":
    if sys.argv[1] == "records":
        records(int(sys.argv[2]), sys.argv[3])
    else:
        totals(sys.argv[2:])
