#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The replay of logs of tasks, on graphs with known times; and the scripts that use it.
. "$(dirname "$0")/../../scripts/tap.bash"

top=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT

needs python3
export PYTHONDONTWRITEBYTECODE=1
PYTHONPATH=$top/scripts/bench:$top/tests/python tap_lines "$work/log" python3 "$top/tests/cli/replay.py"

# rows N SCRIPT ARGUMENT...: the script prints N rows with seconds.
rows()
{
	local n=$1 script=$2

	shift 2
	"scripts/bench/$script" --size=2M --folder="$work" "$@" >"$work/table" &&
		[ "$(grep -cE '\| [0-9]+\.[0-9]{2} ' "$work/table")" -eq "$n" ] && ! grep failed "$work/table"
}
export SP_BUILD=${SP_BUILD:-$top/build}
tap "scripts/bench/threads measures" \
	rows 5 threads --programs=ours,gnu --parallel=4 sort-64M join scan-3
tap "scripts/bench/scale predicts" rows 2 scale --runs=1 sort-64M join
tap_empty "nothing is left behind" "$(find "$work" -name 'spindle-*')"
tap_done
