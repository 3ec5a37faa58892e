#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
. "$BATS_TEST_DIRNAME/suite.bash"
load keys

# data BYTES: BYTES bytes that differ by offset, in the file in.
data()
{
	"$xgen" records --bytes "$1" | head -c "$1" > in
}

# A cube of 19 x 13 x 7 numbers on a simulated drive: cells of 4 x 4 x 8, and ragged edges.
create()
{
	"$cube" create c --overwrite --dims 19x13x7 --tile 4x4x8 --volume sim:atlas10k3-like "$@"
}

@test "--help and --version are answered on standard output, for each command too" {
	run -0 --separate-stderr "$cube" --help
	[[ $output == *beam* && -z $stderr ]]
	run -0 "$cube" --version
	[[ $output == "mmap-cube (Spindle) "* ]]
	run -0 "$cube" range --help
	[[ $output == *--stride* && $output != *--mapping* ]]
}

@test "loaded elements are exported, under each mapping, from a file and from a pipe" {
	data $((19 * 13 * 7 * 4))
	for mapping in multimap naive zorder gray hilbert; do
		create --mapping $mapping
		"$cube" load c in
		"$cube" export c --verify | cmp - in
		create --mapping $mapping
		"$cube" load c - -S 100K < in
		"$cube" export c -S 100K | cmp - in
		"$cube" check c
	done
}

@test "a cube over rounds of a serpentine has what one in rows has" {
	data $((4 * 20 * 20 * 512))
	for mapping in multimap naive; do
		"$cube" create $mapping --dims 4x20x20 --tile 1x1x1 --dtype bytes:512 \
			--volume sim:serpentine --mapping $mapping --basic-cube 4x20x20
		"$cube" load $mapping in
		"$cube" export $mapping --verify | cmp - in
		"$cube" check $mapping
		"$cube" beam $mapping --dim 2 --at 3,7,0 -o beam.$mapping
		"$cube" range $mapping --lo 1,2,0 --hi 4,20,19 --stride 1,3,2 -o range.$mapping
	done
	cmp beam.multimap beam.naive
	cmp range.multimap range.naive
	# 400 tracks are more than a round; only such a head has another version.
	[ "$(od -An -tu8 -j8 -N8 multimap)" -eq 5 ]
	[ "$(od -An -tu8 -j8 -N8 naive)" -eq 4 ]
}

@test "where a geometry does not tell what hops need, cubes are mapped naive" {
	echo '{"schema":"spindle.geometry/1","source":"probe","device":"x","verdict":"rotating","blocks":100000,
		"block_bytes":512,"period":{"ns":6e6},"hops":{},"zones":[{"first_lbn":0,
		"tracks":1000,"start":"0000000000000000","skew_den":100,"pattern":[[100,20]]}]}' > g
	data $((40 * 30 * 4))
	run -0 "$cube" create c --dims 40x30 --geometry g
	[[ $output == *"mapped naive"* ]]
	"$cube" load c in
	"$cube" export c | cmp - in
	run -0 "$cube" create p --points --dims 40x30 --geometry g
	[[ $output == *"no tracks or no hops"* ]]
	run -2 "$cube" create m --dims 40x30 --geometry g --mapping multimap
	[[ $output == *"known tracks or hops"* ]]
}

@test "a beam and a range have the elements of the dataset" {
	for z in 0 1 2 3; do for y in 0 1 2; do for x in 0 1 2 3 4; do
		echo "$x,$y,$z,$((x + 10 * y + 100 * z))"
	done; done; done > want
	while IFS=, read -r _ _ _ value; do
		# shellcheck disable=SC2059 # an octal escape for each byte
		printf "\\$(printf %o $((value % 256)))\\$(printf %o $((value / 256)))"
	done < want > in
	"$cube" create c --dims 5x3x4 --dtype u16 --volume sim:atlas10k3-like
	"$cube" load c in
	run -0 "$cube" beam c --dim 1 --at 3,0,2 --format csv
	[ "$output" = $'3,0,2,203\n3,1,2,213\n3,2,2,223' ]
	run -0 "$cube" range c --lo 1,1,0 --hi 5,3,4 --stride 3,1,3 --format csv
	[ "$output" = $'1,1,0,11\n4,1,0,14\n1,2,0,21\n4,2,0,24\n1,1,3,311\n4,1,3,314\n1,2,3,321\n4,2,3,324' ]
	"$cube" export c --format csv | diff - want
}

