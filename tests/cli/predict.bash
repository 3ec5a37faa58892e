# SPDX-License-Identifier: MIT
# For scripts that compare what --explain predicts for simulated machines with the time that then
# passes there.  They define compare MODEL SETTING, which prints both times, in seconds, and their
# ratio; and work in a directory of their own.
# shellcheck shell=bash

set -u
export LC_ALL=C
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd) || exit 2
fields=$(realpath "$here/../../scripts/report-fields")

# program NAME: its path, absolute: $NAME, or the one that was built.
program()
{
	local given=${1^^}

	realpath "${!given:-$here/../../build/bin/$1}"
}

xgen=$(program xgen)
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT

# both_times PLAN REPORT: what compare prints, from two reports.
both_times()
{
	{ "$fields" "$1"; "$fields" "$2"; } | awk '
		$1 == "plan.elapsed_s" { plan = $2 }
		$1 == "result.elapsed_s" { took = $2 }
		END { printf "%.3f %.3f %.2f\n", plan, took, plan / took }'
}

# table FILE MODEL SETTING...: a line for each setting, in FILE and as a comment.
table()
{
	local file=$1 model=$2 setting times

	shift 2
	for setting; do
		times=$(compare "$model" "$setting") || exit 2
		echo "$times $model $setting"
	done >"$file"
	sed 's/^/# /' "$file"
}

# off FILE PERCENT: the lines that are farther off.
off() { awk -v p="$2" '$3 > 1 + p / 100 || $3 < 1 - p / 100' "$1"; }

count=0
# check NAME COMMAND...
check()
{
	count=$((count + 1))
	if "${@:2}"; then echo "ok $count - $1"; else echo "not ok $count - $1"; fi
}
# The TAP plan, last.
ended() { echo "1..$count"; }
