#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# Cubes of mmap-cube on several volumes.
. "$BATS_TEST_DIRNAME/suite.bash"

setup()
{
	begin_test
	dims=(--dims 37x29x11 --tile 4x4x8)
}

data()
{
	head -c $((37 * 29 * 11 * 4)) /dev/urandom > in
}

# The time in a summary of requests.
seconds()
{
	sed 's/.* cells in \([0-9.]*\) s.*/\1/'
}

@test "a cube on several volumes has the elements of one on a single volume" {
	data
	"$cube" create one "${dims[@]}" --mapping naive
	"$cube" load one in
	box=(--lo '3,2,1' --hi '36,28,9' --stride '2,3,1')
	"$cube" range one "${box[@]}" > box
	for mapping in naive zorder gray hilbert; do
		for volumes in 2 3 5; do
			for how in disk-modulo round-robin; do
				"$cube" create c "${dims[@]}" --mapping $mapping --volumes=$volumes \
					--decluster=$how --overwrite
				"$cube" load c - < in
				"$cube" export c --verify | cmp - in
				"$cube" range c "${box[@]}" --verify -S 256K | cmp - box
				"$cube" check c
				[ "$("$cube" get c 5,6,7)" = "$("$cube" get one 5,6,7)" ]
			done
		done
	done
	"$cube" put c 36,28,10 -1.5
	[ "$("$cube" get c --verify 36,28,10)" = -1.5 ]
}

@test "every engine, direct requests and loads in any order keep volumes apart" {
	data
	for engine in io_uring libaio sync; do
		"$cube" create c "${dims[@]}" --mapping hilbert --volumes=3 --overwrite
		depth=3
		[ $engine != sync ] || depth=1
		"$cube" load c in --engine=$engine --depth $depth || skip "no $engine here"
		"$cube" export c --verify --engine=$engine --depth 1 | cmp - in
	done
	"$cube" create d --dims 37x29x11 --dtype u32 --tile 16x8x8 --volumes=3 --mapping naive
	"$cube" load d in
	run "$cube" export d --verify --direct=always -o out
	[ "$status" != 0 ] || cmp out in
	"$cube" export d --format csv | shuf --random-source=in > in.csv
	"$cube" create e "${dims[@]}" --dtype u32 --mapping zorder --volumes=4 --basic-cube 3x2x1
	"$cube" load e in.csv -S 512K
	"$cube" export e --verify | cmp - in
}

@test "appended cells are spread like the others, and a failed append leaves all volumes as they were" {
	data
	head -c $((37 * 29 * 6 * 4)) in > begin
	tail -c $((37 * 29 * 5 * 4)) in > end
	for mapping in naive gray; do
		"$cube" create c --dims 37x29x6 --tile 4x4x8 --mapping $mapping --volumes=3 --overwrite
		"$cube" load c begin
		for file in c c.1 c.2; do
			cp $file kept-$file
		done
		run -2 bash -c "head -c 20000 end | '$cube' append c - --dim 2 --count 5"
		for file in c c.1 c.2; do
			cmp $file kept-$file
		done
		"$cube" append c end --dim 2
		"$cube" export c --verify | cmp - in
		"$cube" check c
	done
}

@test "map, info and the report name volumes; map is its own reverse" {
	data
	"$cube" create c "${dims[@]}" --mapping naive --volumes=3 --basic-cube 3x3x1
	"$cube" load c in --stats=report
	for x in 0,0,0 12,0,0 36,28,10 24,12,8; do
		block=$("$cube" map c $x)
		[[ $block == [012]:* ]]
		tile=$("$cube" map c --block="$block")
		[ "$("$cube" map c "$tile")" = "$block" ]
	done
	[ "$("$cube" map c 0,0,0 | cut -d: -f1)" = 0 ]
	[ "$("$cube" map c 12,0,0 | cut -d: -f1)" = 1 ]
	[ "$("$cube" map c 12,12,0 | cut -d: -f1)" = 2 ]
	run -2 "$cube" map c --block=600
	[[ $output == *"valid is VOLUME:BLOCK"* ]]
	run -2 "$cube" map c --block=3:600
	[[ $output == *"with VOLUME from 0 to 2" ]]
	run -2 "$cube" map c --block=2:999999999999999999
	[[ $output == *"a volume has "*" blocks" ]]
	run -0 "$cube" info c
	[[ $output == *"3, disk-modulo"* && $output == *"basic cube  3 x 3 x 1"* ]]
	grep -q '"volumes": *3' report
	grep -q '"decluster": *"disk-modulo"' report
}

