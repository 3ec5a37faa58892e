#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# Damaged and unsuitable files of mmap-cube, and values that do not fit.
. "$BATS_TEST_DIRNAME/suite.bash"

# A cube of 5 x 4 numbers, loaded.
small()
{
	head -c 80 /dev/zero > in
	"$cube" create c --dims 5x4 --mapping naive
	"$cube" load c in
	cp c before
}

@test "create makes cubes of plain files and block devices alone, and leaves others as they are" {
	mkdir dir
	mkfifo fifo
	for file in dir fifo /dev/null; do
		run -2 "$cube" create $file --overwrite --dims 8x8 --mapping naive
		[[ $output == *"is neither a plain file nor a block device"* ]]
		[ -e $file ]
	done
	ln -s nowhere link
	run -2 "$cube" create link --dims 8x8 --mapping naive
	[[ -L link && ! -e nowhere ]]
}

@test "a file that is neither plain nor a block device is refused without waiting" {
	mkfifo fifo
	for command in info export check 'load fifo' 'get 0,0' 'put 0,0 1'; do
		# shellcheck disable=SC2086 # words
		set -- $command
		for file in fifo /dev/null; do
			run -2 timeout 20 "$cube" "$1" $file "${@:2}"
			[ "$output" = "mmap-cube: $file: is neither a plain file nor a block device" ]
		done
	done
}

@test "a cube that does not fit leaves no file, and an old one as it was" {
	run -2 "$cube" create c --dims 100000x1000 --volume sim:tiny --mapping naive
	[[ $output == *"the cube needs"* ]]
	[ ! -e c ]
	small
	run -2 "$cube" create c --overwrite --dims 100000x1000 --volume sim:tiny --mapping naive
	cmp c before
	run -2 "$cube" create new --dims 4611686018427387904x1 --tile 1x1024 --dtype u8 --mapping naive
	[[ $output == *"the cells exceed 2^62 bytes"* && ! -e new ]]
	run -2 bash -c "ulimit -f 8; '$cube' create new --dims 1000x1000 --mapping naive"
	[[ $output == *"the cube needs "*" bytes: File too large"* && ! -e new ]]
	run -2 bash -c "ulimit -f 1; '$cube' create c --overwrite --dims 1000x1000 --mapping naive"
	cmp c before
	# Of several volumes none is changed when one cannot have its length.
	"$cube" create d --dims 5x4 --mapping naive --volumes=2
	truncate -s 0 d.1
	cp d d.before
	run -2 bash -c "ulimit -f 8; '$cube' create d --overwrite --dims 5x4 --mapping naive --volumes=2"
	cmp d d.before
	[ ! -s d.1 ]
}

@test "no output may be the cube, or an input" {
	small
	for option in "-o c" --stats=c --trace=c --stats=./c; do
		# shellcheck disable=SC2086 # two words
		run -2 "$cube" range c $option
		cmp c before
	done
	run -2 "$cube" load c in --stats=in
	[ "$(wc -c < in)" = 80 ]
	ln c other
	run -2 "$cube" load c other
	cmp c before
	run -2 "$cube" create c --overwrite --dims 5x4 --geometry c
	cmp c before
}

@test "inputs that are not data are refused" {
	small
	: > empty
	run -2 "$cube" load c empty
	[[ $output == *"ends before the last element"* ]]
	head -c 79 /dev/zero > few
	head -c 81 /dev/zero > many
	for file in empty few many; do
		run -2 "$cube" load c $file
		[[ $output == *"the last element: it has "*" 80"* ]]
		run -2 "$cube" load c - < $file
		run -2 "$cube" load c - --order 1,0 -S 1 < $file
		cmp c before
	done
	printf '\x93NUMPY\1\0\0\0' > short.npy
	printf '\x93NUMPY\1\0\1\0{}' > shorter.npy
	for file in short.npy shorter.npy empty; do
		run -2 "$cube" load c $file --format npy
		[ "${#lines[@]}" = 1 ]
	done
	run -2 "$cube" load c . --format raw
	[[ $output == *"Is a directory"* ]]
	cmp c before
	run -2 timeout 20 "$cube" load c /dev/zero
	[[ $output == *"goes on after the last element"* ]]
	run -2 "$cube" load c in --offset 15E
	[[ $output == *"beyond 2^62"* ]]
	"$cube" create wide --dims 3000x300 --mapping naive --dtype u8
	run -2 bash -c "'$cube' load wide - --order 1,0 -S 1 < <(cat /dev/zero)"
	[[ $output == *"goes on after the last element"* ]]
}

