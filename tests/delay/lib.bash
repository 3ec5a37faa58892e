# shellcheck shell=bash
# SPDX-License-Identifier: MIT
#
# What threads share, with tasks delayed at random (lib/base/delay.h): each seed runs
# a part once and compares the result with an independent truth.  Sourced by the tests of
# this folder, which take the seeds to run:
#
#	tests/delay/NAME.t [FIRST [LAST]]
#
# By default 1 to SP_DELAY_SEEDS (20).  This needs a build with delays: make check-delay.

# shellcheck source=scripts/tap.bash
. "$(dirname "${BASH_SOURCE[0]}")/../../scripts/tap.bash"

top=$PWD
build=${SP_BUILD:-$top/build/delay}
xsort=$(realpath "${XSORT:-$build/bin/xsort}")
# shellcheck disable=SC2034 # for the tests
xjoin=$(realpath "${XJOIN:-$build/bin/xjoin}") aiobench=$(realpath "${AIOBENCH:-$build/bin/aiobench}")
# shellcheck disable=SC2034
xindex=$(realpath "${XINDEX:-$build/bin/xindex}") xtable=$(realpath "${XTABLE:-$build/bin/xtable}")
xgen=$(realpath "${XGEN:-$build/bin/xgen}")
# shellcheck disable=SC2034
xgroup=$(realpath "${XGROUP:-$build/bin/xgroup}")
first=${1:-1}
last=${2:-$((first + ${SP_DELAY_SEEDS:-20} - 1))}
# shellcheck disable=SC2034
threads=(2 3 8)
work=$(mktemp -d "${TMPDIR:-/tmp}/sp-delay.XXXXXX") || exit 2
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM HUP
cd "$work" || exit 2
export LC_ALL=C LOCPATH=$top/build/locale
mkdir tmp

# from FILE SEED COMMAND...: reads the file, or a pipe whose writer pauses.
from()
{
	local file=$1 seed=$2

	shift 2
	case $((seed % 3)) in
	0) "$@" <"$file" ;;
	1) dd if="$file" bs=$((1000 + seed * 37 % 60000)) status=none | "$@" ;;
	2) { head -c 2M && sleep 0.01 && cat; } <"$file" | "$@" ;;
	esac
}

# merged SEED FILE: sorted with many runs.
merged() { from "$2" "$1" "$xsort" -S 16M --run-size=512K -T tmp --parallel="${threads[$1 % 3]}" 2>err; }

# same WANTED STATUS: what is wrong with `out`, or left over.
same()
{
	[ "$2" = 0 ] || echo "status $2: $(head -c 200 err)"
	cmp -s "$1" out || echo "wrong result, status $2"
	[ -z "$(ls -A tmp)" ] || echo "left in -T: $(ls -A tmp)"
	rm -f tmp/*
}

# seeds PART: calls PART SEED, which says what is wrong, for each seed.
seeds()
{
	local seed bad all=''

	[ "$first" -le "$last" ] || all="no seeds"
	for ((seed = first; seed <= last; seed++)); do
		bad=$(SP_TASK_DELAY=$seed "$1" "$seed")
		[ -z "$bad" ] || all+="SP_TASK_DELAY=$seed: $bad"$'\n'
	done
	tap_empty "$1 is right with seeds $first to $last" "$all"
}
