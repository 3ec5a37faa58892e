#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A drive that DiskSim's parameters describe, as a model of Spindle, against its validation trace.

    scripts/experiments/disksim.py model PARAMETERS [NAME]     a model file (spindle-model(5))
    scripts/experiments/disksim.py rms MODEL TRACE             MODEL: a model file, or PARAMETERS
    scripts/experiments/disksim.py times MODEL TRACE           response times in ms: drive, model

PARAMETERS is a .parv or .diskspecs file (the disk NAME of it; default: the first), next to the
files that it names; the bus of some drives is in the former only.  TRACE has DiskSim's "validate"
format: operation, "Hit" or "Miss", block, blocks, response time and the time until the next
request, both in us.  None of them is part of Spindle.

The trace is replayed closed: each request is submitted as long after the one before was done as
in the trace.  "rms" is the root of the mean square of the differences between the two sorted
lists of response times.  All figures are those of PARAMETERS, and none is fitted to a trace.  Two
rules that the parameters leave open were seen on traces:
- "Buffer continuous read = 4" reads ahead to the end of the track, immediately if a segment holds a
  track (Atlas 10K, Cheetah 9LP), and from the second read of a stream on otherwise (Atlas III);
- a write empties the segments that it meets (Barracuda, Cheetah 4LP, DNES-309170W), but not where
  fast writes are kept for reads with other requests, "Fast write level = 2" and "Allow read hits
  on write data = 1" (Atlas 10K, Cheetah 9LP).
What cannot be said in a model is an error, or, where it cannot matter much, written to standard
error.

