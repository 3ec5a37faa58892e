# SPDX-License-Identifier: MIT
#
# Naive models of clients, against the trace and the report of a run:
#
#	rows SEED CLIENT RECORDS N	the first N records of `get 1` of a client
#	lru TRACE CELLS CELL_BYTES	the writes of changed cells, when so many stay in memory
#	pool TRACE REPORT ROWS PAGE	`update 1` with a pool of A-pages: frames are exchanged in the order
#				of their last use, and each was changed
#	law REPORT			of each kind: clients = throughput * (latency + think time)
#	ended TRACE REPORT		of `get 1` in one cell: a transaction is a request
import json
import sys
from collections import OrderedDict

MASK = (1 << 64) - 1


def mix64(z):
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & MASK
    z = (z ^ z >> 27) * 0x94D049BB133111EB & MASK
    return z ^ z >> 31


def numbers(seed):
    state = mix64(seed)
    while True:
        state = (state + 0x9E3779B97F4A7C15) & MASK
        yield mix64(state)


def requests(path):
    for line in open(path):
        if line[0] in "RW":
            op, _, offset, size, _, submit, done, _ = line.split()
            yield op, int(offset), int(size), int(submit), int(done)


def rows(seed, client, records, n):
    draw = numbers(int(seed) + 2 * int(client) + 1)
    for _ in range(int(n)):
        next(draw)  # the line
        print(next(draw) * int(records) >> 64)


def lru(trace, cells, cell_bytes):
    changed, expected, written = OrderedDict(), [], []
    for op, offset, size, _, _ in requests(trace):
        assert size == int(cell_bytes), size
        if op == "W":
            written.append(offset)
            continue
        changed.pop(offset, None)
        changed[offset] = True
        while len(changed) > int(cells):
            expected.append(changed.popitem(last=False)[0])
    # The last changes can be under way at the end.
    assert written and written == expected[: len(written)], (written[:5], expected[:5])
    assert len(expected) - len(written) <= 1


def pool(trace, report, rows_file, page_records):
    frames = json.load(open(report))["pool"]["frames"]
    held, read, leaving = OrderedDict(), [], []
    for row in map(int, open(rows_file)):
        page = row // int(page_records)
        if page in held:
            held.move_to_end(page)
            continue
        if len(held) == frames:
            leaving.append(held.popitem(last=False)[0])
        held[page] = True
        read.append(page)
    at = {}
    reads = [r[1] for r in requests(trace) if r[0] == "R"]
    writes = [r[1] for r in requests(trace) if r[0] == "W"]
    for page, offset in zip(read, reads):
        assert at.setdefault(page, offset) == offset
    assert len(set(at.values())) == len(at)
    n = len(writes) - 1  # the last one can be of the row after
    assert n > 20 and [at[page] for page in leaving[:n]] == writes[:n]


def law(report):
    for kind in json.load(open(report))["kinds"]:
        seconds = (kind["latency_mean_ns"] + kind["think_ns"]) * 1e-9
        clients = kind["transactions_per_s"] * seconds
        assert abs(clients / kind["clients"] - 1) < 0.05, (clients, kind["clients"])


def ended(trace, report):
    r = json.load(open(report))
    begin = r["config"]["ramp_s"] * 1e9
    end = begin + r["config"]["runtime_s"] * 1e9
    took = [done - submit for _, _, _, submit, done in requests(trace) if begin <= done <= end]
    kind = r["kinds"][0]
    assert abs(kind["transactions"] - len(took)) <= 2, (kind["transactions"], len(took))
    assert abs(kind["latency_mean_ns"] / (sum(took) / len(took)) - 1) < 0.02
    took.sort()
    assert abs(kind["latency_p99_ns"] / took[int(0.99 * len(took))] - 1) < 0.05
    assert abs(r["result"]["requests"] - len(took)) <= kind["clients"] + 2
    lines = kind["lines"]
    assert sum(line["transactions"] for line in lines) == kind["transactions"]
    assert abs(kind["transactions_per_s"] * r["result"]["measured_s"] - kind["transactions"]) < 1e-3


{"rows": rows, "lru": lru, "pool": pool, "law": law, "ended": ended}[sys.argv[1]](*sys.argv[2:])