@test "elements are printed, changed, and verified" {
	create --fill 2.5
	[ "$("$cube" get c 18,12,6)" = 2.5 ]
	"$cube" put c 18,12,6 -1.25
	[ "$("$cube" get c --verify 18,12,6)" = -1.25 ]
	[ "$("$cube" get c 17,12,6)" = 2.5 ]
	"$cube" put c -- 0,0,0 -3.5
	"$cube" put c 1,0,0 -- -4.5
	[ "$("$cube" get c 0,0,0),$("$cube" get c 1,0,0)" = -3.5,-4.5 ]
	"$cube" check c
}

@test "a place goes both ways" {
	create
	run -0 "$cube" map c 8,4,0
	[ "$("$cube" map c --block="$output")" = 8,4,0 ]
	run -2 "$cube" map c --block=1
	[[ $output == *"block 1 has no cell"* ]]
}

@test "npy files are written and read, also those of C order" {
	data $((19 * 13 * 7 * 4))
	create
	"$cube" load c in
	"$cube" export c -o out.npy
	[ "$(tail -c +129 out.npy | cmp - in && echo same)" = same ]
	create
	"$cube" load c out.npy
	"$cube" export c | cmp - in
	# The same bytes as an array whose last coordinate is the fastest.
	sed '1s/True, /False,/' out.npy > c.npy
	create
	"$cube" load c c.npy
	"$cube" export c > a
	create
	"$cube" load c in --order 2,1,0
	"$cube" export c | cmp - a
	run -2 "$cube" load c in --format npy
	[[ $output == *"is not a .npy file"* ]]
	for option in --order=0,1,2 --offset=128 --big-endian; do
		run -2 "$cube" load c out.npy $option
		[ "$output" = "mmap-cube: out.npy: a .npy file states its order, offset and byte order itself" ]
	done
	"$cube" create d --dims 19x13x8 --volume sim:atlas10k3-like
	run -2 "$cube" load d out.npy
	[[ $output == *"another shape"* ]]
}

@test "damage is found: check says where and exits with 1, --verify refuses" {
	data $((19 * 13 * 7 * 4))
	create --mapping naive
	"$cube" load c in
	block=$("$cube" map c 4,8,0)
	printf x | dd of=c bs=1 seek=$((block * 512 + 5)) conv=notrunc status=none
	run -1 "$cube" check c
	[[ $output == *"1 damaged"*"0,8,0"* ]]
	run -2 "$cube" export c --verify
	[[ $output == *"checksum differs"* ]]
	run -0 "$cube" beam c --dim 0 --at 0,0,0 --verify --discard
}

@test "points are loaded from shuffled lines of CSV, whatever the memory" {
	data $((19 * 13 * 7 * 4))
	for mapping in multimap naive zorder gray hilbert; do
		create --dtype i32 --mapping $mapping
		"$cube" load c in
		"$cube" export c --format csv > all.csv
		{ echo x,y,z,value; shuf --random-source=in all.csv; echo; } > points.csv
		for size in 64M 20K; do
			create --dtype i32 --mapping $mapping --fill 9
			"$cube" load c points.csv -S $size
			"$cube" export c --verify | cmp - in
			create --dtype i32 --mapping $mapping --fill 9
			head -n 31 points.csv | "$cube" load c - --format csv -S $size
			"$cube" export c --format csv > some.csv
			[ "$(diff all.csv some.csv | grep -c '^>.*,9$')" = $((19 * 13 * 7 - 30)) ]
			run -0 "$cube" check c
			[[ $output == *" 0 extents never written, 0 damaged" ]]
		done
	done
}

