#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Damages cubes and indexes at random, and checks what each command makes of them.

Half of the mutations damage bytes anywhere: a command must end with the bytes that it printed
before the damage, or with status 2 and one message; check may end with status 1.  The others change
superblocks, directories, cells of points, headers and nodes, and give them the right checksums
again, as anybody can: then a command may print other values.  No signal, no report of a sanitizer,
no hang.

    tests/cli/mutate_cube.py BUILD [COUNT]

MUTATE_CUBES: the number of mutations of each kind of file; MUTATE_SEED: the first seed.
The output is TAP.
"""

from __future__ import annotations

import ctypes
import os
import random
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

COUNT = int(sys.argv[2] if len(sys.argv) > 2 else os.environ.get("MUTATE_CUBES", 6))
SEED = int(os.environ.get("MUTATE_SEED", 0))
BUILD = Path(sys.argv[1]).resolve()
SANITIZED = "san" in BUILD.name
SECONDS = 60
OLDER = b"the last change may be missing"  # one superblock is damaged: info describes the other
MEMORY = 1 << 30  # of address space, without sanitizers


class Seals:
    """Checksums of a file: for each structure the bytes to change, and what to seal then."""

    def __init__(self) -> None:
        self.hash = ctypes.CDLL("libxxhash.so.0").XXH3_64bits
        self.hash.argtypes = [ctypes.c_char_p, ctypes.c_size_t]
        self.hash.restype = ctypes.c_uint64
        self.places: list[tuple[int, int, list[tuple[int, int, int]]]] = []

    def sum(self, data: bytes) -> bytes:
        return self.hash(bytes(data), len(data)).to_bytes(8, "little")

    def add(self, data: bytes, first: int, end: int, sums: list[tuple[int, int, int]]) -> None:
        """sums: for each checksum its place, and the bytes that it covers."""
        for at, a, b in sums:
            if self.sum(data[a:b]) != data[at : at + 8]:
                sys.exit(f"the checksum at {at} is not that of {a} to {b}")
        self.places.append((first, end, sums))

    def seal(self, data: bytearray, sums: list[tuple[int, int, int]]) -> None:
        for at, a, b in sums:
            data[at : at + 8] = self.sum(data[a:b])

    def mutate(self, r: random.Random, data: bytes) -> bytes:
        """Changes a few bytes or numbers of a structure, and seals it."""
        changed = bytearray(data)
        first, end, sums = r.choice(self.places[:4] + self.places)
        for _ in range(r.choice([1, 1, 2, 4])):
            width = r.choice([1, 1, 2, 4, 8, 8])
            at = first + r.randrange(end - first - width + 1) // width * width
            old = int.from_bytes(changed[at : at + width], "little")
            new = r.choice([0, 1, 2, old + 1, old - 1, old << 1, old ^ 1 << r.randrange(8 * width),
                            1 << 8 * width - 1, -1, (1 << 8 * width - 1) - 1])
            changed[at : at + width] = (new % (1 << 8 * width)).to_bytes(width, "little")
        self.seal(changed, sums)
        return bytes(changed)


def number(data: bytes, at: int, width: int = 8) -> int:
    return int.from_bytes(data[at : at + width], "little")


def superblock_seals(data: bytes) -> list[tuple[int, int, int]]:
    """Both copies of a superblock: magic, version, checksum, their size, length of the members."""
    copies = [0, number(data, 24, 4)]
    return [(at + 16, at + 32, at + 32 + number(data, at + 28, 4)) for at in copies]


def cube_seals(data: bytes) -> Seals:
    seals = Seals()
    for sums in superblock_seals(data):
        seals.add(data, sums[1], sums[2], [sums])
    return seals


def points_seals(data: bytes) -> Seals:
    """Also the directory, whose checksums are in the newer superblock, and cells."""
    seals = cube_seals(data)
    newer = max(superblock_seals(data), key=lambda s: number(data, s[1]))
    end = newer[2]
    if number(data, newer[0] - 8) >= 6:
        end -= 32  # the underflow bound and the generation of volumes
    block, regions, leaves = (number(data, end - 8 * k) for k in (11, 10, 9))
    first = block * 512
    middle = first + regions * 72
    last = middle + leaves * 24
    seals.add(data, first, last,
              [(end - 64, first, middle), (end - 56, middle, last), newer])
    for at in range(0, len(data) - 32, 512):
        used = 32 + 4 * number(data, at + 24, 4)
        if 32 < used <= 4096 and seals.sum(data[at + 8 : at + used]) == data[at : at + 8]:
            seals.add(data, at + 8, at + used, [(at, at + 8, at + used)])
    return seals


def index_seals(data: bytes) -> Seals:
    seals = Seals()
    head, page = number(data, 24), number(data, 32)
    seals.add(data, 24, min(head, 400), [(16, 24, head)])
    for at in range(head, len(data), page):
        seals.add(data, at + 16, at + page, [(at, at + 8, at + page)])
    return seals


def limit() -> None:
    if not SANITIZED:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def run(*words: str) -> tuple[int, bytes, bytes]:
    tool, *rest = words
    try:
        done = subprocess.run(
            [BUILD / "bin" / tool, *rest],
            stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS, preexec_fn=limit,
        )
    except subprocess.TimeoutExpired:
        return -99, b"", b"no end after %d s" % SECONDS
    return done.returncode, done.stdout, done.stderr


def made(*words: str) -> None:
    status, _, text = run(*words)
    if status:
        sys.exit(f"{words}: {text.decode()}")


def mutate(r: random.Random, data: bytes) -> bytes:
    """Changes a few bytes, mostly near the beginning, or the length, or moves a block."""
    damaged = bytearray(data)
    kind = r.random()
    if kind < 0.1:
        return bytes(damaged[: r.randrange(len(damaged))])
    if kind < 0.2:
        a, b = (r.randrange(len(damaged)) & ~511 for _ in range(2))
        damaged[a : a + 512] = damaged[b : b + 512]
        return bytes(damaged[: len(data)])
    for _ in range(r.choice([1, 1, 1, 2, 8])):
        end = r.choice([64, 512, 8192, len(damaged)])
        at = r.randrange(min(end, len(damaged)))
        new = r.choice([0, 0xFF, 0x7F, 0x80, damaged[at] ^ 1 << r.randrange(8)])
        width = r.choice([1, 1, 1, 4, 8])
        damaged[at : at + width] = bytes([new]) * len(damaged[at : at + width])
    return bytes(damaged)


class Case:
    """A file, the commands that read it, and what they print."""

    def __init__(self, name: str, file: str, commands: list[list[str]], seals: Seals):
        self.name, self.file, self.commands = name, Path(file), commands
        self.data = self.file.read_bytes()
        self.right = [run(*c) for c in commands]
        self.seals = seals

    def fault(self, command: list[str], right: tuple[int, bytes, bytes], sealed: bool,
              ) -> str | None:
        status, out, err = run(*command)
        lines = err.decode(errors="replace").splitlines()
        if b"Sanitizer" in err or b"runtime error" in err:
            return next(line for line in lines if "anitizer" in line or "runtime error" in line)
        if status == right[0] and out == right[1]:
            return None
        if status == 1 and (command[1] == "check" or sealed):
            return None
        if status == 0 and sealed:
            return None
        if not status and command[1] == "info" and OLDER in err:
            return None
        if status == 2 and len(lines) == 1:
            return None
        return f"status {status}, {len(out)} bytes, {lines[-2:]}"

    def mutations(self, count: int) -> list[str]:
        faults = []
        for n in range(SEED, SEED + count):
            r = random.Random(f"{self.name} {n}")
            sealed = n % 2 == 1
            self.file.write_bytes((self.seals.mutate if sealed else mutate)(r, self.data))
            for command, right in zip(self.commands, self.right):
                fault = self.fault(command, right, sealed)
                if fault:
                    faults.append(f"MUTATE_SEED={n} {' '.join(command)}: {fault}")
        self.file.write_bytes(self.data)
        return faults


def cubes() -> list[Case]:
    Path("in").write_bytes(random.Random(1).randbytes(19 * 13 * 7 * 4))
    Path("more").write_bytes(random.Random(2).randbytes(19 * 13 * 3 * 4))
    r = random.Random(3)
    lines = (f"{r.randrange(99)},{r.randrange(99)},{n}\n" for n in range(900))
    Path("points.csv").write_text("".join(lines))
    made("mmap-cube", "create", "grid", "--dims=19x13x7", "--dtype=i32", "--attribute=unit=K")
    made("mmap-cube", "load", "grid", "in")
    made("mmap-cube", "append", "grid", "more", "--dim=2")
    made("mmap-cube", "create", "drive", "--dims=19x13x7", "--dtype=i32",
         "--volume=sim:atlas10k3-like", "--mapping=multimap", "--tile=8x4x4")
    made("mmap-cube", "load", "drive", "in")
    made("mmap-cube", "create", "points", "--points", "--dims=99x99", "--dtype=u16")
    made("mmap-cube", "load", "points", "points.csv")
    boxes = {"grid": "3:9,:,2:9", "drive": "3:9,:,2:5", "points": "3:60,:"}
    seals = {"grid": cube_seals, "drive": cube_seals, "points": points_seals}
    return [
        Case(name, name, [
            ["mmap-cube", "check", name],
            ["mmap-cube", "info", name],
            ["mmap-cube", "export", name, "--format=csv", "--verify"],
            ["mmap-cube", "range", name, f"--box={box}", "--format=csv", "--verify"],
        ], seals[name](Path(name).read_bytes()))
        for name, box in boxes.items()
    ]


def indexes() -> list[Case]:
    r = random.Random(4)
    Path("lines").write_text("".join(f"{r.randrange(500)} {n}\n" for n in range(3000)))
    made("xindex", "build", "-k1,1n", "lines", "-o", "lines.ix")
    return [
        Case("index", "lines.ix", [
            ["xindex", "check", "lines.ix"],
            ["xindex", "lookup", "lines.ix", "17"],
            ["xindex", "range", "lines.ix", "--lo=100", "--hi=120"],
        ], index_seals(Path("lines.ix").read_bytes()))
    ]


def main() -> int:
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        cases = cubes() + indexes()
        print(f"1..{len(cases)}", flush=True)
        for number, case in enumerate(cases, 1):
            faults = case.mutations(COUNT)
            failed += bool(faults)
            result = "not ok" if faults else "ok"
            name = f"{COUNT} mutations: an error or the right result: {case.name}"
            print(f"{result} {number} - {name}")
            for fault in faults[:10]:
                print(f"# {fault}")
            sys.stdout.flush()
        os.chdir("/")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
