# SPDX-License-Identifier: MIT
"""Compares xsort and xjoin with those of another commit on a disk, a slowed disk, and in memory.

    scripts/bench/disk.py                           against the last release, or HEAD~1 if there is none
    scripts/bench/disk.py --against=COMMIT --runs=9 256M join
    scripts/bench/disk.py --media=disk,memory       --list: rows and media; --help: the other options

Media:
    disk      the folder of build/bench (BENCH_DIR), not in the page cache
    slow      the same, which reads and writes 200 MB/s (cgroup, root)
    requests  the same, with 2,000 reads and as many writes per second (cgroup, root)
    memory    /dev/shm; 1 GB needs about 4 GB

The two programs alternate, and each begins every other round.  Before each run everything is
synced and, as root, all caches are dropped.  The time includes sync; figures are medians.  Outputs
of the first round are compared.  A ratio is that of this commit to the other one.  Of a slowed disk,
the last column is the elapsed time divided by that of the bytes, or of the requests, which it got: a
sort cannot write its result while it reads its input.  In memory, a first round is not counted, since
a virtual machine gets its memory then.
"""

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SLOW_BYTES = 200_000_000
SLOW_REQUESTS = 2000
# Name: program, files, options.
ROWS = {
    "256M": ("xsort", ["rec.asc"], ["-S", "256M", "--parallel=2"]),
    "64M": ("xsort", ["rec.asc"], ["-S", "64M", "--parallel=2"]),
    "64M-8": ("xsort", ["rec.asc"], ["-S", "64M", "--parallel=8"]),
    "4G": ("xsort", ["rec.asc"], ["-S", "4G", "--parallel=2"]),
    "lineitem": ("xsort", ["lineitem"], ["-t|", "-k2,2n", "-S", "256M"]),
    "stable": ("xsort", ["lineitem"], ["-s", "-t|", "-k4,4n", "-S", "256M"]),
    "join": ("xjoin", ["lineitem", "orders"], ["-t|", "-S", "256M"]),
}
MEDIA = ("disk", "slow", "requests", "memory")


def say(text):
    print(f"bench-disk: {text}", file=sys.stderr)


def git(*arguments):
    done = subprocess.run(["git", "-C", ROOT, *arguments], capture_output=True, text=True)
    return done.stdout.strip() if done.returncode == 0 else ""


def build(commit, folder):
    """Builds the tools of a commit; returns the folder of its programs."""
    name = git("rev-parse", "--short=12", f"{commit}^{{commit}}")
    if not name:
        sys.exit(f"bench-disk: {commit} is not a commit")
    tree = os.path.join(folder, "tree-" + name)
    if not os.path.exists(tree):
        subprocess.run(["git", "clone", "-q", "--shared", "--no-checkout", ROOT, tree], check=True)
        subprocess.run(["git", "-C", tree, "checkout", "-q", name], check=True)
    environment = {k: v for k, v in os.environ.items() if not k.startswith("MAKE")}
    subprocess.run(["make", "-s", "-C", tree, f"-j{os.cpu_count()}", "build/bin/xsort", "build/bin/xjoin"],
                   stdout=subprocess.DEVNULL, check=True, env=environment)
    return os.path.join(tree, "build/bin")


def make_data(folder, size):
    """Makes the inputs; a scale of 1 has 800 MB of lineitem."""
    os.makedirs(folder, exist_ok=True)
    share = size / 1e9
    kinds = {"rec.asc": ["records", "-n", str(int(1e7 * share))],
             "lineitem": ["lineitem", "--scale", str(1.3 * share)],
             "orders": ["orders", "--scale", str(1.3 * share)]}
    for name, kind in kinds.items():
        path = os.path.join(folder, name)
        if not os.path.exists(path):
            say(f"making {name}")
            subprocess.run([os.path.join(ROOT, "build/bin/xgen"), *kind, "-o", path], check=True)


def whole_device(folder):
    """The number of the disk that has the folder, as blkio and io.max want it; or None."""
    number = os.stat(folder).st_dev
    path = f"/sys/dev/block/{os.major(number)}:{os.minor(number)}"
    if not os.path.exists(path):
        return None
    if os.path.exists(path + "/partition"):
        path = os.path.dirname(os.path.realpath(path))
    with open(path + "/dev", encoding="ascii") as f:
        return f.read().strip()


class Slowed:
    """A cgroup whose processes get so much of a device; `path` is None if it cannot be made."""

    def __init__(self, folder, kind, limit):
        self.path = None
        device = whole_device(folder)
        mounts = [line.split() for line in open("/proc/mounts", encoding="ascii", errors="replace")]
        first = [m[1] for m in mounts if m[2] == "cgroup" and "blkio" in m[3].split(",")]
        second = [m[1] for m in mounts if m[2] == "cgroup2"]
        if not device or not first + second:
            return
        path = os.path.join((first + second)[0], f"spindle-bench.{os.getpid()}")
        try:
            os.mkdir(path)
            if first:
                for way in ("read", "write"):
                    with open(f"{path}/blkio.throttle.{way}_{kind}_device", "w", encoding="ascii") as f:
                        f.write(f"{device} {limit}")
            else:
                with open(f"{path}/io.max", "w", encoding="ascii") as f:
                    f.write(f"{device} r{kind}={limit} w{kind}={limit}")
            self.path = path
        except OSError:
            if os.path.isdir(path):
                os.rmdir(path)

    def enter(self):
        with open(f"{self.path}/cgroup.procs", "w", encoding="ascii") as f:
            f.write(str(os.getpid()))

    def close(self):
        if self.path:
            os.rmdir(self.path)