@test "points change a cube that is loaded, and the last line of an element counts" {
	data $((19 * 13 * 7 * 4))
	create --dtype u32
	"$cube" load c in
	"$cube" export c --format csv > before
	printf '3,4,5,1\n 18, 12, 6, 77 \n3,4,5,2\r\n' > points.csv
	"$cube" load c points.csv
	sed 's/^3,4,5,.*/3,4,5,2/; s/^18,12,6,.*/18,12,6,77/' before > want
	"$cube" export c --format csv --verify | diff - want
	printf '\xEF\xBB\xBF0,0,0,5\n' > points.csv
	"$cube" load c points.csv
	[ "$("$cube" get c 0,0,0)" = 5 ]
}

@test "a roll-up adds up the values that meet in an element" {
	awk 'BEGIN { for (x = 0; x < 8; x++) for (day = 0; day < 730; day++)
		print x "," day "," x + day % 3 }' | shuf --random-source=<(yes) > days.csv
	awk -F, '{ n[$1 "," int($2 / 365)] += $3 } END { for (k in n) print k "," n[k] }' days.csv |
		sort -t, -k2,2n -k1,1n > want
	for size in 64M 20K; do
		"$cube" create c --overwrite --dims 8x2 --dtype i16 --mapping naive
		"$cube" load c days.csv --rollup 1:365 -S $size
		"$cube" export c --format csv | diff - want
	done
	"$cube" create c --overwrite --dims 8x2 --dtype i8 --mapping naive
	run -2 "$cube" load c days.csv --rollup 1:365
	[[ $output == *"the sum of element "*" does not fit i8"* ]]
	"$cube" create c --overwrite --dims 8x2 --dtype i8 --mapping naive
	run -2 "$cube" load c days.csv --rollup 1:100
	[[ $output == *"of dimension 1 is not below 2 x 100"* ]]
	run -2 "$cube" load c days.csv --rollup 2:365
	[[ $output == *"there is no dimension 2 to roll up"* ]]
	run -2 "$cube" load c days.csv --rollup 1:0
	[[ $output == *"valid is DIM:N"* ]]
	"$cube" create c --overwrite --dims 8x2 --dtype i16 --mapping naive --fill 1
	run -2 "$cube" load c days.csv --rollup 1:365
	[[ $output == *"a roll-up needs a cube whose fill is 0"* ]]
	run -2 "$cube" load c days.csv --format raw --rollup 1:365
	[[ $output == *"only the coordinates of CSV are rolled up"* ]]
}

@test "a wrong line of CSV is an error that names it" {
	create --dtype u8 --tile 8x8x8
	bad()
	{
		printf '0,0,0,1\n\n%b\n' "$1" > points.csv
		run -2 "$cube" load c points.csv
		[[ $output == "mmap-cube: points.csv: line 3: $2" ]]
	}
	bad 0,0,x,1 "coordinate 2 is not a number"
	bad -1,0,0,1 "coordinate 0 is not a number"
	bad 0,0 "it has too few fields"
	bad 0,0,0, "its value is no u8"
	bad 0,0,0,1,2 "its value is no u8"
	echo '"0","0","0","1"' > points.csv # no header
	run -2 "$cube" load c points.csv
	[[ $output == *"line 1: coordinate 0 is not a number" ]]
	bad 0,0,0,256 "its value is no u8"
	bad 0,13,0,1 "coordinate 13 of dimension 1 is not below 13"
	bad 18446744073709551616,0,0,1 "coordinate 18446744073709551616 of dimension 0 is not below 19"
	bad '0,0,\0000,1' "it is not text"
	bad "0,0,0,$(printf %2000d 1)" "it is too long"
	# Until the first change the cube is what it was.
	run -0 "$cube" info c
	[[ $output == *"not loaded"* ]]
	run -2 "$cube" load c points.csv --resume
	[[ $output == *"do not apply to CSV"* ]]
}

@test "a damaged head is replaced by the other one; both damaged, or no cube, is an error" {
	data $((19 * 13 * 7 * 4))
	create
	"$cube" load c in
	cp c d
	printf x | dd of=d bs=1 seek=50 conv=notrunc status=none
	"$cube" info d
	cp c e
	slot=$(od -An -tu4 -j24 -N4 c)
	printf x | dd of=e bs=1 seek=$((slot + 50)) conv=notrunc status=none
	"$cube" info e
	printf x | dd of=e bs=1 seek=50 conv=notrunc status=none
	run -2 "$cube" info e
	[[ $output == *"the superblock is damaged"* ]]
	run -2 "$cube" info in
	[[ $output == "mmap-cube: in: is not a cube; mmap-cube create makes one" ]]
	printf '\1' | dd of=c bs=1 seek=8 conv=notrunc status=none
	printf '\1' | dd of=c bs=1 seek=$((slot + 8)) conv=notrunc status=none
	run -2 "$cube" info c
	[[ $output == *"another version"* ]]
}