@test "damage of any volume is found" {
	data
	"$cube" create c "${dims[@]}" --mapping naive --volumes=3 --basic-cube 3x3x1
	"$cube" load c in
	for x in 0,0,0 12,0,0 24,0,0; do
		place=$("$cube" map c $x)
		file=c.${place%:*}
		file=${file%.0}
		cp "$file" kept
		printf xxxx | dd of="$file" bs=512 seek="${place#*:}" conv=notrunc status=none
		run -1 "$cube" check c
		[[ $output == *" 1 damaged"* ]]
		run -2 "$cube" export c --verify -o out
		[ ! -e out ]
		cp kept "$file"
	done
	truncate -s 5000 c.1
	run -2 "$cube" check c
	[[ $output == *"c.1: "* ]]
}

@test "a volume that is missing, of another cube, exchanged or damaged is refused by its name" {
	data
	"$cube" create c "${dims[@]}" --mapping naive --volumes=3
	"$cube" create d "${dims[@]}" --mapping naive --volumes=3
	mv c.1 kept
	run -2 "$cube" info c
	[ "$output" = "mmap-cube: c.1: No such file or directory" ]
	cp d.1 c.1
	run -2 "$cube" info c
	[ "$output" = "mmap-cube: c.1: is a volume of another cube; put volume 1 of c back under this name" ]
	cp c.2 c.1
	run -2 "$cube" export c
	[ "$output" = "mmap-cube: c.1: is volume 2 of the cube, not volume 1; put each volume back under its name" ]
	cp in c.1
	run -2 "$cube" load c in
	[ "$output" = "mmap-cube: c.1: is not a volume of a cube; put volume 1 of c back under this name" ]
	cp kept c.1
	printf x | dd of=c.1 bs=1 seek=41 conv=notrunc status=none
	run -2 "$cube" info c
	[ "$output" = "mmap-cube: c.1: its header is damaged; put volume 1 of c back under this name" ]
	run -2 "$cube" info d.1
	[ "$output" = "mmap-cube: d.1: is not a cube; mmap-cube create makes one" ]
	run -2 "$cube" load d d.2
	[[ $output == *"the input is the cube itself"* ]]
}

@test "a volume that another program has locked is refused, and only described" {
	needs flock
	data
	"$cube" create c "${dims[@]}" --mapping naive --volumes=2
	"$cube" load c in
	run -2 flock c.1 "$cube" export c
	[ "$output" = "mmap-cube: c.1: another program is changing it" ]
	run -2 flock -s c.1 "$cube" load c in
	[ "$output" = "mmap-cube: c.1: another program is using it" ]
	flock -s c.1 "$cube" export c | cmp - in
	run -0 flock c.1 "$cube" info c
	[[ $output == *"another program is changing"* ]]
}

@test "volumes have the names that are given, from the folder of the first" {
	data
	mkdir a b
	"$cube" create a/c "${dims[@]}" --mapping naive --volumes="x,../b/y,$PWD/z"
	[ -e a/x ]
	[ -e b/y ]
	[ -e z ]
	"$cube" load a/c in
	mv a moved
	"$cube" export moved/c --verify | cmp - in
	for names in '' 'x,' ',x' 'x,,y'; do
		run -2 "$cube" create n "${dims[@]}" --volumes="$names"
		[ ! -e n ]
	done
	for number in 0 65 99999999999 -1 2x 2.; do
		run -2 "$cube" create n "${dims[@]}" --volumes=$number
		[ ! -e n ]
		[ ! -e "./$number" ]
	done
	"$cube" create n "${dims[@]}" --volumes=./2x
	[ -e 2x ]
	"$cube" create o "${dims[@]}" --volumes=p,q --volumes=3
	[ -e o.1 ]
	[ -e o.2 ]
	[ ! -e p ]
}

@test "no output overwrites a volume of the cube" {
	data
	for volumes in 3 c.1,c.2; do
		"$cube" create c "${dims[@]}" --mapping naive --volumes=$volumes --overwrite
		"$cube" load c in
		for command in 'export c' 'check c' 'load c in' 'range c --lo 0,0,0 --hi 2,2,2'; do
			for option in stats trace; do
				# shellcheck disable=SC2086
				run -2 "$cube" $command --$option=./c.2
				[ "$output" = "mmap-cube: ./c.2: --$option would overwrite it" ] ||
					[ "$output" = "mmap-cube: c.2: --$option would overwrite it" ]
			done
		done
		run -2 "$cube" export c -o c.1
		[ "$output" = 'mmap-cube: c.1: --output would overwrite it' ]
		"$cube" export c --verify | cmp - in
	done
}

