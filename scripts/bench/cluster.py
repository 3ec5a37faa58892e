# SPDX-License-Identifier: MIT
"""Measures spindle-ray, xsort and xjoin alone, ray.data and Spark, on one machine with two workers.

    make bench-ray ROWS='sort skew join raydata spark sparkjoin' GB=4

A cluster of three raylets on the loopback interface: a head without processors and two nodes of
one, with 600 MB of object store in all.  xsort gets the same memory in all: two tasks and the
stores.  Each row prints seconds, those to start Ray or Spark apart; the page cache is dropped
before each where that is allowed.
"""

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(os.environ["SP_BENCH_FOLDER"])
BUILD = Path(os.environ["SP_BUILD"])
GB = float(os.environ.get("GB") or 4)
TASK = 256 << 20
STORE = 600 * 10**6
TOTAL = 2 * TASK + STORE


def drop_caches():
    subprocess.run(["sync"], check=True)
    try:
        Path("/proc/sys/vm/drop_caches").write_text("3")
    except OSError:
        print("# the page cache is not dropped: not root", flush=True)


def measure(name, function):
    drop_caches()
    began = time.monotonic()
    function()
    subprocess.run(["sync"], check=True)
    seconds = time.monotonic() - began
    print(f"{name:28} {seconds:8.2f} s", flush=True)
    return seconds


def tool(name, *words):
    subprocess.run([BUILD / "bin" / name, *map(str, words)], check=True)


def data(name, *words):
    path = HERE / name
    if not path.exists():
        with open(path, "wb") as f:
            subprocess.run([BUILD / "bin/xgen", *map(str, words)], check=True, stdout=f)
    return path


def records():
    return data(f"records-{GB:g}", f"--bytes={int(GB * 10**9)}", "records")


def skewed():
    """Half of all records have one key."""
    path = HERE / f"skewed-{GB:g}"
    if not path.exists():
        with open(records(), "rb") as f, open(path, "wb") as to:
            while block := f.read(100 << 18):
                lines = bytearray(block)
                for at in range(0, len(lines) - 10, 200):
                    lines[at : at + 10] = b"0123456789"
                to.write(lines)
    return path


