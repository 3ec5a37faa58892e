# SPDX-License-Identifier: MIT
"""The command spindle-ray: its options, messages and status.

Options of order and format are passed through as they stand; only how many words they take is
known here.
"""

from __future__ import annotations

import contextlib
import getopt
import json
import locale
import os
import re
import sys
import time
from collections.abc import Sequence
from typing import Any, NamedTuple, Optional

import spindle_io
from spindle_io import JoinOptions, Options, SpindleError

HELP = """\
usage: spindle-ray sort [option]... -o FOLDER FILE...
       spindle-ray join [option]... -o FOLDER FILE1... -- FILE2...
       spindle-ray config

Sorts and joins files on the machines of a Ray cluster.  Options of order and format are those of
xsort and xjoin.  The others:

  -o, --output=FOLDER            the parts go there; it appears when all are complete
  -S, --buffer-size=SIZE         memory of one task (256M)
  -T, --temporary-directory=DIR  on each machine, for ranges that are merged in files
      --ranges=N                 parts of the result
      --group=N                  pieces whose blocks are merged on their node; 1: none
      --overwrite                replace a folder that is not empty
      --address=ADDRESS          of a cluster that runs; without it one is started here
      --object-store-memory=SIZE of the cluster that is started here (Ray's choice)
      --dry-run                  print the plan and do nothing
      --stats[=FILE]             write the report as JSON; without FILE to standard error
      --[no-]progress            show how many tasks are done
      --help, --version          print this, or the version, and exit"""
#: Options, with : or = if an argument follows.
OWN = """
    -o: -S: -T: --output= --buffer-size= --temporary-directory= --ranges= --group= --overwrite
    --address= --object-store-memory= --dry-run --stats= --progress --no-progress
"""
PASSED = {
    "sort": """
    -b -d -f -g -i -M -n -h -V -r -s -u -z -k: -t: --ignore-leading-blanks --dictionary-order
    --ignore-case --general-numeric-sort --ignore-nonprinting --month-sort --numeric-sort
    --human-numeric-sort --version-sort --reverse --stable --unique --zero-terminated --csv
    --count --key= --field-separator= --sort= --record-size= --bkey= --header=
""",
    "join": """
    -1: -2: -j: -t: -a: -v: -e: -i -z --columns= --type= --record-size= --bkey= --header=
    --ignore-case --zero-terminated --csv
""",
}
REFUSED = {
    "-c --check=": "checking is one pass over each part: use xsort -c",
    "-C": "checking is one pass over each part: use xsort -C",
    "-m --merge": "pieces of the inputs are sorted in any case",
    "-R --random-sort": "each machine would draw an order of its own",
    "--top=": "each range would have to know of the others: use head on the first parts",
    "--split=": "the parts are cut at splitters that are sampled: see --ranges",
    "--splitters=": "they are sampled: see --ranges",
    "--resume=": "Ray runs lost tasks again by itself",
    "--volume=": "tasks run on the machines of the cluster",
    "--decompress=": "a compressed file cannot be read in pieces",
    "--compress-output=": "parts are written as they are",
    "--debug": "it explains keys line by line: use xsort --debug on a sample",
}
#: Arguments that can only be joined to their options, and what stands for none.
OPTIONAL = {"--header": "1", "--stats": "-", "--check": "", "--decompress": ""}

LONG = {"-o": "--output", "-S": "--buffer-size", "-T": "--temporary-directory"}

Pairs = list[tuple[str, Optional[str]]]  #: options with their arguments


class Command(NamedTuple):
    name: str
    own: dict[str, str]  #: options of spindle-ray, by their long names
    passed: Pairs
    inputs: list[list[str]]  #: of each side


def _names(table: str) -> list[str]:
    return re.sub("[:=]", "", table).split()


def options_of(words: Sequence[str], *tables: str) -> tuple[Pairs, list[str]]:
    """The options among words, and the other words."""
    options = " ".join(tables).split()
    letters = "".join(o[1:] for o in options if o[1] != "-")
    found, rest = getopt.gnu_getopt(
        [f"{w}={OPTIONAL[w]}" if w in OPTIONAL else w for w in words],
        letters,
        [o[2:] for o in options if o[1] == "-"],
    )
    return [(name, None if name in options else value) for name, value in found], rest


