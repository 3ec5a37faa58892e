#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The replay of logs of tasks, on graphs with known times.
. "$(dirname "$0")/../../scripts/tap.bash"

top=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT

needs python3
export PYTHONDONTWRITEBYTECODE=1
PYTHONPATH=$top/scripts/bench:$top/tests/python tap_lines "$work/log" python3 "$top/tests/cli/replay.py"
tap_done