def start_cluster():
    import ray
    from ray.cluster_utils import Cluster
    from spindle_io.ray.cli import SPILLING

    node = {"object_store_memory": STORE // 3, "node_ip_address": "127.0.0.1"}
    cluster = Cluster(
        initialize_head=True,
        head_node_args={
            **node,
            "num_cpus": 0,
            "include_dashboard": False,
            "_system_config": SPILLING,
        },
    )
    for _ in range(2):
        cluster.add_node(**node, num_cpus=1)
    ray.init(address=cluster.address, log_to_driver=False, logging_level="error")
    warm_up(ray)
    return cluster


def warm_up(ray):
    """Processes of workers, and those that spill and restore, start with the first need of them."""

    @ray.remote(scheduling_strategy="SPREAD")
    def give():
        time.sleep(0.2)
        return bytes(20 << 20)

    @ray.remote(scheduling_strategy="SPREAD")
    def take(refs):
        time.sleep(0.2)
        return sum(len(ray.get(ref)) for ref in refs)

    refs = [give.remote() for _ in range(40)]
    ray.get([take.remote(refs[i::8]) for i in range(8)])


def spindle_ray(*words):
    from spindle_io.ray import cli

    out = HERE / "out"
    status = cli.main(
        [words[0], f"-S{TASK >> 20}M", "--overwrite", "-o", str(out), "--stats", *words[1:]]
    )
    if status:
        sys.exit(status)


def row_sort():
    path, out = records(), HERE / "sorted"
    alone = measure("xsort", lambda: tool("xsort", f"-S{TOTAL}b", "-T", HERE, "-o", out, path))
    began = time.monotonic()
    cluster = start_cluster()
    print(f"# Ray started in {time.monotonic() - began:.1f} s")
    ours = measure("spindle-ray sort", lambda: spindle_ray("sort", str(path)))
    stop(cluster)
    with open(HERE / "all", "wb") as to:
        for part in sorted((HERE / "out").iterdir()):
            with open(part, "rb") as f:
                shutil.copyfileobj(f, to, 1 << 20)
    subprocess.run(["cmp", out, HERE / "all"], check=True)
    print(f"spindle-ray / xsort          {ours / alone:8.2f}")


def row_skew():
    even, skew = records(), skewed()
    cluster = start_cluster()
    words = ("sort", "-k1.1,1.10", "--ranges=64")
    a = measure("64 ranges, even", lambda: spindle_ray(*words, str(even)))
    b = measure("64 ranges, half one key", lambda: spindle_ray(*words, str(skew)))
    stop(cluster)
    print(f"skewed / even                {b / a:8.2f}")


def tables():
    """lineitem and orders of TPC-H, SF as GB, in 8 files each."""
    for name in ("lineitem", "orders"):
        path = HERE / f"{name}-{GB:g}"
        if not path.exists():
            whole = data(f"{name}.tmp", f"--scale={GB:g}", "--shuffle", name)
            path.mkdir()
            subprocess.run(["split", "-n", "l/8", whole, path / "part-"], check=True)
            whole.unlink()
    return [sorted(map(str, (HERE / f"{n}-{GB:g}").iterdir())) for n in ("lineitem", "orders")]


def row_join():
    left, right = tables()
    one = []
    for name, files in (("l", left), ("o", right)):
        one.append(HERE / f"{name}-whole")
        with open(one[-1], "wb") as f:
            subprocess.run(["cat", *files], check=True, stdout=f)
    out = HERE / "joined"
    alone = measure("xjoin", lambda: tool("xjoin", f"-S{TOTAL}b", "-T", HERE, "-t|",
                                          f"--output={out}", *one))  # fmt: skip
    cluster = start_cluster()
    ours = measure("spindle-ray join", lambda: spindle_ray("join", "-t|", *left, "--", *right))
    stop(cluster)
    size = sum(p.stat().st_size for p in (HERE / "out").iterdir())
    print(f"# the same length: {size == out.stat().st_size}")
    print(f"spindle-ray / xjoin          {ours / alone:8.2f}")


def stop(cluster):
    import ray

    ray.shutdown()
    cluster.shutdown()


def row_raydata():
    import ray

    cluster = start_cluster()

    def run():
        data = ray.data.read_text(str(records()))
        data.sort("text").write_csv(str(HERE / "out-raydata"))

    shutil.rmtree(HERE / "out-raydata", ignore_errors=True)
    measure("ray.data sort", run)
    stop(cluster)


def spark_session():
    from pyspark.sql import SparkSession

    return (
        SparkSession.builder.master("local[2]")
        .config("spark.driver.memory", f"{TOTAL >> 20}m")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.ui.enabled", "false")
        .config("spark.local.dir", str(HERE))
        .getOrCreate()
    )


def on_spark(name, function):
    """What function does with a session and the name of a folder; returns that folder."""
    began = time.monotonic()
    spark = spark_session()
    print(f"# Spark started in {time.monotonic() - began:.1f} s")
    out = HERE / "out-spark"
    shutil.rmtree(out, ignore_errors=True)
    measure(name, lambda: function(spark, str(out)))
    spark.stop()
    return out


def row_spark():
    path = str(records())
    on_spark(
        "spark text orderBy",
        lambda spark, out: spark.read.text(path).orderBy("value").write.text(out),
    )


def row_sparkjoin():
    """lineitem and orders as CSV of texts, without quotes; every column of both is written."""
    left, right = tables()

    def join(spark, out):
        form = {"sep": "|", "quote": ""}
        a, b = (spark.read.csv(files, **form) for files in (left, right))
        b = b.toDF(*(f"o{name}" for name in b.columns))
        a.join(b, a["_c0"] == b["o_c0"]).drop("o_c0").write.csv(out, **form)

    out = on_spark("spark join", join)
    rows = sum(part.read_bytes().count(b"\n") for part in out.glob("part-*"))
    wanted = sum(Path(part).read_bytes().count(b"\n") for part in left)
    print(f"# every lineitem has its order: {rows == wanted}")


if __name__ == "__main__":
    for row in sys.argv[1:]:
        globals()[f"row_{row}"]()