def parsed(argv: Sequence[str]) -> Command:
    """What follows -- are the files of the second side of a join."""
    command, words, right = "".join(argv[:1]), list(argv[1:]), []
    if command not in PASSED:
        raise ValueError(f"'{command}' is neither sort, join nor config: see --help")
    if "--" in words and command == "join":
        at = words.index("--")
        words, right = words[:at], words[at + 1 :]
    pairs, left = options_of(words, OWN, PASSED[command], *REFUSED)
    for table, reason in REFUSED.items():
        for name in (name for name, _ in pairs if name in _names(table)):
            raise ValueError(f"{name} is not possible on more than one machine: {reason}")
    own = _names(OWN)
    return Command(
        command,
        {LONG.get(name, name): value or "" for name, value in pairs if name in own},
        [pair for pair in pairs if pair[0] not in own],
        [left, right],
    )


def words_of(pairs: Pairs, without: Sequence[str] = ()) -> list[str]:
    """The options as words, but for some."""
    found: list[str] = []
    for name, value in pairs:
        if name in without:
            continue
        if value is None:
            found.append(name)
        else:
            found += [f"{name}={value}"] if name.startswith("--") else [name, value]
    return found


def settings_of(c: Command) -> Any:
    from .job import Settings, show_progress

    if "--output" not in c.own:
        raise ValueError("-o/--output is needed: the folder of the result")
    shown = "--progress" in c.own or sys.stderr.isatty()
    return Settings(
        command=c.name,
        inputs=c.inputs if c.name == "join" else c.inputs[:1],
        output=c.own["--output"],
        memory_bytes=memory_of(c.own.get("--buffer-size", "256M")),
        tmpdir=c.own.get("--temporary-directory"),
        overwrite="--overwrite" in c.own,
        ranges=number(c, "--ranges"),
        group=number(c, "--group"),
        progress=show_progress if shown and "--no-progress" not in c.own else None,
        **(join_options if c.name == "join" else sort_options)(c),
    )


def number(c: Command, name: str) -> int:
    """0: not given."""
    text = c.own.get(name, "")
    if text and not (text.isdecimal() and int(text)):
        raise ValueError(f"{name} {text}: at least 1")
    return int(text or 0)


def sort_options(c: Command) -> dict[str, Any]:
    if not c.inputs[0]:
        raise ValueError("no files to sort")
    pairs, given = c.passed, Options(words_of(c.passed))
    if given.info.named:
        given = given.numbered(c.inputs[0][0])
        pairs, _ = options_of(given.words, PASSED["sort"])
    if given.info.random:
        raise ValueError("a key with R is not possible: each machine would draw its own order")
    counted = given.info.count
    if counted and not given.info.unique:
        raise ValueError("--count needs --unique")
    # To be counted, all records of a group must come to their range.
    dropped = ["--header", "-u", "--unique", "--count"] if counted else ["--header"]
    return {
        "piece_words": [words_of(pairs, dropped) + ["-s"] * counted],
        "header_words": words_of([pair for pair in pairs if pair[0] == "--header"]),
        "result_words": words_of(pairs, ["--header"]),
        "external": counted,
    }


def join_options(c: Command) -> dict[str, Any]:
    if not all(c.inputs):
        raise ValueError("the files of both sides are needed, with -- between them")
    if "--group" in c.own:
        raise ValueError("--group is for sorts: blocks of a join are not merged")
    headers = [value for name, value in c.passed if name == "--header"]
    if set(headers) - {"1"}:
        raise ValueError("--header takes no argument in a join")
    header = ["--header"] * bool(headers)
    if ("--columns", "auto") in c.passed and not header:
        raise ValueError("--columns=auto needs --header: each range has other first records")
    words = words_of([("-o" if n == "--columns" else n, v) for n, v in c.passed], ["--header"])
    given = JoinOptions(words + header)
    if given.named:
        given = given.numbered(c.inputs[0][0], c.inputs[1][0])
    return {
        "piece_words": [format_of(c.passed, side) for side in (0, 1)],
        "header_words": header,
        "result_words": given.words,
        "divides": [given.divides(side) for side in (0, 1)],
    }


