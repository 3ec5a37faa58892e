#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# mmap-cube with several threads: the same bytes and messages as with one.
. "$BATS_TEST_DIRNAME/suite.bash"

# 3.4 MB: 88 x 67 x 145 elements of 4 bytes, in tiles that do not divide the sides.
raw()
{
	"$xgen" records --records=34197 --seed=3 | head -c 3419680 > in.raw
}

# empty NAME [OPTION]...: makes an empty cube
empty()
{
	rm -f "$1"
	"$cube" create "$@" --dims=88x67x145 --dtype=u32 --mapping=naive
}

@test "a load has the same bytes with any number of threads, from a file and from a pipe" {
	raw
	for form in "" --big-endian --order=2,0,1; do
		empty one
		"$cube" load --parallel=1 $form one in.raw
		for threads in 2 3 8 16; do
			empty many
			"$cube" load --parallel=$threads $form many in.raw
			cmp one many
			empty many
			"$cube" load --parallel=$threads $form many - < <(cat in.raw)
			cmp one many
		done
	done
}

@test "a load with little memory has the same bytes" {
	raw
	empty one
	"$cube" load --parallel=1 one in.raw
	for threads in 2 16; do
		empty many
		"$cube" load -S 512K --parallel=$threads many in.raw
		cmp one many
	done
}

@test "several threads find the first damaged extent" {
	raw
	empty one
	"$cube" load --parallel=1 one in.raw
	for at in 900000 2500000; do
		printf x | dd of=one bs=1 seek=$at conv=notrunc status=none
	done
	run -1 "$cube" check --parallel=1 one
	expected=$output
	for threads in 2 3 16; do
		run -1 "$cube" check --parallel=$threads one
		[ "$output" = "$expected" ]
	done
	[[ "$output" == *"2 damaged"* ]]
}

@test "an append has the same bytes with any number of threads" {
	raw
	empty start
	"$cube" load --parallel=1 start in.raw
	for threads in 1 3 16; do
		cp start many$threads
		"$cube" append --parallel=$threads --dim=1 many$threads in.raw
		cmp many1 many$threads
	done
}
