#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs a command, and a check on each of the states that a power failure can leave.

    powerfail.py SHIM FOLDER CHECK COMMAND [ARGUMENT...]

The command runs in FOLDER under the shim powerfail.so, which records it. CHECK is a command of
bash; it runs in a folder with the files of a state, and prints what is wrong. POWER_ENDED is 1
there if the command had ended before the power failed, and 0 otherwise. The last line of the
output is "COUNT states"; lines before it are the complaints.

States. The power fails before a sync, or after the end. Changes that a sync preceded are there.
Any subset of the other ones is there:
- a write to a file, whole or, in seeded states, each of its sectors of 512 bytes or not. A sector
  has one copy in the page cache, so it holds all writes up to the last one that is there.
- a change of a file's size. Changes of one file's size keep their order, since file systems have a
  journal of them. A file that became longer, but whose data is not there, has zeros.
- a change of names: creation, link, rename (whole or not at all), removal. A change needs the
  earlier ones of the same name, and the removal of a folder those of its names. Changes of other
  names are independent, which is more than file systems with a journal leave. Only the sync of
  a folder makes its names durable; the sync of a file does not.

If at most SP_POWER_SUBSETS (10) changes are not synced, there is a state for each subset. There are
SP_POWER_STATES (200) seeded states besides, spread over all failures; SEED (1) chooses them.
Equal states are checked once.
"""

import hashlib
import itertools
import os
import random
import shutil
import struct
import subprocess
import sys

SECTOR = 512
SUBSETS = int(os.environ.get("SP_POWER_SUBSETS", "10"))


class File:
    """Contents and size: as the program sees them, and as they are durable."""

    def __init__(self, data=b""):
        self.now = bytearray(data)
        self.durable = bytes(data)
        self.changes = []  # not synced, in order


class Folder:
    def __init__(self):
        self.names = {}


class Data:
    """Sectors as a write left them."""

    def __init__(self, file, sectors):
        self.file, self.sectors = file, sectors


class Size:
    def __init__(self, file, size):
        self.file, self.size = file, size


class Names:
    """Names of folders that a change adds (with a file or folder) or removes (None)."""

    def __init__(self, entries, emptied=None):
        self.entries = entries  # (folder, name, object)
        self.emptied = emptied  # the folder that is removed

    def needs(self, earlier):
        mine = {(id(f), n) for f, n, _ in self.entries}
        return any(f is self.emptied or (id(f), n) in mine for f, n, _ in earlier.entries)


class Disk:
    def __init__(self, top):
        self.inodes = {}
        self.every = []  # file, those without a name as well
        self.names = []  # changes of names that are not synced, in order
        self.root = self.scan(top)

    def scan(self, path):
        st = os.lstat(path)
        if os.path.isdir(path):
            made = Folder()
            for name in os.listdir(path):
                made.names[name] = self.scan(os.path.join(path, name))
        elif st.st_ino in self.inodes:
            return self.inodes[st.st_ino]
        else:
            with open(path, "rb") as f:
                made = self.file(f.read())
        self.inodes[st.st_ino] = made
        return made

    def file(self, data=b""):
        self.every.append(File(data))
        return self.every[-1]

    def resize(self, file, size):
        if size == len(file.now):
            return
        if size < len(file.now):
            del file.now[size:]
        else:
            file.now.extend(bytes(size - len(file.now)))
        file.changes.append(Size(file, size))

    def write(self, file, at, data):
        self.resize(file, max(len(file.now), at + len(data)))
        file.now[at : at + len(data)] = data
        first, end = at // SECTOR, (at + len(data) + SECTOR - 1) // SECTOR
        sectors = {i: bytes(file.now[i * SECTOR : (i + 1) * SECTOR]) for i in range(first, end)}
        if sectors:
            file.changes.append(Data(file, sectors))
        return sectors

    def write_durable(self, file, at, data):
        """The write and all sizes are durable; earlier writes of the same sectors with it."""
        sectors = self.write(file, at, data)
        sizes = [c for c in file.changes if isinstance(c, Size)]
        file.durable = applied(file.durable, [*sizes, Data(file, sectors)], lambda c: c.sectors)
        for c in file.changes:
            if isinstance(c, Data):
                for i in sectors:
                    c.sectors.pop(i, None)
        file.changes = [c for c in file.changes if isinstance(c, Data) and c.sectors]

    def sync(self, thing):
        if isinstance(thing, File):
            thing.durable = bytes(thing.now)
            thing.changes = []
            return
        wanted = [any(f is thing for f, _, _ in c.entries) for c in self.names]
        for i in reversed(range(len(wanted))):
            for k in range(i):
                wanted[k] = wanted[k] or (wanted[i] and self.names[i].needs(self.names[k]))
        for c, take in zip(self.names, wanted):
            if take:
                rename_in(c, lambda f: f.names)
        self.names = [c for c, take in zip(self.names, wanted) if not take]

    def pending(self):
        return self.names + [c for f in self.every for c in f.changes]

    def record(self, op, inode, offset, count, first, second):
        """Applies a record of the shim."""
        known = self.inodes.get(inode)
        if op in "CNLRU":
            self.rename(op, inode, offset, count, first, second)
        elif op == "X":
            raise SystemExit("powerfail: not recorded: " + first.decode())
        elif op == "A":
            for thing in [*self.every, *self.inodes.values()]:
                self.sync(thing)
        elif known is None:
            return
        elif op == "W":
            self.write(known, offset, first)
        elif op == "D":
            self.write_durable(known, offset, first)
        elif op == "Z":
            self.write(known, offset, bytes(max(0, min(count, len(known.now) - offset))))
        elif op == "S":
            self.sync(known)
        else:
            self.resize(known, offset if op == "T" else max(offset, len(known.now)))

    def rename(self, op, inode, offset, count, first, second):
        folder, name = self.inodes.get(offset), first.decode(errors="surrogateescape")
        if op in "CN":
            self.inodes[inode] = Folder() if count else self.file()
        if op == "N" or not isinstance(folder, Folder):
            return
        if op in "CL":
            entries, emptied = [(folder, name, self.inodes[inode])], None
        elif op == "U":
            entries, emptied = [(folder, name, None)], self.seen(folder, name) if count else None
        else:
            to, new = self.inodes[count], second.decode(errors="surrogateescape")
            entries, emptied = [(folder, name, None), (to, new, self.seen(folder, name))], None
        self.names.append(Names(entries, emptied))

    def seen(self, folder, name):
        """The object that the program sees under a name."""
        found = folder.names.get(name)
        for change in self.names:
            for f, n, thing in change.entries:
                if f is folder and n == name:
                    found = thing
        return found


def rename_in(change, names_of):
    for folder, name, thing in change.entries:
        if thing is None:
            names_of(folder).pop(name, None)
        else:
            names_of(folder)[name] = thing


def applied(durable, changes, sectors_of):
    """The bytes of a file after these changes; data after its end is not seen."""
    data, size = bytearray(durable), len(durable)
    for c in changes:
        if isinstance(c, Size):
            if c.size < size:
                data[c.size :] = bytes(max(0, len(data) - c.size))
            size = c.size
            continue
        for i, sector in sectors_of(c).items():
            end = i * SECTOR + len(sector)
            data.extend(bytes(max(0, end - len(data))))
            data[i * SECTOR : end] = sector
    data.extend(bytes(max(0, size - len(data))))
    return bytes(data[:size])


class State:
    """The files and folders that are there if these changes are there, and no others."""

    def __init__(self, disk, chosen, sectors_of=lambda c: c.sectors):
        self.root, self.sectors_of = disk.root, sectors_of
        self.chosen = set(map(id, chosen))
        self.folders = {}
        left_out = []
        for c in disk.names:
            if id(c) not in self.chosen or any(c.needs(e) for e in left_out):
                left_out.append(c)
            else:
                rename_in(c, self.names_of)

    def names_of(self, folder):
        return self.folders.setdefault(id(folder), dict(folder.names))

    def contents(self, file):
        """With sizes up to the last one that is there."""
        sizes = [c for c in file.changes if isinstance(c, Size)]
        last = max((i for i, c in enumerate(sizes) if id(c) in self.chosen), default=-1)
        taken = set(map(id, sizes[: last + 1]))
        changes = [
            c
            for c in file.changes
            if id(c) in (taken if isinstance(c, Size) else self.chosen)
        ]
        return applied(file.durable, changes, self.sectors_of)

    def files(self, folder=None, path=""):
        """Yields path and contents of each file, and path and None of each folder."""
        for name, thing in sorted(self.names_of(folder or self.root).items()):
            at = os.path.join(path, name)
            if isinstance(thing, Folder):
                yield at, None
                yield from self.files(thing, at)
            else:
                yield at, self.contents(thing)

    def make(self, top):
        shutil.rmtree(top, ignore_errors=True)
        os.mkdir(top)
        for path, data in self.files():
            if data is None:
                os.mkdir(os.path.join(top, path))
            else:
                with open(os.path.join(top, path), "wb") as f:
                    f.write(data)

    def digest(self):
        h = hashlib.sha256()
        for path, data in self.files():
            h.update(repr((path, None if data is None else len(data))).encode())
            h.update(data or b"")
        return h.digest()


def torn(rng):
    """Chooses the sectors of a write that are there: a beginning, an end, or any."""

    def choose(change):
        kind, numbers = rng.randrange(4), sorted(change.sectors)
        cut = rng.randrange(len(numbers) + 1) if numbers else 0
        kept = (numbers, numbers[:cut], numbers[cut:], [i for i in numbers if rng.random() < 0.5])
        return {i: change.sectors[i] for i in kept[kind]}

    return choose


def frozen(choose):
    """One choice for each change, so that a state is the same whenever it is asked."""
    made = {}

    def remembered(change):
        if id(change) not in made:
            made[id(change)] = choose(change)
        return made[id(change)]

    return remembered


def records(path):
    with open(path, "rb") as f:
        log = f.read()
    at = 0
    while at < len(log):
        op, inode, offset, count, n, m = struct.unpack_from("=6Q", log, at)
        at += 48
        yield chr(op), inode, offset, count, log[at : at + n], log[at + n : at + n + m]
        at += n + m


class Checker:
    def __init__(self, check, top):
        self.check, self.top = check, top
        self.seen = set()
        self.complaints = 0

    def state(self, state, ended, name):
        digest = (state.digest(), ended)
        if digest in self.seen:
            return
        self.seen.add(digest)
        state.make(self.top)
        done = subprocess.run(
            ["bash", "-c", self.check],
            cwd=self.top,
            env={**os.environ, "POWER_ENDED": str(int(ended))},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
        )
        said = done.stdout.decode(errors="replace").strip()
        if done.returncode and not said:
            said = f"status {done.returncode}"
        if said:
            self.complaints += 1
            print(f"{name}: {said}" if self.complaints <= 10 else ".")


def failure(disk, checker, ended, name, seeded, rng):
    """The power fails now: all subsets if there are few, and seeded states."""
    pending = disk.pending()
    if len(pending) <= SUBSETS:
        for n in range(len(pending) + 1):
            for chosen in itertools.combinations(pending, n):
                numbers = [i for i, c in enumerate(pending) if c in chosen]
                what = f"{name}, changes {numbers} of {len(pending)}"
                checker.state(State(disk, chosen), ended, what)
    for i in range(seeded):
        share = rng.random()
        chosen = [c for c in pending if rng.random() < share]
        state = State(disk, chosen, frozen(torn(rng)))
        checker.state(state, ended, f"{name}, seeded state {i} of {len(pending)} changes")


def main():
    shim, folder, check, *command = sys.argv[1:]
    log, top = folder + ".log", folder + ".state"
    disk = Disk(folder)
    if os.path.exists(log):
        os.remove(log)
    env = {**os.environ, "POWERFAIL_LOG": os.path.abspath(log), "LD_PRELOAD": shim}
    subprocess.run(command, cwd=folder, env=env, check=True)
    done = list(records(log))
    failures = sum(r[0] in "SA" for r in done) + 1
    rng = random.Random(int(os.environ.get("SEED", "1")))
    seeded = -(-int(os.environ.get("SP_POWER_STATES", "200")) // failures)
    checker = Checker(check, top)
    for i, r in enumerate(done):
        if r[0] in "SA":
            failure(disk, checker, False, f"before sync {i} of {len(done)} calls", seeded, rng)
        disk.record(*r)
    failure(disk, checker, True, "after the end", seeded, rng)
    if State(disk, disk.pending()).digest() != State(Disk(folder), []).digest():
        print("the recorded state is not that of the files")
    print(f"{len(checker.seen)} states")
    shutil.rmtree(top, ignore_errors=True)
    os.remove(log)


if __name__ == "__main__":
    main()