@test "an interrupted load continues" {
	data $((64 * 64 * 64 * 4))
	"$cube" create c --dims 64x64x64 --volume sim:atlas10k3-like
	head -c 500000 in > part
	run -2 "$cube" load c <(cat part) -S 600K
	[[ $output == *"ends before the last element"* ]]
	run -2 "$cube" load c <(cat part) -S 600K
	for command in export 'get 0,0,0' 'put 0,0,0 1' 'export --format npy' 'load points.csv'; do
		echo 0,0,0,1 > points.csv
		# shellcheck disable=SC2086 # words
		set -- $command
		run -2 --separate-stderr "$cube" "$1" c "${@:2}"
		[ "$stderr" = "mmap-cube: c: a load was interrupted: load all elements again" ]
		[ -z "$output" ]
	done
	run -0 "$cube" check c
	[[ $output == *" 0 damaged"*"a load was interrupted"* ]]
	run -2 "$cube" load c c
	[[ $output == *"the input is the cube itself"* ]]
	"$cube" load c in --resume -S 600K
	"$cube" export c --verify | cmp - in
	run -2 "$cube" load c - <<< x
	run -2 "$cube" load c <(cat in; echo)
	[[ $output == *"goes on after the last element"* ]]
}

@test "a load that is killed says so afterwards, and can be done again" {
	data $((64 * 64 * 64 * 4))
	"$cube" create c --dims 64x64x64
	cp c created
	mkfifo pipe
	exec {keep}<> pipe
	head -c 600000 in > pipe {keep}>&- 3>&- &
	"$cube" load c pipe -S 600K {keep}>&- 3>&- & load=$!
	while cmp -s c created; do sleep 0.05; done
	[[ $("$cube" info c) == *"another program is changing it"* ]]
	kill -TERM $load
	status=0
	wait $load || status=$?
	[ $status = 143 ]
	exec {keep}>&-
	run -2 "$cube" get c 0,0,0
	"$cube" load c in
	"$cube" export c --verify | cmp - in
}

@test "a load of points that was interrupted while it wrote is done again, with the same input" {
	data $((19 * 13 * 7 * 4))
	awk 'BEGIN { for (i = 0; i < 999; i++) print i % 19 "," i % 13 "," i % 7 "," i }' > points.csv
	create --dtype u32
	"$cube" load c in
	cp c whole
	"$cube" load c points.csv
	"$cube" export c > want
	# Files of this length, but no longer: the points are loaded in place.
	ulimit -f $((($(stat -c %s whole) + 1023) / 1024))
	for request in 1 2 3; do
		cp whole c
		run -2 "$cube" load c points.csv --depth 1 --request-size 4K \
			--engine=fault:SCOPE=PROCESS,KIND=WRITE,NTH=$request,ERROR=EIO:sim
		run -2 "$cube" export c
		[[ $output == *"a load from CSV or a write was interrupted: repeat it" ]]
		run -0 "$cube" check c
		[[ $output == *" 0 damaged"*"repeat it" ]]
		run -2 "$cube" load c - --format csv <<< 0,0,0,5
		[[ $output == *"was changing elements that this input does not name: load that input again" ]]
		"$cube" load c points.csv
		"$cube" export c --verify | cmp - want
	done
	# Damage of another kind is found as ever.
	cp whole c
	run -2 "$cube" load c points.csv --engine=fault:SCOPE=PROCESS,KIND=READ,NTH=1,ERROR=EIO:sim
	printf x | dd of=c bs=512 seek="$("$cube" map c 4,8,0)" conv=notrunc status=none
	run -1 "$cube" check c
	run -2 "$cube" load c points.csv
	[[ $output == *"a checksum differs: run check" ]]
}