def settle():
    subprocess.run(["sync"], check=True)
    if os.access("/proc/sys/vm/drop_caches", os.W_OK):
        with open("/proc/sys/vm/drop_caches", "w", encoding="ascii") as f:
            f.write("3")


def device_requests(folder):
    """Reads and writes that the disk of the folder has completed, and their bytes, each way."""
    device = whole_device(folder)
    if not device:
        return (0, 0, 0, 0)
    with open(f"/sys/dev/block/{device}/stat", encoding="ascii") as f:
        fields = [int(x) for x in f.read().split()]
    return (fields[0], fields[4], fields[2] * 512, fields[6] * 512)


def run(program, row, folder, group):
    """Returns elapsed and processor seconds, and what the device did."""
    kind, files, options = ROWS[row]
    out = os.path.join(folder, "out")
    if os.path.exists(out):
        os.remove(out)
    settle()
    before = device_requests(folder)
    began = time.monotonic()
    child = os.fork()
    if not child:
        if group:
            group.enter()
        os.chdir(folder)
        os.dup2(os.open("out", os.O_WRONLY | os.O_CREAT, 0o644), 1)
        os.execv(program, [kind, *options, "-T", ".", *files])
    status, used = os.wait4(child, 0)[1:]
    if status:
        sys.exit(f"bench-disk: {program} failed in row {row}")
    subprocess.run(["sync", "-f", out], check=True)
    elapsed = time.monotonic() - began
    done = [b - a for a, b in zip(before, device_requests(folder))]
    return elapsed, used.ru_utime + used.ru_stime, done


def bound(medium, done):
    """Seconds that a slowed device needs for what it did, reads and writes one after the other."""
    reads, writes, read_bytes, write_bytes = done
    if medium == "slow":
        return (read_bytes + write_bytes) / SLOW_BYTES
    return (reads + writes) / SLOW_REQUESTS


def measure(row, folder, programs, runs, group, warm):
    results = {name: [] for name in programs}
    wanted = None
    for n in range(-1 if warm else 0, runs):
        for name in sorted(programs, reverse=n % 2 == 1):
            result = run(os.path.join(programs[name], ROWS[row][0]), row, folder, group)
            if n >= 0:
                results[name].append(result)
            if n == 0:
                subprocess.run(["mv", f"{folder}/out", f"{folder}/out.{name}"], check=True)
        if n == 0:
            wanted = subprocess.run(["cmp", f"{folder}/out.new", f"{folder}/out.other"]).returncode
            os.remove(f"{folder}/out.new")
            os.remove(f"{folder}/out.other")
    if wanted:
        sys.exit(f"bench-disk: the outputs of row {row} differ")
    return results


def report(medium, row, results):
    def median(name, figure):
        return statistics.median(r[figure] for r in results[name])

    old, new = median("other", 0), median("new", 0)
    old_cpu, new_cpu = median("other", 1), median("new", 1)
    line = (f"| {medium} | {row} | {old:.2f} | {old_cpu:.2f} | {new:.2f} | {new_cpu:.2f} | "
            f"{new / old:.2f} | {new_cpu / old_cpu:.2f} |")
    if medium in ("slow", "requests"):
        line += f" {new / bound(medium, results['new'][-1][2]):.2f} |"
    else:
        line += " |"
    print(line, flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", nargs="*", metavar="ROW")
    parser.add_argument("--against", default=git("describe", "--tags", "--abbrev=0") or "HEAD~1")
    parser.add_argument("--media", default=",".join(MEDIA))
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--size", type=float, default=1e9, help="bytes of rec.asc")
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    rows, media = options.rows or list(ROWS), options.media.split(",")
    if options.list:
        print(*ROWS, "", *MEDIA, sep="\n")
        return
    for unknown in [r for r in rows if r not in ROWS] + [m for m in media if m not in MEDIA]:
        sys.exit(f"bench-disk: there is no row or medium '{unknown}'; --list shows them")
    base = os.path.realpath(os.environ.get("BENCH_DIR") or os.path.join(ROOT, "build/bench"))
    os.makedirs(base, exist_ok=True)
    programs = {"new": os.path.join(ROOT, "build/bin"), "other": build(options.against, base)}
    disk, memory = os.path.join(base, "disk"), f"/dev/shm/spindle-bench.{os.getpid()}"
    make_data(disk, options.size)
    print(f"| medium | row | {options.against}: s | processor s | this: s | processor s | ratio | "
          "ratio of processor s | / bound |\n|---|---|---|---|---|---|---|---|---|")
    for medium in media:
        folder, group = disk, None
        if medium == "memory":
            folder = memory
            shutil.copytree(disk, memory)
        elif medium != "disk":
            kind, limit = ("bps", SLOW_BYTES) if medium == "slow" else ("iops", SLOW_REQUESTS)
            group = Slowed(disk, kind, limit)
            if not group.path:
                say(f"{medium} is skipped: needs root, and a cgroup with the controller blkio or io")
                continue
        try:
            for row in rows:
                report(medium, row, measure(row, folder, programs, options.runs, group,
                                            medium == "memory" and row == rows[0]))
        finally:
            for name in ("out", "out.new", "out.other"):
                if os.path.exists(f"{folder}/{name}"):
                    os.remove(f"{folder}/{name}")
            if medium == "memory":
                shutil.rmtree(memory)
            elif group:
                group.close()


if __name__ == "__main__":
    main()
