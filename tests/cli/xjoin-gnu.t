#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# xjoin under the name join against GNU join 9.1: every line of xjoin-gnu.cases, as
# as-gnu.bash tells.
#
#	tests/cli/xjoin-gnu.t [LINE]...	only these lines of the cases
#
# Known to differ, and left so: -t with a character of several bytes (GNU join takes
# it from 9.5 on), and inputs opened on the number of a standard stream that was closed
# (join - f <&-).
set -u

here=$(cd "$(dirname "$0")" && pwd) || exit 2
# shellcheck source=tests/cli/as-gnu.bash
. "$here/as-gnu.bash"
# Outside of the C locale GNU join adds an errno that has nothing to do with it.
export newer='s/^\(join: both files cannot be standard input\): .*/\1/'
as_gnu_begin join "${XJOIN:-$here/../../build/bin/xjoin}"
LOCPATH=$(realpath "$here/../../build/locale")
export LOCPATH

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

as_gnu_run "$here/xjoin-gnu.cases" "$@"
