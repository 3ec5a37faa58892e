#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# xjoin under the name join against GNU join 9.1: every line of
# xjoin-gnu.cases is run by a shell in a directory of fixtures, once with each.
# Standard output, standard error, exit status and the files left behind must
# be the same, byte for byte.
#
#	tests/cli/xjoin-gnu.t [LINE]...	only these lines of the cases
#
# Known to differ, and left so: -t with a character of several bytes (GNU join
# takes it from 9.5 on), and inputs opened on the number of a standard
# stream that was closed (join - f <&-).
set -u

here=$(cd "$(dirname "$0")" && pwd) || exit 2
xjoin=${XJOIN:-$here/../../build/bin/xjoin}
cases=$here/xjoin-gnu.cases
work=$(mktemp -d "${TMPDIR:-/tmp}/xjoin-gnu.XXXXXX") || exit 2
trap 'rm -rf "$work"' EXIT
gnu=$(command -v join)

if ! "$gnu" --version 2>/dev/null | head -n 1 | grep -qx 'join (GNU coreutils) 9\.1'; then
	echo "1..0 # SKIP GNU join 9.1 is not here"
	exit 0
fi
mkdir "$work/bin" "$work/files" && ln -s "$(realpath "$xjoin")" "$work/bin/join" || exit 2
export LOCPATH=${SP_LOCALES:-$(realpath "$here/../../build/locale")}
export LC_ALL=C.UTF-8 LANGUAGE=C TMPDIR=$work TZ=UTC
unset POSIXLY_CORRECT _POSIX2_VERSION
umask 022

(
	cd "$work/files" || exit 2
	printf 'a 1\nb 2\nd 4\n' >f
	printf 'a x\nc y\nd z\nd zz\n' >g
	printf 'k:1:one\nl::two\nm:3\n:9\n' >c
	printf 'k:x:1\nk:y:\nm\n\n' >c2
	printf ' a 1\n\tb  2 \nc\t3\n' >bl
	printf 'a\n b Y\nB Z\nc 4 5 6' >bl2
	printf 'x 1\nb 2\na 3\n' >un
	printf 'x 1\na 2\nz 3\n' >un2
	printf 'a 1\0b 2\nx\0c\0' >z
	printf 'a X\0b\nY\0' >z2
	printf 'A 1\nb 2\nC 3\n' >ic
	printf 'a x\nB y\nc z\n' >ic2
	printf 'id name\n2 b\n1 a\n' >h
	printf 'id color\n2 red\n3 blue\n' >h2
	printf 'a\0x 1\nb\0\n' >nul
	printf 'a\0x 9\nb\0 8\n' >nul2
	printf 'a 1\na 2\na 3\n' >dup
	printf 'a x\na y\nb z\n' >dup2
	: >e
	printf '\n' >"nl"
	printf '\n\n' >nl2
	printf '\303\244 1\nz 2\n' >u
	printf '\303\244 x\n\303\266 y\n' >u2
	seq -f '%06g one' 1 3 30000 >big
	seq -f '%06g two' 1 2 30000 >big2
	seq -f '%g one' 1 2000 >unbig
	mkdir d
)

# run NAME PATH COMMAND: with that PATH; in a fresh copy of the fixtures if files
# could be written.
run()
{
	local place=$work/files

	: >"$work/$1.files"
	if [[ $3 == *'>'* ]]; then
		place=$work/now
		rm -rf "$place"
		cp -a "$work/files" "$place"
	fi
	cd "$place" || exit 2
	PATH=$2 timeout 20 bash -c "$3" >"$work/$1.out" 2>"$work/$1.err" </dev/null
	echo "$?" >"$work/$1.status"
	[ "$place" = "$work/files" ] && return
	find . -mindepth 1 -printf '%P %y %m %l\n' | LC_ALL=C sort >"$work/$1.files"
	find . -type f -exec cksum {} + | LC_ALL=C sort >>"$work/$1.files"
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
		echo "ok $count - as GNU join, line $line: ${case//#/\\#}"
	else
		failed=$((failed + 1))
		echo "not ok $count - as GNU join, line $line: ${case//#/\\#}"
		printf '%s' "$why"
	fi
done <"$cases"
echo "1..$count"
[ "$failed" -eq 0 ]
