# SPDX-License-Identifier: MIT
"""Groupings on the machines: partial totals of pieces, cut by key, and the rows of a range.

Partial totals (spindle_group(3)) are records that end with NUL, in the order of their bytes.  Those
of a group begin with its key, so a splitter, which is a key, cuts them between groups.
"""

from __future__ import annotations

import contextlib
import mmap
import os
import re
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import spindle_io
from spindle_io import GroupOptions, SpindleError, Tally
from spindle_io._lib import CSV, EBALANCE, EFORMAT, MARK

from . import files
from .plan import Piece, Work

#: Samples: at most so many, each of so many bytes, or of so many records of CSV.
SAMPLES = 64
SAMPLE_BYTES = 1 << 16
SAMPLE_RECORDS = 2000
#: Partial totals as records of a sort.
TOTALS = ["-z"]

Read = Callable[[Piece], Any]  #: the records of a piece


@contextlib.contextmanager
def in_memory(*parts: Any) -> Iterator[str]:
    """The name of a file in memory."""
    with open(os.memfd_create("records"), "wb") as f:
        for part in parts:
            f.write(part)
        f.flush()
        yield f"/proc/self/fd/{f.fileno()}"


def header_of(work: Work) -> bytes:
    """The header of all inputs, without a byte order mark."""
    return work.headers[0].removeprefix(MARK) if work.pieces().info.kind == CSV else work.headers[0]


def _lines_before(piece: Piece, eol: bytes) -> int:
    """Lines of the file before the first record that begins in the piece."""
    end, lines = piece.lo - (piece.lo > piece.base), int(piece.lo > piece.base)
    with open(piece.path, "rb") as f:
        while end and (data := f.read(min(end, files.CHUNK))):
            lines += data.count(eol)
            end -= len(data)
    return lines


def _of_file(e: SpindleError, piece: Piece, header: bytes, eol: bytes) -> SpindleError:
    """An error of a piece, which follows the header in memory, as one of the file."""

    def moved(line: re.Match[str]) -> str:
        return f"line {int(line[1]) - header.count(eol) + _lines_before(piece, eol)}:"

    return SpindleError(e.code, re.sub(r"^line (\d+):", moved, e.text), piece.path)


def _columns(data: Any, eol: bytes, separator: bytes) -> bool | None:
    """True if the first line that is not blank has several columns; None: there is none."""
    line = re.search(b"[^" + re.escape(eol) + b"]+", data)
    return separator in line[0] if line else None


def _check_blank(piece: Piece, data: Any, work: Work) -> None:
    """Blank lines are records if the first line of a file has one column: a piece knows its own."""
    eol, separator = bytes([work.pieces().info.eol]), work.separator
    if not separator or piece.lo == piece.base or not len(data):
        return
    if bytes(data[:1]) != eol and not re.search(re.escape(eol * 2), data):
        return
    with open(piece.path, "rb") as f:
        f.seek(piece.base)
        if _columns(f.read(SAMPLE_BYTES), eol, separator) != _columns(data, eol, separator):
            raise SpindleError(
                EFORMAT, "blank lines, and records of one column and of several", piece.path
            )


def _totals(piece: Piece, data: Any, work: Work) -> tuple[Any, dict[str, Any]]:
    """The partial totals of the records of a piece, and the result of the report."""
    options = work.options(work.result_args, GroupOptions, 2)
    header, eol = header_of(work), bytes([work.pieces().info.eol])
    _check_blank(piece, data, work)
    with tempfile.TemporaryDirectory(dir=work.tmpdir) as folder, in_memory(header, data) as path:
        out = os.path.join(folder, "totals")
        try:
            report = spindle_io.group_first(path, out, options, piece.position)["result"]
        except SpindleError as e:
            if e.path != path:
                raise
            raise _of_file(e, piece, header, eol) from None
        with open(out, "rb") as f:
            size = os.fstat(f.fileno()).st_size
            totals = mmap.mmap(f.fileno(), 0, access=mmap.ACCESS_READ) if size else b""
    return totals, report


