#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# Appending to cubes, compared with files put together by hand, and with all errors.
. "$BATS_TEST_DIRNAME/suite.bash"

setup()
{
	begin_test
	ulimit -c 0
}

# All of a dataset of 12 x 10 x 9 numbers as lines of all.csv.
dataset()
{
	awk 'BEGIN { for (z = 0; z < 9; z++) for (y = 0; y < 10; y++) for (x = 0; x < 12; x++)
		print x "," y "," z "," (x * 1 + y * 20 + z * 300) }' > all.csv
}

# raw CONDITION: the numbers of the lines of all.csv that awk chooses, of 8 bytes each.
raw()
{
	awk -F, "$1"' { printf "\\x%02x\\x%02x%s", $4 % 256, int($4 / 256), zeros }' \
		zeros='\\x00\\x00\\x00\\x00\\x00\\x00' all.csv | xargs -0 printf
}

# small OPTION...: the cube c with x below 7, y below 6, z below 5.
small()
{
	"$cube" create c --overwrite --dims 7x6x5 --dtype u64 --tile 4x4x4 "$@"
	raw '$1 < 7 && $2 < 6 && $3 < 5' | "$cube" load c -
}

@test "appended along each dimension, from files and pipes, is what there would be without" {
	dataset
	raw '$1 < 7 && $2 < 6 && $3 >= 5 && $3 < 7' > z1
	raw '$1 < 7 && $2 >= 6 && $3 < 7' > y
	raw '$1 >= 7 && $3 < 7' > x
	raw '$3 >= 7' > z2
	for mapping in multimap naive zorder gray hilbert; do
		small --mapping $mapping --volume sim:atlas10k3-like
		"$cube" append c z1 --dim=2
		"$cube" append c - --dim=1 -S 8K < y
		"$cube" append c x --dim=0
		"$cube" append c --dim=2 --count=2 - < z2
		"$cube" export c --verify --format csv | diff - all.csv
		run -0 "$cube" check c
		[[ $output == *" 0 extents never written, 0 damaged" ]]
		"$cube" range c --lo 5,5,4 --hi 9,8,9 --stride 2,1,3 --format csv |
			diff - <(awk -F, '($1 == 5 || $1 == 7) && $2 >= 5 && $2 <= 7 && ($3 == 4 || $3 == 7)' all.csv)
	done
	run -0 "$cube" info c
	[[ $output == *"dimensions  12 x 10 x 9"*"part "*"to 11,9,8, blocks "* ]]
}

@test "npy files are appended, of both orders, and say how many elements there are" {
	dataset
	small --mapping naive
	"$cube" export c -o first.npy
	"$cube" create more --dims 7x6x4 --dtype u64 --mapping naive
	raw '$1 < 7 && $2 < 6 && $3 >= 5' | "$cube" load more -
	"$cube" export more -o more.npy
	"$cube" append c more.npy --dim=2
	"$cube" export c --format csv | diff - <(awk -F, '$1 < 7 && $2 < 6' all.csv)
	run -2 "$cube" append c more.npy --dim=1
	[[ $output == *"another shape"* ]]
	run -2 "$cube" append c more.npy --dim=2 --count=3
	[[ $output == *"another shape"* ]]
	run -2 "$cube" append c first.npy --dim=2 --big-endian
	"$cube" append c - --format npy --dim=2 < first.npy
	[ "$("$cube" get c 3,2,9)" = $((3 + 40)) ]
}

@test "layers that share tiles with others alternate between two locations, until tiles are full" {
	dataset
	"$cube" create c --dims 12x10x1 --dtype u64 --tile 16x4x4 --mapping naive
	raw '$3 == 0' | "$cube" load c -
	for z in 1 2 3 4 5 6 7 8; do
		raw "\$3 == $z" | "$cube" append c - --dim=2
	done
	"$cube" export c --format csv --verify | diff - all.csv
	run -0 "$cube" info c
	[ "$(grep -c '^part ' <<< "$output")" = 3 ]
	"$cube" create whole --dims 12x10x9 --dtype u64 --tile 16x4x4 --mapping naive
	head=$(od -An -tu4 -j24 -N4 c)
	[ $(($(stat -c %s c) - 2 * head)) -lt $((3 * ($(stat -c %s whole) - 2 * head))) ]
}

