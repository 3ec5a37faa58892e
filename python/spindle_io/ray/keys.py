# SPDX-License-Identifier: MIT
"""The keys of both sides of a join: as options of a sort, and carried from one side to the other.

A sort that puts equal join keys beside each other is enough: both sides are cut at the same keys.
Splitters are records of one side; for the other they are made anew, with the key in its place.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass
class Keys:
    """What the options of xjoin say about the keys of both files."""

    fields: list[list[int]]  #: of each side, from 1
    letters: list[str]  #: of each field
    parts: list[list[tuple[int, int]]]  #: binary records: offsets and lengths
    separator: str | None = None  #: -t as it was given
    csv: bool = False
    zero: bool = False
    fixed: list[int] = field(default_factory=list)  #: sizes of binary records
    types: list[str] = field(default_factory=list)  #: of the parts: LENGTH[:TYPE]

    @property
    def collated(self) -> bool:
        return any("l" in letters for letters in self.letters)

    def words(self, side: int) -> list[str]:
        """Options by which the records of a side are sorted."""
        if self.fixed:
            keys = [
                f"--bkey={offset}:{type_}"
                for (offset, _), type_ in zip(self.parts[side], self.types)
            ]
            return ["-s", f"--record-size={self.fixed[side]}", *keys]
        words = ["-s"] + ["--csv"] * self.csv + ["-z"] * self.zero
        if self.separator == "":
            return [*words, "-k1" + self._letters(0)]
        blanks = "b" if self.separator is None and not self.csv else ""
        if self.separator is not None:
            words += ["-t", self.separator]
        for i, n in enumerate(self.fields[side]):
            words.append(f"-k{n}{blanks},{n}{self._letters(i)}")
        return words

    def _letters(self, i: int) -> str:
        return self.letters[i].replace("l", "")

    def carried(self, record: bytes, frm: int, to: int) -> bytes:
        """A record of side `to` with the key of a record of side `frm`, and nothing else."""
        if self.fixed:
            made = bytearray(self.fixed[to])
            for (a, n), (b, _) in zip(self.parts[frm], self.parts[to]):
                made[b : b + n] = record[a : a + n]
            return bytes(made)
        if self.separator == "":
            return record
        found = self._split(record)
        most, filler = max(self.fields[to]), "0" if self._blanks else ""
        made = [filler] * most
        for a, b in zip(self.fields[frm], self.fields[to]):
            made[b - 1] = found[a - 1] if a <= len(found) else ""
        return self._join(made)

    @property
    def _blanks(self) -> bool:
        return self.separator is None and not self.csv

    @property
    def _byte(self) -> str:
        return "\0" if self.separator == "\\0" else self.separator or ","

    def _split(self, record: bytes) -> list[str]:
        text = record.decode("latin-1")[:-1]
        if self.csv:
            return next(csv.reader(io.StringIO(text, newline=""), delimiter=self._byte), [])
        if self._blanks:
            return re.split(r"[ \t]+", text.lstrip(" \t"))
        return text.split(self._byte)

    def _join(self, fields: Sequence[str]) -> bytes:
        if self.csv:
            out = io.StringIO(newline="")
            csv.writer(out, delimiter=self._byte, lineterminator="\n").writerow(fields)
            return out.getvalue().encode("latin-1")
        text = (" " if self._blanks else self._byte).join(fields)
        return (text + ("\0" if self.zero else "\n")).encode("latin-1")


def _list(text: str) -> tuple[list[int], list[str]]:
    """FIELD[LETTERS][,...]"""
    items = re.findall(r"(\d+)([A-Za-z]*)", text)
    return [int(number) for number, _ in items], [letters for _, letters in items]


def _binary(keys: Keys, specs: Sequence[str]) -> None:
    for spec in specs or [f"0:{keys.fixed[0]}"]:
        sides = (spec.split(",") * 2)[:2]
        parts = [s.partition(":")[::2] for s in sides]
        if parts[0][1] != parts[1][1]:
            raise ValueError(f"--bkey={spec}: on a cluster both files have keys of one type")
        for side, (offset, type_) in enumerate(parts):
            keys.parts[side].append((int(offset), int(type_.partition(":")[0])))
        keys.types.append(parts[0][1])


def of(options: Sequence[tuple[str, list[str]]]) -> Keys:
    """Of options that the library has accepted: pairs of a name and its words."""
    given: dict[str, list[str]] = {}
    for name, words in options:
        given.setdefault(name, []).append(words[-1])
    both = given.get("-j", ["1"])[-1]
    sides = [_list(given.get(name, [both])[-1]) for name in ("-1", "-2")]
    letters = [a or b for a, b in zip(sides[0][1], sides[1][1])]
    if "--ignore-case" in given:
        letters = [own or "f" for own in letters]
    keys = Keys(
        fields=[sides[0][0], sides[1][0]],
        letters=letters,
        parts=[[], []],
        separator=given.get("-t", [None])[-1],
        csv="--csv" in given,
        zero="--zero-terminated" in given,
    )
    if "--record-size" in given:
        from spindle_io import Options

        sizes = (given["--record-size"][-1].split(",") * 2)[:2]
        keys.fixed = [Options([f"--record-size={n}"]).info.fixed_bytes for n in sizes]
        _binary(keys, given.get("--bkey", []))
    return keys
