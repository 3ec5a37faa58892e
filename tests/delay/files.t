#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Merges of sorted files.

# shellcheck source=tests/delay/lib.bash
. "$(dirname "$0")/lib.bash"

"$xgen" records --seed=7 --bytes=9M >many
sort many >want
split -a 1 -n l/7 many sorted.
for file in sorted.?; do sort -o "$file" "$file"; done

files()
{
	"$xsort" -m -S 16M --parallel="${threads[$1 % 3]}" -o out sorted.? 2>err
	same want $?
}

# The files that a thread merges are read through one queue of its.
engines=(sync libaio fault:REORDER=2:sync)
{ cat many && head -c 2250000 many; } >again
split -a 2 -n l/8 again group.
for file in group.??; do sort -o "$file" "$file"; done
sort again >want-again

queued()
{
	"$xsort" -m -S 16M --engine="${engines[$1 % 3]}" --parallel="${threads[$1 / 3 % 3]}" -o out group.?? 2>err
	same want-again $?
}

seeds files
seeds queued
tap_done