@test "a refused append gives the reason, and changes nothing" {
	dataset
	small --mapping naive
	cp c before
	refused()
	{
		local reason=$1

		shift
		run -2 "$cube" append "$@"
		[[ ${#lines[@]} = 1 && $output == *"$reason"* ]]
		cmp c before
	}
	head -c 400 /dev/zero > part
	: > empty
	refused "400 bytes of elements are not a multiple of a layer of 336 bytes" c part --dim=2
	refused "0 bytes of elements" c empty --dim=2
	refused "ends before the last element" c part --dim=2 --count=2
	refused "goes on after the last element" c part --dim=2 --count=1
	refused "No such file" c missing --dim=2
	refused "is the cube itself" c c --dim=2
	refused "needs INPUT or --count" c --dim=2
	refused "needs --dim" c part
	refused "dimensions are 0 to 2" c part --dim=3
	refused "without resuming or rolling up" c part --dim=2 --format=csv
	for option in --format=npy --order=2,1,0 --offset=8 --big-endian; do
		refused "are those of an input, and there is none" c --dim=2 --count=1 $option
	done
	refused "more than 2^62 bytes" c --dim=2 --count=18446744073709551615
	refused "more than 2^62 bytes" c --dim=2 --count=4611686018427387904
	refused "minimum --count argument" c part --dim=2 --count=0
	# Too much for a pipe that is copied: how much is not known.
	run -2 bash -c "head -c 3000000 /dev/zero |
		'$cube' append c - --dim=2 --count=1000 --order=2,1,0 -S 1K"
	[[ $output == *"goes on after the last element: it has more than 336000 bytes" ]]
	cmp c before
	run -2 "$cube" append c - --dim=2 <<< abc
	[[ $output == *"are not a multiple of a layer"* ]]
	cmp c before
}

@test "an append that fails, or is killed, leaves the cube as it was" {
	dataset
	small --mapping naive
	"$cube" export c > first
	# A part of the input comes, and then nothing for ever.
	mkfifo pipe
	for wait in 0.05 0.2; do
		(head -c 200000 /dev/zero; sleep 20) > pipe &
		feeder=$!
		"$cube" append c - --dim=2 --count=100000 -S 64K < pipe &
		loader=$!
		sleep $wait
		kill -9 $loader
		kill $feeder
		wait $loader $feeder || true
		"$cube" export c --verify | cmp - first
		run -0 "$cube" check c
		[[ $output == "8 cells, 0 extents never written, 0 damaged" ]]
	done
	small --mapping naive
	bytes=$(stat -c %s c)
	run -2 bash -c "head -c 200000 /dev/zero | '$cube' append c - --dim=2 --count=100000 -S 64K"
	[[ $output == *"ends before the last element"* && $(stat -c %s c) = "$bytes" ]]
	"$cube" export c --verify | cmp - first
	run -2 bash -c "ulimit -f $((bytes / 1024 + 100)); '$cube' append c --dim=2 --count=100000"
	[[ $output == *"File too large"* && $(stat -c %s c) = "$bytes" ]]
	"$cube" export c --verify | cmp - first
	raw '$1 < 7 && $2 < 6 && $3 >= 5' | "$cube" append c - --dim=2
	"$cube" export c --format csv --verify | diff - <(awk -F, '$1 < 7 && $2 < 6' all.csv)
}

@test "a cube whose load was interrupted is not appended to; one that was never loaded is" {
	dataset
	"$cube" create c --dims 7x6x5 --dtype u64 --mapping naive --fill 9
	"$cube" put c 1,2,3 5
	"$cube" append c --dim=0 --count=3
	"$cube" append c --dim=2 --count=1
	[ "$("$cube" export c --format csv | grep -c ',9$')" = $((10 * 6 * 6 - 1)) ]
	[ "$("$cube" get c 1,2,3)" = 5 ]
	printf '0,0,0,1\n1,1\n' > wrong.csv
	head -c 2881 /dev/zero | { run -2 "$cube" load c -; }
	run -2 "$cube" append c --dim=2 --count=1
	[[ $output == *"load"* ]]
}

@test "damage in what an append stores again is found" {
	dataset
	small --mapping naive
	block=$("$cube" map c 4,0,0)
	printf x | dd of=c bs=1 seek=$((block * 512 + 9)) conv=notrunc status=none
	cp c before
	run -2 "$cube" append c --dim=0 --count=4
	[[ $output == *"checksum differs"* ]]
	cmp c before
}

@test "a cube of several parts is loaded again, in sequence and from points" {
	dataset
	small --mapping zorder
	"$cube" append c --dim=1 --count=4
	"$cube" append c --dim=0 --count=5
	"$cube" append c --dim=2 --count=4
	raw 1 | "$cube" load c -
	"$cube" export c --format csv --verify | diff - all.csv
	sed 's/[0-9]*$/1&/' all.csv > points.csv
	"$cube" load c points.csv -S 20K
	"$cube" export c --format csv --verify | diff - points.csv
	run -0 "$cube" check c
	[[ $output == *" 0 extents never written, 0 damaged" ]]
}

@test "plans of cubes without data grow, with MultiMap on tracks behind, up to the end of the drive" {
	"$cube" create c --dims 259x50x40 --dtype bytes:512 --tile 1x1x1 --mapping multimap \
		--volume sim:atlas10k3-like --no-data
	last=$("$cube" info c | awk '$1 == "blocks" { print $4 + 0 }')
	"$cube" append c --dim=2 --count=40
	[ "$("$cube" map c 0,0,40)" -gt "$last" ]
	run -0 "$cube" beam c --dim 2 --at 3,4,0 --discard --coalesce=off
	[[ $output == "80 cells in "* ]]
	# A hop for each cell, and one jump from part to part.
	awk '{ exit !($6 < 1.9) }' <<< "$output"
	# Basic cubes are no smaller for a first part that is.
	"$cube" create layer --dims 259x50x1 --dtype bytes:512 --tile 1x1x1 --mapping multimap \
		--volume sim:atlas10k3-like --no-data
	"$cube" append layer --dim=2 --count=79
	run -0 "$cube" beam layer --dim 2 --at 3,4,0 --discard --coalesce=off
	awk '{ exit !($6 < 1.9) }' <<< "$output"
	run -2 "$cube" append c /dev/null --dim=2
	[[ $output == *"made without data"* ]]
	cp c before
	run -2 "$cube" append c --dim=2 --count=4000000
	[[ $output == *"the volume is too small for the appended elements in the mapping of the cube"* ]]
	cmp c before
	"$cube" create d --dims 30x20 --dtype bytes:512 --tile 1x1 --mapping naive --volume sim:tiny
	run -2 "$cube" append d --dim=1 --count=100000
	[[ $output == *"the cube would need "*" bytes, the volume has "* ]]
}

@test "a damaged superblock is reported by check, whichever it is" {
	"$cube" create c --dims 8x8x4 --dtype u8 --tile 8x8x8 --mapping naive
	head -c 256 /dev/urandom >in
	"$cube" load c in
	"$cube" append c in --dim=2
	run -0 "$cube" check c
	slot=$(od -An -tu4 -j24 -N4 c)
	for place in 0 "$slot"; do
		cp c d
		printf '\377' | dd of=d bs=1 seek=$((place + 60)) conv=notrunc status=none
		run -1 "$cube" check d
		[[ $output == *"one of the two superblocks is not valid: the last change may be missing"* ]]
		run -2 "$cube" export d --verify
		[[ $output == *"one of the two superblocks is not valid: the last change may be missing"* ]]
		run -0 --separate-stderr "$cube" get d 0,0,0
		# shellcheck disable=SC2154 # bats sets it
		[[ $stderr == *"one of the two superblocks is not valid: the last change may be missing"* ]]
	done
}
