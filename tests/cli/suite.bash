# shellcheck shell=bash
# SPDX-License-Identifier: MIT
#
# The start of every suite of this folder: the tools under test, and a folder for each test.
#
#	$xsort, $xjoin, ...	the tools: $XSORT, $XJOIN, ..., or those of the build
#	$build, $bin		the build, and its programs
#	begin_test [tmp]	enters the test's folder, in the locale C; tmp: makes a folder for
#				temporary files; a suite that needs no more has no setup()
#	value KEY [REPORT]	the first value of a key in a report (r.json)
#	few N...	the numbers of threads to test: 1, if given, and one of the others, another one in
#			the next test; with a sanitizer, which is slow, not 1; with SP_TEST_FULL=1, all
#	fewer N M	N, or under a sanitizer, which is slow, M
#	fails_with MESSAGE COMMAND...	the command prints nothing else, and ends with status 2

bats_require_minimum_version 1.5.0
. "$BATS_TEST_DIRNAME/../../scripts/needs.bash"

build=${SP_BUILD:-${BATS_TEST_DIRNAME%/tests/cli}/build}
bin=$build/bin
aiobench=${AIOBENCH:-$bin/aiobench}
blockseq=${BLOCKSEQ:-$bin/blockseq}
cube=${MMAP_CUBE:-$bin/mmap-cube}
dbmbench=${DBMBENCH:-$bin/dbmbench}
diskprobe=${DISKPROBE:-$bin/diskprobe}
vdisk=${VDISK:-$bin/vdisk}
xgen=${XGEN:-$bin/xgen}
xgroup=${XGROUP:-$bin/xgroup}
xindex=${XINDEX:-$bin/xindex}
xjoin=${XJOIN:-$bin/xjoin}
xsort=${XSORT:-$bin/xsort}
xtable=${XTABLE:-$bin/xtable}

# shellcheck disable=SC2120 # suites pass it
begin_test()
{
	export LC_ALL=C
	cd "$BATS_TEST_TMPDIR" || return
	[ $# -eq 0 ] || { mkdir "$1" && export TMPDIR=$PWD/$1; }
}
setup() { begin_test; }

value() { sed -n "s/.*\"$1\": \([^,]*\),\{0,1\}\$/\1/p" "${2:-r.json}" | head -n 1; }

few()
{
	local several=() n

	for n; do
		[ "$n" = 1 ] || several+=("$n")
	done
	if [ -n "${SP_TEST_FULL:-}" ]; then
		echo "$@"
	else
		[[ -n ${SP_TEST_VARIANT:-} || " $* " != *' 1 '* ]] || echo 1
		echo "${several[${BATS_TEST_NUMBER:-0} % ${#several[@]}]}"
	fi
}

fewer() { [ -n "${SP_TEST_VARIANT:-}" ] && [ -z "${SP_TEST_FULL:-}" ] && echo "$2" || echo "$1"; }

# shellcheck disable=SC2154 # run sets them
fails_with()
{
	run "${@:2}"
	[ "$status" -eq 2 ] && [ "$output" = "$1" ] || { echo "$output"; return 1; }
}