Environment: SP_BUILD (build), the build whose library is used.
"""

import ctypes
import json
import math
import os
import re
import sys
import tempfile

TOKEN = re.compile(r"#[^\n]*|\s+|([{}\[\],=])|([^{}\[\],=#\s][^{}\[\],=#\n]*)")


class Refused(Exception):
    """What the parameters say cannot be said in a model, or they cannot be read."""


def note(text):
    print(f"disksim.py: {text}", file=sys.stderr)


class Parameters:
    """NAME = VALUE blocks in braces, lists in brackets; 'source FILE' stands for that file."""

    def __init__(self, path):
        self.path, self.at = path, 0
        with open(path, encoding="ascii") as f:
            found = TOKEN.finditer(f.read())
        self.tokens = [m[0].strip() for m in found if m[1] or m[2]]

    def peek(self):
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def next(self, want=None):
        token = self.peek()
        if not token or (want and token != want):
            raise Refused(f"{self.path}: '{token}' instead of {want or 'more'}")
        self.at += 1
        return token

    def blocks(self):
        """All blocks of the file and of those it names, by kind and name."""
        found = {}
        while self.peek():
            words = self.next().split()
            if self.peek() == "{":
                found[tuple(words)] = self.block()
            elif words[0] == "source":
                found.update(Parameters(self.beside(words[1])).blocks())
        return found

    def beside(self, name):
        return os.path.join(os.path.dirname(self.path), name)

    def block(self):
        fields = {}
        self.next("{")
        while self.peek() != "}":
            name = self.next()
            self.next("=")
            fields[name] = self.value()
            if self.peek() == ",":
                self.next()
        self.next("}")
        return fields

    def value(self):
        if self.peek() == "[":
            self.next()
            items = []
            while self.peek() != "]":
                items.append(self.value())
                if self.peek() == ",":
                    self.next()
            self.next("]")
            return items
        word = self.next()
        if self.peek() == "{":
            return self.block()
        if word.startswith("source "):
            return next(iter(Parameters(self.beside(word.split()[1])).blocks().values()))
        try:
            return float(word)
        except ValueError:
            return word


def whole(x):
    return int(x) if x == int(x) else x


def spares(zone, layout, surfaces, sectors):
    """The areas without blocks of a zone: its empty front, and those of a sparing scheme."""
    scheme, n = int(layout["Sparing scheme used"]), int(zone["Number of spares"])
    spt, empty = int(zone["Blocks per track"]), int(zone["Empty space at zone front"])
    front = [[0, empty]] if empty else []
    group = {2: surfaces, 3: 1, 4: surfaces, 5: surfaces, 6: surfaces}.get(scheme)
    if scheme == 8:
        group = surfaces * int(layout["Rangesize for sparing"])
    if not n or scheme == 0:
        return front
    if group:
        # The empty front is counted in sectors that could have blocks.
        size = group * spt
        skip, rest = divmod(empty, size - n)
        skip *= size
        if scheme not in (5, 6):
            front = [[0, skip + rest]] if empty else []
            return front + [[skip + size - n, n, size]]
        if rest:
            return [[0, skip + n + rest], [skip + size, n, size]]
        return ([[0, skip]] if skip else []) + [[skip, n, size]]
    if scheme == 1:
        n *= spt
    elif scheme not in (7, 9, 10):
        raise Refused(f"sparing scheme {scheme} is not known")
    return front + [[sectors - n, n]]


def zone_of(zone, layout, surfaces, next_cyl):
    first, last = int(zone["First cylinder number"]), int(zone["Last cylinder number"])
    spt, by_track = int(zone["Blocks per track"]), layout["Sparing scheme used"] == 1
    sectors = (last + 1 - first) * surfaces * spt
    z = {
        "first_cyl": first,
        "last_cyl": next_cyl - 1 if next_cyl else last,
        "spt": spt,
        "track_skew": whole(zone["Skew for track switch"]),
        "cyl_skew": whole(zone["Skew for cylinder switch"]),
        "start_skew": whole(zone["Offset of first block"]),
        "slips": [[int(s) * spt, spt] if by_track else int(s) for s in sorted(zone["slips"])],
        "spares": spares(zone, layout, surfaces, sectors),
    }
    if z["last_cyl"] > last:
        z["spares"].append([sectors, (z["last_cyl"] - last) * surfaces * spt])
    moved = [(int(a), int(b)) for a, b in zip(*[iter(zone["defects"])] * 2) if a != b]
    if moved:
        z["remaps"] = [[a, b] for a, b in moved]
    return z


def zones_of(layout, surfaces):
    zones = layout["Zones"]
    starts = [int(z["First cylinder number"]) for z in zones[1:]] + [0]
    if layout["LBN-to-PBN mapping scheme"] > 1:
        raise Refused("cylinders that alternate by their own number")
    return [zone_of(z, layout, surfaces, s) for z, s in zip(zones, starts)]


def seeks_of(mechanics, folder):
    """Lines of a distance, a time, perhaps its deviation, and perhaps the time for writes."""
    if mechanics["Seek type"] != "extracted":
        raise Refused(f"seek type {mechanics['Seek type']}")
    with open(os.path.join(folder, mechanics["Full seek curve"]), encoding="ascii") as f:
        rows = [line.replace(",", " ").split() for line in f if line[:1].isdigit()]
    curves = {"seek_ms": [[int(r[0]), float(r[1])] for r in rows]}
    if all(len(r) > 3 for r in rows):
        curves["write_seek_ms"] = [[int(r[0]), float(r[3])] for r in rows]
    return curves


def overheads_of(disk, behind, cached):
    def both(name):
        return [disk[f"{name} over. after read"], disk[f"{name} over. after write"]]

    # With fast writes DiskSim counts every write as a hit.
    o = {"read_miss_ms": both("Read miss"), "write_miss_ms": both("Write miss")}
    if cached or behind:
        o["read_hit_ms"] = both("Read hit")
    if behind:
        o["write_hit_ms"] = both("Write hit")
    o["read_end_ms"] = disk["Read completion overhead"]
    o["write_end_ms"] = disk["Write completion overhead"]
    for name, value in disk.items():
        if value and ("disconnect" in name or "reselect" in name or name.startswith("Extra")):
            if name not in ("Never disconnect", "Disconnect write if seek"):
                note(f"left out: {name} = {value}")
    return o


def cache_of(disk, cached, behind, track):
    ahead, segment = int(disk["Buffer continuous read"]), int(disk["Segment size (in blks)"])
    writers = int(disk["Maximum number of write segments"])
    c = {"zero_latency": disk["Immediate buffer read"] > 0}
    c["zero_latency_writes"] = disk["Immediate buffer write"] > 0
    if cached:
        n = int(disk["Number of buffer segments"] - disk["Use separate write segment"])
        c["segments"], c["segment_blocks"] = max(n, 1), segment
        blocks = int(disk["Maximum read-ahead (blks)"])
        if ahead and blocks:
            c["readahead_blocks"] = blocks
            c["readahead_within"] = {1: "track", 2: "cylinder", 4: "track"}.get(ahead, "drive")
            c["readahead_streams"] = ahead == 4 and segment < track
            c["readahead_misses"] = disk["Read-ahead on idle hit"] == 0
            c["keep_reads"] = disk["Read-ahead over requested"] <= 0
        c["keep_passing"] = disk["Read any free blocks"] > 0
        c["keep_writes"] = disk["Allow read hits on write data"] > 0
        c["write_drops"] = not c["keep_writes"] or disk["Fast write level"] < 2
    if behind:
        c["write_behind"], c["write_blocks"] = True, segment * writers
        c["write_segments"] = writers
    return c


def bus_of(disk, blocks):
    """The slowest on the way of a block."""
    fields = ("Read block transfer time", "Write block transfer time")
    buses = [[b[f] for f in fields] for kind, b in blocks.items() if kind[0] == "disksim_bus"]
    read, write = [max([disk["Bulk sector transfer time"]] + [b[i] for b in buses]) for i in (0, 1)]
    if read != write:
        raise Refused("a bus with a time for reads and another for writes")
    if not read:
        return {}
    # The low mark says when a full segment takes on more: the arm does not wait for it.
    late = disk["High (read) water mark"] >= 1
    return {"bus_ms_per_block": read, "bus_overlap": "writes" if late else "both"}


def model_of(path, name=None):
    blocks = Parameters(path).blocks()
    disks = {k[1]: b for k, b in blocks.items() if k[0] == "disksim_disk"}
    name = name or next(iter(disks), None)
    if name not in disks:
        raise Refused(f"{path}: there is no disk {name or ''}")
    disk = disks[name]
    drive = disk["Model"]
    layout, mechanics = drive["Layout Model"], drive["Mechanical Model"]
    surfaces = int(drive["Number of data surfaces"])
    cached, behind = disk["Enable caching in buffer"] > 0, disk["Fast write level"] > 0
    track = max(int(z["Blocks per track"]) for z in layout["Zones"])
    m = {
        "schema": "spindle.model/1",
        "kind": "rotating",
        "name": name,
        "about": f"by the figures of DiskSim's {os.path.basename(path)}",
        "rpm": mechanics["Rotation speed (in rpms)"],
        "surfaces": surfaces,
        "layout_mapping": int(layout["LBN-to-PBN mapping scheme"]),
        "head_switch_ms": mechanics["Head switch time"],
        "write_settle_ms": mechanics["Add. write settling delay"],
        "overheads": overheads_of(disk, behind, cached),
        "cache": cache_of(disk, cached, behind, track),
        **seeks_of(mechanics, os.path.dirname(path)),
        "zones": zones_of(layout, surfaces),
    }
    m.update(bus_of(disk, blocks))
    return m


class Done(ctypes.Structure):
    """struct sp_vdrive_done."""

    _fields_ = [
        ("cookie", ctypes.c_void_p),
        ("op", ctypes.c_int),
        ("hit", ctypes.c_bool),
        ("submit_ns", ctypes.c_uint64),
        ("done_ns", ctypes.c_uint64),
    ]


class Drive:
    """<spindle/vdrive.h>."""

    def __init__(self, model):
        build = os.environ.get("SP_BUILD", "build")
        self.lib = ctypes.CDLL(os.path.join(build, "lib", "libspindle.so.0"))
        self.lib.sp_vdrive_advance.restype = ctypes.c_size_t
        self.lib.sp_vdrive_next_ns.restype = ctypes.c_uint64
        self.drive = ctypes.c_void_p()
        err = ctypes.create_string_buffer(8192)  # struct sp_errinfo, and more
        if self.lib.sp_vdrive_open(ctypes.byref(self.drive), model.encode(), err):
            text = [t for t in re.findall(rb"[ -~]{8,}", err.raw)]
            raise Refused(f"{model}: {b' '.join(text).decode()}")

    def serve(self, now, write, offset, size):
        """When a request is done that is submitted now; the drive is idle otherwise."""
        c, done = ctypes, Done()
        if self.lib.sp_vdrive_submit(
            self.drive, c.c_uint64(now), write, c.c_uint64(offset), c.c_uint64(size), None
        ):
            raise Refused(f"a request at {offset} of {size} bytes")
        while not self.lib.sp_vdrive_advance(
            self.drive, c.c_uint64(self.lib.sp_vdrive_next_ns(self.drive)), c.byref(done), 1
        ):
            pass
        return done.done_ns


def replay(model, trace):
    """Response times in ms: those of the trace, and those of the model."""
    drive, now, real, ours = Drive(model), 0, [], []
    with open(trace, encoding="ascii") as f:
        for line in f:
            op, _, block, blocks, response, then = line.split()
            done = drive.serve(now, op == "W", int(block) * 512, int(blocks) * 512)
            real.append(float(response) / 1000)
            ours.append((done - now) / 1e6)
            now = done + round(float(then) * 1000)
    if not real:
        raise Refused(f"{trace}: no requests")
    return real, ours


def main(args):
    wanted = {"model": (2, 3), "rms": (3,), "times": (3,)}
    if not args or len(args) not in wanted.get(args[0], ()):
        raise Refused("usage: model PARAMETERS [NAME] | rms MODEL TRACE | times MODEL TRACE")
    if args[0] == "model":
        json.dump(model_of(*args[1:]), sys.stdout, indent=1)
        print()
        return
    with tempfile.NamedTemporaryFile("w", suffix=".json") as f:
        if not args[1].endswith(".json"):
            json.dump(model_of(args[1]), f)
            f.flush()
        real, ours = replay(args[1] if args[1].endswith(".json") else f.name, args[2])
    if args[0] == "times":
        print("".join(f"{a:.3f} {b:.3f}\n" for a, b in zip(real, ours)), end="")
        return
    square = sum((a - b) ** 2 for a, b in zip(sorted(real), sorted(ours))) / len(real)
    mean = sum(real) / len(real), sum(ours) / len(ours)
    print(f"requests {len(real)}  mean {mean[0]:.3f} {mean[1]:.3f} ms", end="  ")
    print(f"rms {math.sqrt(square):.3f} ms")


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except (Refused, OSError, ValueError, KeyError) as e:
        note(e if not isinstance(e, KeyError) else f"no parameter {e}")
        sys.exit(2)