@test "an empty pipe leaves the cube as it was" {
	small
	run -2 "$cube" load c - --format=raw < /dev/null
	[[ $output == *"ends before the last element"* ]]
	run -2 --separate-stderr bash -c 'head -c 79 in | "$1" load c - --format=raw' _ "$cube"
	cmp c before
	"$cube" check c
}

@test "values that do not fit their type are refused" {
	"$cube" create u --dims 2x2 --dtype u64 --mapping naive
	run -2 "$cube" put u 0,0 ' -5'
	"$cube" create f --dims 2x2 --mapping naive
	for value in 1e39 -1e39 1e400 1x ''; do
		run -2 "$cube" put f 0,0 -- "$value"
	done
	for value in inf -inf nan -.5 -2; do
		"$cube" put f 0,0 $value
		[ "$("$cube" get f 0,0 | sed 's/-0.5/-.5/')" = $value ]
	done
	run -2 "$cube" create b --dims 2x2 --dtype bytes:4294967297
	"$cube" create b --dims 2x2 --dtype bytes:2 --mapping naive
	run -2 "$cube" put b 0,0 "$(printf '\t1\t2')"
	run -2 "$cube" create x --dims 10x10 --tile 8x8x8 --mapping naive
	[[ $output == *"more dimensions than the dataset"* ]]
}

@test "outputs that cannot be written are one message and status 2" {
	[ -c /dev/full ] || skip 'no /dev/full'
	small
	for option in --trace=/dev/full --stats=/dev/full "-o /dev/full"; do
		# shellcheck disable=SC2086 # two words
		run -2 "$cube" range c $option
		[ "$(grep -ac '^mmap-cube: ' <<< "$output")" = 1 ]
	done
	run -2 bash -c "'$cube' export c > /dev/full"
	"$cube" create wide --dims 1000x1000 --mapping naive
	"$cube" load wide <(head -c 4000000 /dev/zero) -S 1M
	run -2 bash -c "'$cube' export wide > /dev/full"
	[ "$output" = "mmap-cube: write error: No space left on device" ]
	run -2 "$cube" export wide -o /dev/full
	[ "$output" = "mmap-cube: /dev/full: No space left on device" ]
	run -0 bash -c "set +o pipefail; '$cube' export wide 2> err | head -c 10 > out"
	[[ ! -s err && $(wc -c < out) = 10 ]]
}

@test "strides far beyond the dataset read its first element, small memory reads the same" {
	small
	run -0 "$cube" range c --stride 18446744073709551614,9223372036854775808 --format csv --verify
	[ "$output" = 0,0,0 ]
}

@test "a file cut short is not a cube, or damaged" {
	small
	slot=$(od -An -tu4 -j24 -N4 c)
	for bytes in 0 10 100 $((2 * slot)) $((2 * slot + 8)) $(($(stat -c %s c) - 1)); do
		head -c "$bytes" before > short
		run ! "$cube" export short
		[ "$(grep -ac '^mmap-cube: ' <<< "$output")" = 1 ]
	done
}

@test "a cell has up to 256 MiB, whatever the memory" {
	"$cube" create c --dims 2x2x2 --tile 16384x8192x2 --dtype u8 --mapping naive
	printf abcdefgh > in
	"$cube" load c in -S 1M
	[ "$("$cube" get c 1,1,1 -S 1M)" = 104 ]
	run -2 "$cube" create d --dims 2x2x2 --tile 16384x8192x3 --dtype u8 --mapping naive
	[[ $output == *"a tile exceeds 256 MiB"* && ! -e d ]]
}

