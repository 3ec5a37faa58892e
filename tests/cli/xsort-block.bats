#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# xsort with its temporary data on a block device: a loop device over a sparse file, if the system
# permits one.
. "$BATS_TEST_DIRNAME/suite.bash"

setup()
{
	begin_test
	"$xgen" lines --bytes=2M --seed=5 >in
	sort in >want
	dev=
}

teardown()
{
	[ -z "$dev" ] || losetup -d "$dev"
}

# device SIZE [BLOCK_BYTES]: its name is in $dev.
device()
{
	[ "$(id -u)" -eq 0 ] || skip "a loop device needs root"
	needs losetup
	[ -w /dev/loop-control ] || skip "there are no loop devices here"
	truncate -s "$1" image
	dev=$(losetup -f --show -b "${2:-512}" image) || skip "no loop device is free"
}

on()
{
	"$xsort" -S 700K --overwrite --volume="block:$dev" "$@" -o out in && cmp out want
}

@test "the result is right, however runs are placed" {
	device 64M
	"$diskprobe" sim:atlas10k3-like -o g.json >probe.out 2>&1
	on
	on --run-size=64K --fan-in=3
	on --run-formation=replacement
	on --spill-compression=lz4
	on --geometry=g.json
	on --geometry=g.json --placement=track
	on --geometry=g.json --placement=semiseq --run-size=64K
}

@test "errors of the device are reported, and the output is unchanged" {
	device 600K
	echo old >out
	run -2 --separate-stderr "$xsort" -S 700K --volume="block:$dev" -o out in
	# shellcheck disable=SC2154 # run sets it
	[[ $stderr == *--overwrite* ]]
	run -2 --separate-stderr on
	[[ $stderr == "xsort: write failed: $dev: No space left on device" ]]
	[ "$(cat out)" = old ]
	run -2 --separate-stderr "$xsort" -S 700K --overwrite --volume=block:in -o out in
	[[ $stderr == *"in: Block device required" ]]
}

@test "a geometry of smaller blocks than the device's is refused" {
	device 64M 4096
	"$diskprobe" sim:tiny -o g.json >probe.out 2>&1
	run -2 --separate-stderr on --geometry=g.json --placement=track --page-size=4K
	[[ $stderr == *"blocks of 512 bytes"*"of 4096" ]]
	on --geometry=g.json
}
