# shellcheck shell=bash
# SPDX-License-Identifier: MIT
#
# Functions shared by the checkers: TAP output, and the list of files to check.

cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 2
# shellcheck source=scripts/needs.bash
. scripts/needs.bash
tap_count=0
tap_failed=0

# tap NAME COMMAND...: one check; what the command prints is shown if it fails.
tap()
{
	local name=$1 out

	shift
	tap_count=$((tap_count + 1))
	if out=$("$@" 2>&1); then
		echo "ok $tap_count - $name"
	else
		tap_failed=$((tap_failed + 1))
		echo "not ok $tap_count - $name"
		[ -z "$out" ] || printf '%s\n' "$out" | sed 's/^/# /'
	fi
}

# tap_empty NAME TEXT: a check that passes if TEXT is empty.
tap_empty() { tap "$1" complain "$2"; }
complain()
{
	[ -z "$1" ] && return
	printf '%s\n' "$1"
	return 1
}

tap_skip()
{
	tap_count=$((tap_count + 1))
	echo "ok $tap_count - $1 # SKIP $2"
}

# tap_lines LOG COMMAND...: a program that prints lines of TAP without numbers, and ends with a status
# other than 0 if one failed; its standard error goes to LOG, which is shown then.
tap_lines()
{
	local log=$1 line seen=0 failed=$tap_failed status=0 out

	shift
	out=$("$@" 2>"$log") || status=$?
	while IFS= read -r line; do
		case $line in
		"ok - "*) ;;
		"not ok - "*) tap_failed=$((tap_failed + 1)) ;;
		*) continue ;;
		esac
		seen=$((seen + 1))
		tap_count=$((tap_count + 1))
		echo "${line%%- *}$tap_count - ${line#*- }"
	done <<<"$out"
	[ "$seen" -gt 0 ] || status="$status without any test"
	tap "these tests have all run and passed" [ "$status" = 0 ]
	[ "$status" = 0 ] || { echo "status $status"; cat "$log"; echo; } | sed 's/^/# /'
}

tap_done()
{
	[ "$tap_count" -gt 0 ] || tap "something is checked" false
	echo "1..$tap_count"
	[ "$tap_failed" -eq 0 ]
	exit
}

# files PATTERN...: the project's files, as git lists them; in a tarball, all.
files()
{
	local pattern list

	list=$(git -c safe.directory="$PWD" ls-files 2>/dev/null)
	[ -n "$list" ] || list=$(find . -path ./build -prune -o -path ./.git -prune -o -type f -print | sed 's|^\./||')
	for pattern in "$@"; do
		printf '%s\n' "$list" | grep -E "$pattern" | while read -r f; do
			[ -e "$f" ] && echo "$f"
		done
	done | sort -u
}
