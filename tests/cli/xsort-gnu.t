#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# xsort under the name sort against GNU sort 9.1: every line of
# xsort-gnu.cases is run by a shell in a directory of fixtures, once with each.
# Standard output, standard error, exit status and the files left behind must
# be the same, byte for byte.
#
#	tests/cli/xsort-gnu.t [LINE]...	only these lines of the cases
#
# Known to differ, and left so: where GNU sort computes with a number that has
# overflowed (-k1.18446744073709551616), and where it opens an input on the
# number of a standard stream that was closed (sort f - <&-).
set -u

here=$(cd "$(dirname "$0")" && pwd) || exit 2
xsort=${XSORT:-$here/../../build/bin/xsort}
cases=$here/xsort-gnu.cases
work=$(mktemp -d "${TMPDIR:-/tmp}/xsort-gnu.XXXXXX") || exit 2
trap 'rm -rf "$work"' EXIT
gnu=$(command -v sort)

if ! "$gnu" --version 2>/dev/null | head -n 1 | grep -qx 'sort (GNU coreutils) 9\.1'; then
	echo "1..0 # SKIP GNU sort 9.1 is not here"
	exit 0
fi
mkdir "$work/bin" "$work/files" && ln -s "$(realpath "$xsort")" "$work/bin/sort" || exit 2
export LC_ALL=C.UTF-8 TMPDIR=$work TZ=UTC
unset POSIXLY_CORRECT _POSIX2_VERSION
umask 022

(
	cd "$work/files" || exit 2
	printf 'b\na\n' >f
	printf 'a\nb\n' >g
	seq 20000 >big
	printf 'f\0g\0' >n0
	printf 'f\0-\0' >n1
	printf 'f\0\0' >n2
	printf '1 b\n2\ta\n10 c\n-3 Jan\n\n 7K x\n' >k
	printf 'x\0y\nz\0' >z
	mkdir d
	: >e
	ln -s nowhere dangling
	ln -s f link
)

# run NAME PATH COMMAND: in a fresh copy of the fixtures, with that PATH.
run()
{
	rm -rf "$work/now"
	cp -a "$work/files" "$work/now"
	cd "$work/now" || exit 2
	PATH=$2 timeout 20 bash -c "$3" >"$work/$1.out" 2>"$work/$1.err" </dev/null
	echo "$?" >"$work/$1.status"
	find . -mindepth 1 -printf '%P %y %m %l\n' | LC_ALL=C "$gnu" >"$work/$1.files"
	find . -type f -exec cksum {} + | LC_ALL=C "$gnu" >>"$work/$1.files"
}

wanted() # LINE
{
	local l

	[ ${#lines[@]} -eq 0 ] && return 0
	for l in "${lines[@]}"; do [ "$l" = "$1" ] && return 0; done
	return 1
}

lines=("$@")
count=0 failed=0 line=0
while IFS= read -r case; do
	line=$((line + 1))
	wanted "$line" || continue
	count=$((count + 1))
	run gnu "$PATH" "$case"
	run own "$work/bin:$PATH" "$case"
	why=
	for what in out err status files; do
		cmp -s "$work/gnu.$what" "$work/own.$what" && continue
		why="$why# $what, GNU's and ours:
$(diff "$work/gnu.$what" "$work/own.$what" | head -n 6 | sed 's/^/#   /')
"
	done
	if [ -z "$why" ]; then
		echo "ok $count - as GNU sort, line $line: ${case//#/\\#}"
	else
		failed=$((failed + 1))
		echo "not ok $count - as GNU sort, line $line: ${case//#/\\#}"
		printf '%s' "$why"
	fi
done <"$cases"
echo "1..$count"
[ "$failed" -eq 0 ]
