#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# xjoin, beyond what xjoin-gnu.t compares with GNU join.

bats_require_minimum_version 1.5.0

setup()
{
	xjoin=${XJOIN:-$BATS_TEST_DIRNAME/../../build/bin/xjoin}
	export LOCPATH=$BATS_TEST_DIRNAME/../../build/locale LC_ALL=C
	cd "$BATS_TEST_TMPDIR" || return
}

@test "-t takes a character of several bytes" {
	export LC_ALL=C.UTF-8
	for s in × – 𐏐; do
		printf "0${s}A\n1${s}a\n2${s}b\n4${s}c\n" >a
		printf "0${s}B\n1${s}d\n3${s}e\n4${s}\n" >b
		run -0 "$xjoin" -t "$s" -a1 -a2 -e none -o 0,1.2,2.2 a b
		[ "$output" = "0${s}A${s}B
1${s}a${s}d
2${s}b${s}none
3${s}none${s}e
4${s}c${s}none" ]
	done
	run -1 "$xjoin" -t ×× a b
	[[ $output == *"multi-character tab"* ]]
}

@test "key fields beyond any number are fields that are not there" {
	echo a >a
	echo b >b
	run -0 "$xjoin" -1 18446744073709551616 -2 2 a b
	[ "$output" = " a b" ]
}

@test "groups that go over many reads" {
	seq -f 'k %g' 200000 >a
	{ echo "k x"; echo "k y"; } >b
	"$xjoin" a b >pairs
	seq 200000 | awk '{ print "k", $1, "x"; print "k", $1, "y" }' | cmp - pairs
	"$xjoin" b a >pairs
	{ seq -f 'k x %g' 200000; seq -f 'k y %g' 200000; } | cmp - pairs
}

@test "lines longer than any buffer" {
	head -c 3000000 /dev/zero | tr '\0' x >long
	{ printf 'a '; cat long; echo; printf 'b '; cat long; echo; } >a
	printf 'a 1\nb 2\n' >b
	"$xjoin" a b >pairs
	{ printf 'a '; cat long; echo ' 1'; printf 'b '; cat long; echo ' 2'; } | cmp - pairs
}

@test "inputs that come slowly" {
	run -0 "$xjoin" <(sleep 0.2; echo a 1; sleep 0.2; echo b 2) <(echo a x; sleep 0.1; echo b y)
	[ "$output" = $'a 1 x\nb 2 y' ]
}