@test "an interrupted load of points continues, one of sums does not" {
	awk 'BEGIN { for (i = 0; i < 20000; i++) print i % 19 "," i % 13 "," i % 7 ",1"; print "x" }' > p
	sed '$d' p > points
	create --dtype u32
	run -2 "$cube" load c p --format csv -S 20K
	run -2 "$cube" export c
	[[ $output == *"a load from CSV or a write was interrupted: repeat it" ]]
	run -2 "$cube" load c points --format csv --rollup 1:1
	[[ $output == *"a load from CSV or a write was interrupted: repeat it" ]]
	"$cube" load c points --format csv
	[ "$("$cube" get c 18,12,6)" = 1 ]
	create --dtype u32
	run -2 "$cube" load c p --format csv -S 20K --rollup 1:1
	for option in --rollup=1:1 --format=csv; do
		run -2 "$cube" load c points --format csv $option
		[[ $output == *"a roll-up was interrupted: create the cube again" ]]
	done
	data $((19 * 13 * 7 * 4))
	"$cube" load c in
	"$cube" export c | cmp - in
}

@test "wrong options are refused with the reason" {
	run -2 "$cube" create c
	[[ $output == *"needs --dims"* ]]
	run -2 "$cube" create c --dims 4x0
	[[ $output == *"a dimension has no elements"* ]]
	run -2 "$cube" create c --dims 4294967296x4294967296x8
	[[ $output == *"exceeds 2^62 bytes"* ]]
	run -2 "$cube" create c --dims 10x10 --tile 3x3
	[[ $output == *"a tile of 36 bytes is not a multiple of the block size 512"* ]]
	run -2 "$cube" create c --dims 10x10 --tile 1024
	[[ $output == *"the tile needs a size for each dimension"* ]]
	for sizes in 2 0x2; do
		run -2 "$cube" create c --dims 100x100 --basic-cube $sizes
		[[ $output == *"the basic cube needs a size for each dimension"* ]]
	done
	run -2 "$cube" create c --dims 10x10 --mapping multimap
	[[ $output == *"needs a geometry"* ]]
	run -2 "$cube" create c --dims 16x8 --mapping multimap --volume sim:atlas10k3-like,array=raid0:4
	[[ $output == *"the volume has no known tracks or hops"* ]]
	run -2 "$cube" create c --dims 9x9x9x9x9 --dtype bytes:512 --mapping hilbert
	[[ $output == *"powers of two"* ]]
	run -2 "$cube" create c --dims 100000x100000 --dtype bytes:512 --volume sim:tiny
	[[ $output == *"the cube needs "*" bytes, the volume has "* ]]
	run -2 "$cube" create c --dims 8x8 --no-data
	[[ $output == *"needs a simulated volume"* ]]
	[ ! -e c ]
	create
	run -2 "$cube" create c --dims 8x8
	[ "$output" = "mmap-cube: c: File exists; --overwrite allows to replace it" ]
	run -2 "$cube" range c --hi 20,1,1
	[[ $output == *"the box ends behind the 19 elements of dimension 0"* ]]
	run -2 "$cube" range c --lo 5,0,0 --hi 5,1,1
	[[ $output == *"--hi is not above --lo in dimension 0"* ]]
	run -2 "$cube" beam c --dim 3 --at 0,0,0
	[[ $output == *"dimensions are 0 to 2"* ]]
	run -2 "$cube" beam c --dim 0 --at 0,0
	[[ $output == *"the cube has 3 dimensions"* ]]
	run -2 "$cube" put c 0,0,0 x
	[[ $output == *"not a valid f32"* ]]
	run -2 "$cube" nonsense c
	[[ $output == *"unknown command: 'nonsense'"* ]]
	run -2 "$cube" info c d
	[[ $output == *"info: extra operand: 'd'"* ]]
	run -2 "$cube" get c
	[[ $output == *"get: missing operand"* ]]
	run -2 "$cube" export c --engine=null
	[[ $output == *"it moves no bytes"* ]]
	run -2 "$cube" info $'no\ncube'
	[ "$output" = "mmap-cube: 'no'\$'\\n''cube': No such file or directory; create makes a cube" ]
	run -2 "$cube" range c --mapping naive
}