def cut(totals: Any, splitters: Sequence[bytes]) -> list[int]:
    """Where the partial totals of each splitter and of the keys behind it begin."""
    offsets, at = [], 0
    for splitter in splitters:
        end = len(totals)
        while at < end:
            middle = (at + end) // 2
            begin = totals.rfind(b"\0", at, middle) + 1 or at
            if totals[begin : begin + len(splitter)] < splitter:
                at = totals.find(b"\0", middle) + 1
            else:
                end = begin
        offsets.append(at)
    return offsets


def key_of(record: bytes, keys: int) -> bytes:
    return b"".join(part + b"\1" for part in record.split(b"\1", keys)[:keys])


def _samples(piece: Piece, work: Work) -> Piece:
    """The first records of a piece."""
    if work.pieces().info.kind != CSV:
        return replace(piece, hi=min(piece.hi, piece.lo + SAMPLE_BYTES))
    with files.mapped(piece.path) as view, view[piece.lo :] as records:
        return replace(piece, hi=piece.lo + work.pieces().head(records, SAMPLE_RECORDS))


def sample(work: Work, pieces: Sequence[Piece], read: Read) -> list[bytes]:
    """Keys that cut the partial totals of samples into ranges of about equal length."""
    assert work.keys
    found: list[bytes] = []
    for piece in pieces[:: -(-len(pieces) // SAMPLES)]:
        few = _samples(piece, work)
        found += bytes(_totals(few, read(few), work)[0][:]).split(b"\0")[:-1]
    found.sort()
    total, passed, splitters = sum(map(len, found)), 0, []
    for record in found:
        if passed * work.ranges >= total * (len(splitters) + 1):
            key = key_of(record, work.keys)
            if key > (splitters[-1] if splitters else b""):
                splitters.append(key)
        passed += len(record)
    return splitters[: work.ranges - 1]


def map_piece(piece: Piece, data: Any, work: Work) -> tuple[Any, list[int], list[Tally], int]:
    """The partial totals of a piece, where the ranges cut them, the tallies of the piece and of
    them, and the number of records in them."""
    totals, report = _totals(piece, data, work)
    tally = spindle_io.tally(totals, TOTALS)
    kept = report["records"] - report["skipped"] - report["filtered"]
    tallies = [Tally(report["records"], len(data)), tally]
    return totals, cut(totals, work.splitters), tallies, kept


def _check_borders(work: Work, number: int, block: Any) -> None:
    """The first and the last group of a block lie in its range."""
    if not len(block) or not work.keys:
        return
    data = bytes(block)
    last = key_of(data[data.rfind(b"\0", 0, -1) + 1 :], work.keys)
    first = key_of(data[: data.find(b"\0")], work.keys)
    if (number and first < work.splitters[number - 1]) or (
        number < len(work.splitters) and last >= work.splitters[number]
    ):
        raise SpindleError(
            EBALANCE, "groups lie beyond its borders", files.part(work.folder, number)
        )


def reduce_range(number: int, work: Work, blocks: Iterator[Any]) -> tuple[str, Tally, int, int]:
    """Writes the rows of a range: the path, the tally of its partial totals, the number of rows,
    and of records in them."""
    options, path, read = (
        work.options(work.result_args, GroupOptions),
        files.part(work.folder, number),
        Tally(),
    )
    with tempfile.TemporaryFile(dir=work.tmpdir) as f:
        for block in blocks:
            _check_borders(work, number, block)
            read += spindle_io.tally(block, TOTALS)
            f.write(block)
        f.flush()
        report = spindle_io.group_second(
            f"/proc/self/fd/{f.fileno()}",
            path,
            options,
            header=header_of(work),
            rows_only=number > 0,
        )["result"]
    return path, read, report["output_records"], report["records"]