@test "a geometry of another device is refused" {
	"$diskprobe" sim:tiny -o tiny.json > probe.out 2>&1
	shape=(--dims 8x8 --mapping naive --geometry=tiny.json)
	run -2 "$cube" create c "${shape[@]}" --volume sim:atlas10k3-like
	[[ $output == *tiny*"1386 blocks of 512 bytes"* && ! -e c ]]
	"$cube" create d "${shape[@]}" --volume sim:tiny --volumes=2
	"$cube" compare d -q 'beam 1' --geometry=tiny.json # that of one of the volumes
	"$cube" create c --dims 8x8 --mapping naive --volume sim:atlas10k3-like
	run -2 "$cube" explain c -q 'beam 1' --geometry=tiny.json
	[[ $output == *"the geometry has 1386 blocks of 512 bytes"* ]]
}

@test "info shows what cannot be printed as escapes" {
	"$cube" create c --dims 4x4 --dtype f32 --attribute "$(printf 'unit=\033[31mK\nstate  complete')"
	run -0 "$cube" info c
	[[ $output == *'unit = \033[31mK\nstate  complete'* ]]
}

# npy TEXT: a .npy file of version 2 with this dictionary before six numbers.
npy()
{
	printf '\x93NUMPY\2\0'
	printf '%b' "$(printf '\\x%02x\\x%02x\\0\\0' $((${#1} % 256)) $((${#1} / 256)))"
	printf '%s' "$1"
	printf '\0\0\200?\0\0\0@\0\0@@\0\0\200@\0\0\240@\0\0\300@'
}

@test "heads of npy files are read as NumPy reads them" {
	"$cube" create c --dims 3x2
	for text in "{'descr': '<f4', 'fortran_order': True, 'shape': (3, 2), }" \
		'{"descr": "<f4", "fortran_order": True, "shape": (3L, 2L), }' \
		"{'descr':	u'float32','shape':(0x3,2),#c
		'fortran_order':(True)}" "$(printf "%-10000s" "{'descr': '<f4', 'fortran_order': True, 'shape': (3, 2), }")"; do
		npy "$text" > in.npy
		"$cube" load c in.npy
		[ "$("$cube" export c --format csv | tr '\n' ' ')" = '0,0,1 1,0,2 2,0,3 0,1,4 1,1,5 2,1,6 ' ]
	done
	"$cube" export c > before
	for text in "{'descr': '<f4', 'fortran_order': 1, 'shape': (3, 2), }" \
		"{'descr': '<f4', 'fortran_order': 'True', 'shape': (3, 2), }" \
		"{'descr': '<f4', 'fortran_order': Truex, 'shape': (3, 2), }" \
		"{'descr': '<f4', 'fortran_order': True, 'shape': [3, 2], }" \
		"{'descr': '<f4', 'fortran_order': True, 'shape': (3, 2), 'x': 1}" \
		"$(printf "%-10001s" "{'descr': '<f4', 'fortran_order': True, 'shape': (3, 2), }")"; do
		npy "$text" > in.npy
		run -2 "$cube" load c in.npy
		"$cube" export c | cmp - before
	done
}

@test "an input that begins as a npy file is one, unless a format, an offset or an order says otherwise" {
	"$cube" create c --dims 3x2
	npy "{'descr': '>f4', 'fortran_order': False, 'shape': (3, 2), }" > in
	for input in in -; do
		"$cube" load c $input < in
		[[ $("$cube" get c 0,0) == 4.60*e-41 ]]
		"$cube" append c $input --dim=1 < in
		"$cube" create c --dims 3x2 --overwrite
	done
	tail -c 24 in > raw
	"$cube" load c in --offset=$(($(stat -c %s in) - 24))
	"$cube" export c | cmp - raw
	"$cube" create d --dims 6x2 --dtype u8 --tile 4096x1
	printf '\x93NUMPY\x93NUMPY' > magic
	run -2 "$cube" load d magic
	"$cube" load d magic --format=raw
	"$cube" export d | cmp - magic
	"$cube" load d - --format=raw < magic
	"$cube" export d | cmp - magic
	printf '\x93NUMP' > short
	"$cube" create e --dims 5 --dtype u8
	"$cube" load e - < short
	"$cube" export e | cmp - short
	"$cube" create p --points --dims 99x99 --dtype u8
	run -2 "$cube" load p in
	[[ $output == *"a .npy file has a grid" ]]
}