def format_of(pairs: Pairs, side: int) -> list[str]:
    """What says where the records of a side of a join end, as options of a sort."""
    given = dict(pairs)
    sizes = given.get("--record-size")
    if sizes:
        return ["--record-size=" + (sizes.split(",") * 2)[side]]
    if "--csv" in given:
        return ["--csv", *(["-t", given["-t"]] if "-t" in given else [])]
    return ["-z"] if {"-z", "--zero-terminated"} & set(given) else []


def memory_of(text: str) -> int:
    """-S, of which less than a megabyte is no memory for a task."""
    return max(1 << 20, Options(["-S", text]).info.memory_bytes)


#: Spilling begins early and in small files: then it overlaps with the tasks.  The object stores of
#: a sort are full all the time, and Ray's own values (0.8, 100 MB) make tasks wait.  One process
#: that restores keeps up with a device; Ray's four, of Python, take the time of tasks to start.
SPILLING = {
    "object_spilling_threshold": 0.3,
    "min_spilling_size": 32 << 20,
    "max_io_workers": 1,
}


def start_ray(address: str | None, store: str | None) -> None:
    """Connects to a cluster, or starts one for this command, on the loopback interface."""
    import ray

    own = {
        "include_dashboard": False,
        "object_store_memory": memory_of(store) if store else None,
        "_node_ip_address": "127.0.0.1",
        "_system_config": SPILLING,
    }
    if not ray.is_initialized():
        which = {"address": address} if address else own
        ray.init(logging_level="error", log_to_driver=False, **which)


def write_report(report: dict[str, Any], to: str) -> None:
    text = json.dumps(report, indent=2) + "\n"
    if to == "-":
        sys.stderr.write(text)
        return
    with open(f"{to}.part", "w", encoding="utf-8") as f:
        f.write(text)
    os.replace(f"{to}.part", to)


def execute(argv: Sequence[str]) -> None:
    if argv[:1] == ["config"]:
        print(json.dumps(SPILLING))
    elif "--help" in argv:
        print(HELP)
    elif argv[:1] == ["--version"]:
        print(f"spindle-ray {spindle_io.__version__}")
    else:
        run(parsed(argv))


def run(command: Command) -> None:
    try:
        from .job import Job
    except ImportError as e:
        raise ValueError(f"{e}; pip install 'spindle-io[ray]'") from e
    settings, own = settings_of(command), command.own
    settings.check()
    began = time.monotonic()
    start_ray(own.get("--address"), own.get("--object-store-memory"))
    started = time.monotonic() - began
    job = Job(settings)
    if "--dry-run" in own:
        print(job.plan)
        return
    if "--stats" in own or settings.progress:
        print(job.plan, file=sys.stderr)
    report = {**job.run(), "start_s": started}
    if "--stats" in own:
        write_report(report, own["--stats"])


def reason_of(e: BaseException) -> str:
    """What a user can use of an error: that of a task without the traces of machines."""
    cause = getattr(e, "cause", None)
    if isinstance(cause, Exception):
        return reason_of(cause)
    if isinstance(e, OSError) and e.strerror:
        return f"{e.filename}: {e.strerror}" if e.filename else e.strerror
    if isinstance(e, (ValueError, SpindleError, getopt.GetoptError)):
        return str(e)
    return f"{type(e).__name__}: {str(e).strip().splitlines()[0] if str(e) else 'no reason given'}"


def main(argv: Sequence[str] | None = None) -> int:
    with contextlib.suppress(locale.Error):  # as in C, where it stays the one that it is
        locale.setlocale(locale.LC_ALL, "")
    os.environ.setdefault("RAY_IGNORE_UNHANDLED_ERRORS", "1")  # one message is enough
    try:
        execute(list(sys.argv[1:] if argv is None else argv))
    except KeyboardInterrupt:
        return 130
    except Exception as e:
        print(f"spindle-ray: {reason_of(e)}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