@test "create leaves nothing behind when a volume cannot be made" {
	touch c.2
	run -2 "$cube" create c "${dims[@]}" --volumes=3
	[[ $output == *"c.2: File exists"* ]]
	[ ! -e c ]
	[ ! -e c.1 ]
	[ ! -s c.2 ]
	rm c.2
	mkdir c.2
	run -2 "$cube" create c "${dims[@]}" --volumes=3 --overwrite
	[ ! -e c ]
	[ ! -e c.1 ]
	run -2 "$cube" create c "${dims[@]}" --volumes=x,x
	[ ! -e c ]
	[ ! -e x ]
	"$cube" create old "${dims[@]}" --volumes=2
	cp old kept
	run -2 "$cube" create old "${dims[@]}" --volumes=old --overwrite
	[[ $output == *"is named for another volume of the cube"* ]]
	cmp old kept
	run -2 bash -c "ulimit -f 16; '$cube' create new --dims 100x100x100 --volumes=2"
	[ ! -e new ]
	[ ! -e new.1 ]
}

@test "a cube that is being changed is not overwritten" {
	"$cube" create c "${dims[@]}" --volumes=2
	cp c kept
	run -2 flock c "$cube" create c "${dims[@]}" --volumes=2 --overwrite
	[ "$output" = "mmap-cube: c: another program is using it" ]
	cmp c kept
	"$cube" create c "${dims[@]}" --volumes=2 --overwrite
}

@test "on simulated drives a large range takes a quarter of the time on four, a row no longer" {
	needs jq
	shape=(--dims 259x259x64 --dtype bytes:512 --tile 1x1x1 --volume sim:atlas10k3-like --no-data)
	for mapping in multimap naive; do
		for volumes in 1 4; do
			"$cube" create s$volumes "${shape[@]}" --mapping $mapping --volumes=$volumes --overwrite
			"$cube" range s$volumes --discard | seconds > range$volumes
		done
		[ ! -e s4.1 ]
		paste range1 range4 | awk '{ exit !($2 <= 0.3 * $1) }'
	done
	"$cube" range s4 --discard | seconds | cmp - range4
	for volumes in 1 4; do
		"$cube" compare s$volumes -q 'beam 0' --positions 200 --stats=report > /dev/null
		jq '.candidates[:2][].measured_s' report > row$volumes
	done
	paste row1 row4 | awk '$2 > $1 { exit 1 }'
}

@test "explain predicts several drives, and compare measures what it predicts" {
	needs jq
	shape=(--dims 200x100x60 --dtype bytes:512 --tile 1x1x1 --volume sim:atlas10k3-like --no-data)
	"$cube" create c "${shape[@]}" --volumes=3 --mapping multimap
	"$cube" compare c -q 'range 200x80x50' -q 'beam 1' --positions 5 --coalesce=off --stats=report > /dev/null
	jq -e '[.candidates[] | .predicted_s / .measured_s | . > 0.9 and . < 1.1] | all' report
}

@test "drives of several volumes are neither arrays nor in a file system" {
	for words in array=raid0:2 fs=group; do
		run -2 "$cube" create c "${dims[@]}" --volumes=2 --volume sim:atlas10k3-like,$words
		[[ $output == *"each volume is a simulated drive of its own"* && ! -e c ]]
	done
	run -2 "$cube" create c "${dims[@]}" --volumes=2 --volume sim:flash
	[ ! -e c ]
	"$cube" create a "${dims[@]}" --volume sim:atlas10k3-like,array=raid0:2 2>&1
	"$cube" range a --discard
}

@test "a simulated drive may end within a page, and its last bytes are not used" {
	for volumes in 1 2 3; do
		"$cube" create c --dims 64x64x8 --volume sim:ide300-like --volumes=$volumes --mapping naive --overwrite
		head -c $((64 * 64 * 8 * 4)) /dev/urandom > in
		"$cube" load c in
		"$cube" export c | cmp - in
	done
	# Of 709632 bytes 173 pages are used, up to the last block of them.
	cells=(--dtype bytes:512 --tile 1x1 --mapping naive --volume sim:tiny --overwrite)
	for ((n = 800; n < 900; n++)); do
		"$cube" create c "${cells[@]}" --dims $((n + 1))x1 2> err || break
	done
	[[ $(cat err) == "mmap-cube: c: the cube needs 709120 bytes, the volume has 708608: choose a larger one" ]]
	"$cube" create c "${cells[@]}" --dims ${n}x1
	head -c $((n * 512)) /dev/urandom > in
	"$cube" load c in
	"$cube" export c | cmp - in
}