@test "the ending of a name is its form in any case, and one of compressed files is refused" {
	"$cube" create c --dims 3x2 --dtype u8
	printf 'abcdef' > in
	"$cube" load c in
	"$cube" export c -o out.CSV
	[ "$(head -n 1 out.CSV)" = 0,0,97 ]
	"$cube" create d --dims 3x2 --dtype u8
	"$cube" load d out.CSV
	"$cube" export d | cmp - in
	for name in out.csv.gz out.npy.zst out.xz a.b/out.npz OUT.GZ; do
		mkdir -p a.b
		for command in export 'range --lo=0,0' 'beam --dim=0 --at=0,0'; do
			# shellcheck disable=SC2086 # an option of its own
			run -2 "$cube" $command c -o $name
			[[ $output == "mmap-cube: $name: "*" is the ending of a compressed file: "* ]]
			[ ! -e $name ]
		done
		run -2 "$cube" export c -o $name --format=csv
		cp in $name
		run -2 "$cube" load d $name
		[[ $output == "mmap-cube: $name: "*" is the ending of a compressed file: "* ]]
		"$cube" load d $name --format=raw
		rm $name
	done
	mkdir a.gz
	"$cube" export c -o a.gz/out
	cmp a.gz/out in
}

@test "a first record of CSV is a header only if it has no number, and is said to be skipped" {
	for points in '' --points; do
		"$cube" create c --dims 4x4 --dtype f32 $points --overwrite
		for first in x0,1,2 ',1,2' 'x,"1",v' 'x,y,nan' 'x, +1e400 ,v'; do
			printf '%s\n1,1,3\n' "$first" > in.csv
			run -2 "$cube" load c in.csv
			[ "$output" = "mmap-cube: in.csv: line 1: coordinate 0 is not a number" ]
		done
		for first in x,y,value 'lon,lat,2m_temp' $'\357\273\277"x\n0",y,v\r'; do
			printf '%s\n1,1,3\n' "$first" > in.csv
			run -0 "$cube" load c in.csv
			[ "$output" = "mmap-cube: in.csv: the first record has no numbers: skipped as a header" ]
		done
	done
	"$cube" create b --dims 4x4 --dtype bytes:2
	echo x,y,beef > in.csv
	run -2 "$cube" load b in.csv
	[ "$output" = "mmap-cube: in.csv: line 1: coordinate 0 is not a number" ]
}

@test "blank lines of CSV are skipped, and said to be" {
	"$cube" create c --dims 3x2 --dtype u8
	printf 'x,y,v\n\n0,0,1\n  \t\n1,1,2\r\n\r\n' > in.csv
	run -0 "$cube" load c in.csv
	[ "$output" = "mmap-cube: in.csv: the first record has no numbers: skipped as a header
mmap-cube: in.csv: 3 blank lines skipped" ]
	[ "$("$cube" get c 1,1)" = 2 ]
	"$cube" create p --points --dims 9x9 --dtype u8
	run -0 bash -c "printf '1,2,3\n\n' | '$cube' load p - --format=csv"
	[ "$output" = "mmap-cube: -: 1 blank line skipped" ]
	[ "$("$cube" get p 1,2)" = 3 ]
	run -0 bash -c "printf '1,2,3\n' | '$cube' load p - --format=csv"
	[ -z "$output" ]
}

@test "a query of a few points takes the memory of their cells, not 16 MiB" {
	[ -z "${SP_TEST_VARIANT:-}" ] || skip "a sanitizer needs memory of its own"
	printf '1,2,3\n4,5,6\n' >in.csv
	"$cube" create c --points --dims 64x64 --dtype f32 --mapping naive
	"$cube" load c in.csv
	"$cube" range c --discard --stats=r.json
	[ "$(value peak_bytes)" -lt 12000000 ]
	[ "$(value read_requests)" -eq 1 ]
}