@test "without a geometry cells are mapped naive, with a message" {
	run -0 "$cube" create c --dims 8x8
	[[ $output == *"mapped naive: no geometry"* ]]
	run -0 "$cube" info c
	[[ $output == *"naive"*"not loaded"* ]]
}

@test "a cube without data answers queries with --discard alone" {
	"$cube" create big --dims 8192x1024x128 --dtype bytes:4096 --tile 1x1x1 --mapping naive \
		--volume sim:nearline6t-like --no-data
	[ "$(stat -c %s big)" -lt 1000000 ]
	run -0 "$cube" beam big --dim 0 --at 0,9,9 --discard
	[[ $output == "8192 cells in "* ]]
	run -2 "$cube" beam big --dim 0 --at 0,9,9
	[[ $output == *"only --discard is possible"* ]]
	run -2 "$cube" load big /dev/null
	[[ $output == *"made without data"* ]]
}

@test "on a drive, MultiMap costs at most a hop for each cell of a beam across the rows" {
	for mapping in multimap naive; do
		"$cube" create $mapping --dims 259x120x60 --dtype bytes:512 --tile 1x1x1 \
			--mapping $mapping --volume sim:atlas10k3-like --no-data
		for dim in 0 1 2; do
			"$cube" beam $mapping --dim $dim --at 11,22,33 --discard --coalesce=off |
				awk -v d=$dim '{ printf "%d %.2f\n", d, $6 }'
		done > $mapping.ms
	done
	# A hop of 66 degrees and 20 of conservatism takes 1.44 ms, but rows that are reached earlier
	# are read earlier, after the 0.85 ms of a switch of surfaces; rows on 0.4 of a track 2.5 ms.
	awk '$1 && ($2 < 0.85 || $2 > 1.6) { exit 1 }' multimap.ms
	awk '$1 && $2 < 2.3 { exit 1 }' naive.ms
}

@test "the report has the documented keys, and the counts of the trace" {
	needs jq
	create
	data $((19 * 13 * 7 * 4))
	"$cube" load c in
	run -0 "$cube" beam c --dim 1 --at 3,0,2 --discard --coalesce=off --stats=s.json --trace=t
	"$cube" create d --dims 19x13x7 --tile 16x16x4 --mapping naive --volume sim:atlas10k3-like
	"$cube" load d in --direct --stats=d.json
	has_keys d.json result.no_effect[] sim
	[ "$(jq .io.requests s.json)" = "$(grep -c '^R' t)" ]
	[ "$(jq .result.cells s.json)" = 4 ]
	[ "$(jq .io.bytes s.json)" = "$(jq .result.cell_bytes s.json)" ]
}

@test "results go to a file that appears when it is complete, and a full disk is an error" {
	create --fill 1
	"$cube" range c --hi 4,1,1 -o out
	[ "$(stat -c %s out)" = 16 ]
	[ -w /dev/full ] || skip "there is no /dev/full"
	run -2 bash -c "'$cube' export c > /dev/full"
}

