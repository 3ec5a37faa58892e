#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# xsort under the name sort against GNU sort 9.1: every line of xsort-gnu.cases, as
# as-gnu.bash tells.
#
#	tests/cli/xsort-gnu.t [LINE]...	only these lines of the cases
#
# Known to differ, and left so: where GNU sort computes with a number that has
# overflowed (-k1.18446744073709551616), and where it opens an input on the
# number of a standard stream that was closed (sort f - <&-).
set -u

here=$(cd "$(dirname "$0")" && pwd) || exit 2
# shellcheck source=tests/cli/as-gnu.bash
. "$here/as-gnu.bash"
# coreutils 9.9
export newer='s/: note numbers use /: numbers use /; s/file names from stdin, /file names from standard input, /'
as_gnu_begin sort "${XSORT:-$here/../../build/bin/xsort}"
writes='>|-[a-zA-Z0-9,.]*o|--o'

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

as_gnu_run "$here/xsort-gnu.cases" "$@"