@test "a workload is predicted and measured under each mapping, and auto takes the best" {
	"$cube" create c --dims 120x60x30 --dtype bytes:512 --tile 1x1x1 --mapping naive \
		--volume sim:atlas10k3-like --no-data
	printf '%s\n' '# lines' '3 beam 1' '1 range 8x8x8' '1 beam 2 5,6,0' > w
	run -0 "$cube" compare c --workload w --coalesce=off
	[ ${#lines[@]} = 9 ]
	awk 'NR > 3 && $1 != "auto" { p = $2; m = $3 } NR > 3 && $1 == "auto" { p = $3; m = $4 }
		NR > 3 { if (p < 0.9 * m || p > 1.1 * m) exit 1 }' <<<"$output"
	awk 'NR > 3 && $1 != "auto" && (!best || $3 < best) { best = $3 }
		$1 == "auto" { exit $4 > 1.05 * best }' <<<"$output"
	run -0 "$cube" explain c --workload w --stats=s.json
	[[ $output != *measured* ]]
	[[ ${lines[9]} =~ ^'by closed formulas: multimap '[0-9.]+' ms, naive '[0-9.]+' ms, auto multimap '[0-9.]+' ms'$ ]]
	[[ ${lines[11]} == *'outstanding requests)' ]]
	run -0 "$cube" explain c --workload w --run
	[[ ${lines[9]} == 'by closed formulas: '* ]]
	"$cube" create d --dims 120x60x30 --dtype bytes:512 --tile 1x1x1 --workload w \
		--coalesce=off --volume sim:atlas10k3-like --no-data
	run -0 "$cube" info d
	[[ $output == *"multimap, dimensions"* ]]
	# What is given stays.
	"$cube" create e --dims 120x60x30 --dtype bytes:512 --tile 1x1x1 --workload w --order 1,2,0 \
		--coalesce=off --volume sim:atlas10k3-like --no-data
	run -0 "$cube" info e
	[[ $output == *"dimensions 1, 2, 0"* ]]
	needs jq
	has_keys s.json
}

@test "where nothing is known of the device, no figure is predicted or measured" {
	"$cube" create c --dims 20x10x4 --dtype bytes:512 --tile 1x1x1
	run -0 "$cube" explain c -q 'beam 1' --stats=s.json
	[[ ${lines[0]} == "1 query, on an unknown device, 1 outstanding, coalescing auto:" ]]
	[[ $output == *$'\nauto naive             -         -          -    0.0  0,1,2' ]]
	[[ $output != *'closed formulas'* ]]
	run -2 "$cube" compare c -q 'beam 1'
	[ "$output" = "mmap-cube: c: measuring mappings needs a simulated volume; --geometry or --measure predict a real one" ]
	needs jq
	jq -e '.candidates | all(.predicted_s == null and .requests == null and .bytes == null)' s.json
}

@test "a workload that cannot be is refused with its line" {
	create
	for bad in '1 beam 3' '0 beam 1' 'x' '1 range 4x4' '1 range 20x1x1' '1 range 0x1x1' \
		'1 range 4x4x4 18,0,0' '1e300 beam 1' '1 ray 2' '1 beam 1 0,0'; do
		printf '1 beam 0\n%s\n' "$bad" > w
		run -2 "$cube" explain c --workload w
		[[ $output == "mmap-cube: w: line 2: "* ]]
	done
	: > w
	run -2 "$cube" explain c --workload w
	[[ $output == *"the file has no queries"* ]]
	run -2 "$cube" explain c --workload w --positions 0
	[[ $output == *"--positions argument '0' is not within 1 and 1000000" ]]
	run -2 "$cube" explain c --workload w --positions x
	[[ $output == *"invalid --positions argument 'x': a whole number is expected" ]]
	run -2 "$cube" explain c
	[[ $output == *"needs --workload or --query"* ]]
	run -2 "$cube" explain c --query='beam 3'
	[[ $output == "mmap-cube: query 'beam 3': "* ]]
	run -2 "$cube" explain c --query='# none'
	[[ $output == *"the query is empty" ]]
}

@test "auto leaves no more space unused than it may" {
	"$cube" create c --dims 259x100x100 --dtype bytes:512 --tile 1x1x1 --volume sim:atlas10k3-like --no-data --coalesce=off
	run -0 "$cube" info c
	[[ $output == *"multimap, dimensions"* ]]
	run -0 "$cube" create d --dims 259x100x100 --dtype bytes:512 --tile 1x1x1 --waste 10 --coalesce=off \
		--volume sim:atlas10k3-like --no-data
	[[ $output == *"mapped naive: "*"wastes too much space" ]]
	# Rows of 340 of the 686 blocks of a track, in one basic cube: half is unused.
	run -0 "$cube" create e --dims 340x4x4 --dtype bytes:512 --tile 1x1x1 --volume sim:atlas10k3-like --no-data \
		--coalesce=off
	[[ $output == *"mapped "*": "*"wastes too much space" ]]
	for most in 60 20; do
		"$cube" create f --dims 340x4x4 --dtype bytes:512 --tile 1x1x1 --volume sim:atlas10k3-like --no-data \
			-q 'beam 1' --coalesce=off --order=0,1,2 --waste="$most" --overwrite
		"$cube" info f | grep ^mapping >>found
	done
	[[ $(sed -n 1p found) == *multimap* && $(sed -n 2p found) != *multimap* ]]
}

@test "queries of the command line are those of a workload" {
	"$cube" create c --dims 120x60x30 --dtype bytes:512 --tile 1x1x1 --mapping naive \
		--volume sim:atlas10k3-like --no-data
	printf '%s\n' 'beam 1' '2 range 8x8x8' > w
	"$cube" explain c --workload w > file
	"$cube" explain c -q 'beam 1' --query='2 range 8x8x8' | diff file -
	head -n 1 w > one
	"$cube" explain c --workload one -q '2 range 8x8x8' | diff file -
	! "$cube" explain c --workload one | diff -q file -
}

@test "auto is not behind any mapping on a drive with a cache" {
	"$cube" create c.cube --no-data --volume=sim:ultrastar36lzx-like --dims 128x128x64 \
		--dtype bytes:512 --tile 1x1x1 --mapping naive
	for query in "beam 0" "beam 2" "range 10x10x10"; do
		"$cube" compare c.cube --query "$query" --positions 20 --coalesce=off >out
		awk '$1 == "auto" { auto = $4 } $1 ~ /^(multimap|naive|zorder|hilbert|gray)$/ && $3 > 0 && (!n++ || $3 < best) { best = $3 }
			END { exit !(n == 5 && auto > 0 && auto <= 1.001 * best) }' out || { cat out; false; }
	done
	[[ $(<out) == *"auto hilbert"* ]]
}

@test "auto plans for a workload where no tile was given" {
	echo 'beam 1' >w
	run -0 "$cube" create f --dims 32x32x32 --workload w
	run -0 "$cube" create g --dims 32x32x32 --query 'range 4x4x4' --volume sim:atlas10k3-like
	run -0 "$cube" info g
	[[ $output == *'dimensions  32 x 32 x 32'* ]]
}

@test "the picture of compare has the times of each query, and their mean" {
	needs gnuplot
	"$cube" create c --dims 64x64x64 --volume sim:atlas10k3-like --no-data --mapping=naive
	"$cube" compare c -q 'beam 1' -q 'range 8x4x2 1,2,3' -q 'range 64x64x2' --plot=out.svg
	for text in 'beam 1' 'range 8x4x2' 'range 64x64x2' mean multimap hilbert 'auto: ' 'measured, ms per query' \
		'predicted, ms per query' 'mean of 3 queries, on sim:atlas10k3-like'; do
		grep -qF ">$text" out.svg || { echo "$text"; false; }
	done
	"$cube" compare c -q 'beam 0' --plot=out.svg
	grep -qF '>beam 0' out.svg
	run -1 grep -F '>mean<' out.svg
}

@test "explain and compare predict a real device by a geometry, or by a measurement, and say by which" {
	"$diskprobe" sim:flash --quick -o g.json
	"$cube" create c --dims 64x64x64 --mapping=naive
	for command in explain compare; do
		run -0 "$cube" $command c -q 'beam 2' --geometry=g.json
		[[ ${lines[0]} == "1 query, by the geometry of flash, 1 outstanding, coalescing auto:" ]]
		[[ $output != *measured* ]]
		run -0 "$cube" $command c -q 'beam 2' --measure
		[[ ${lines[0]} =~ ^"1 query, by a measurement of the device of .: "[0-9.e+-]+" ms per seek, "[0-9.e+-]+" ms per MiB, 1 outstanding" ]]
		[[ $output =~ naive\ +[0-9] ]]
	done
	[ "$(ls)" = "$(printf 'c\ng.json')" ]
	run -2 "$cube" compare c -q 'beam 2' --geometry=g.json --measure
	[[ $output == *"--measure and --geometry are incompatible" ]]
	run -2 "$cube" explain c -q 'beam 2' --geometry=g.json --run
	[[ $output == *"needs a simulated volume"* ]]
	"$cube" create s --dims 8x8 --mapping=naive --volume=sim:tiny
	run -2 "$cube" explain s -q 'beam 0' --measure
	[[ $output == *"--measure and a simulated volume are incompatible" ]]
}
