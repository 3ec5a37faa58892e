#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# SP_TEST_FULL=1: deletions on several volumes are killed at each call, not at each second one.
# bats file_tags=slow
. "$BATS_TEST_DIRNAME/suite.bash"

# points N: N points, 2 of 3 in a corner, some at the same coordinates, in the file in.csv.
points()
{
	awk -v n="$1" 'BEGIN {
		srand(5)
		for (i = 0; i < n; i++) {
			side = i % 3 ? 500 : 65536
			print int(rand() * side) "," int(rand() * side) "," int(rand() * 4000) "," i
			if (i % 100 == 0) print "7,8,9," i
		}
	}' > in.csv
}

create()
{
	"$cube" create c --overwrite --points --dims 65536x65536x4000 --dtype u32 --cell 512 "$@" 2>created
}

# The points of the box that two corners span, in the order of a result.
truth()
{
	awk -F, -v lo="$1" -v hi="$2" 'BEGIN { split(lo, l, ","); split(hi, h, ",") }
		{ for (i = 1; i <= 3; i++) if ($i + 0 < l[i] + 0 || $i + 0 > h[i] + 0) next; print }' in.csv |
		sort -t, -k3,3n -k2,2n -k1,1n
}

# Values of one place are ordered by their bytes, which are not those of their digits.
same()
{
	diff <(sort -t, -k3,3n -k2,2n -k1,1n "$1") <(sort -t, -k3,3n -k2,2n -k1,1n "$2")
	diff <(cut -d, -f1-3 "$1") <(cut -d, -f1-3 "$2")
}

@test "a range of points equals a filter of the input, under each mapping, from file and pipe" {
	points 6000
	truth 3,5,100 400,60000,2000 > want
	truth 0,0,0 65535,65535,3999 > all
	for mapping in auto naive zorder hilbert gray; do
		create --mapping $mapping --volume sim:atlas10k3-like
		"$cube" load c in.csv
		"$cube" range c --lo 3,5,100 --hi 401,60001,2001 --format csv > out
		same out want
		create --mapping $mapping
		"$cube" load c - --format csv -S 1M < in.csv
		"$cube" export c --format csv -S 1M -o out
		same out all
		run -0 "$cube" check c
		[[ $output == *' 6060 points, 0 damaged' ]]
	done
}

@test "the result depends neither on the mapping nor on memory nor on the depth" {
	points 3000
	create --mapping naive
	"$cube" load c in.csv
	"$cube" export c > want
	create --mapping hilbert
	"$cube" load c in.csv
	"$cube" export c --depth 7 -S 1M | cmp - want
	"$cube" export c --depth 1 --coalesce=off | cmp - want
	# What is exported can be loaded.
	create --mapping zorder
	"$cube" load c - < want
	"$cube" export c | cmp - want
}

@test "a beam has the points of its line, and get all values of a place" {
	create
	printf 'x,y,z,value\n3,4,5,1\n3,4,6,2\n\n3,9,5,3\n3,4,5,7\n' | "$cube" load c - --format csv
	run -0 "$cube" beam c --dim 1 --at 3,0,5 --format csv
	[ "$output" = $'3,4,5,1\n3,4,5,7\n3,9,5,3' ]
	run -0 "$cube" get c 3,4,5
	[ "$output" = $'1\n7' ]
	run -2 "$cube" get c 3,3,3
	[[ $output == *'no point at 3,3,3' ]]
	run -0 "$cube" range c --lo 9,9,9
	[ -z "$output" ]
}

@test "loads add up, put adds, and reorganise changes nothing but places" {
	points 3000
	split -n l/2 in.csv part.
	create --overflow 0
	"$cube" load c part.aa --format csv
	"$cube" load c - --format csv < part.ab
	for i in {1..60}; do
		"$cube" put c 100,100,5 $i 2>said
		echo "100,100,5,$i" >> in.csv
	done
	"$cube" put c 65000,60000,3999 5
	echo 65000,60000,3999,5 >> in.csv
	grep -q 'overflow cells for .* reorganise' said
	"$cube" info c | grep -q 'overflow: reorganise'
	truth 0,0,0 65535,65535,3999 > want
	"$cube" export c --format csv > before
	same before want
	"$cube" check c
	"$cube" reorganise c
	"$cube" export c --format csv | cmp - before
	run -0 "$cube" info c
	[[ $output != *'overflow: reorganise'* ]]
	run -0 "$cube" check c
	[[ $output == *' 3091 points, 0 damaged' ]]
}

@test "delete takes all points of a place, or those with a value, and gives overflow cells back" {
	points 3000
	create
	"$cube" load c in.csv
	for place in 7,8,9 "$(sed -n 50p in.csv | cut -d, -f1-3)"; do
		"$cube" delete c "$place"
		grep -v "^$place," in.csv > rest
		mv rest in.csv
		run -2 "$cube" delete c "$place"
		[ "$output" = "mmap-cube: c: there is no point at $place" ]
	done
	truth 0,0,0 65535,65535,3999 > want
	"$cube" export c --format csv > out
	same out want
	run -0 "$cube" check c
	[[ $output == *" $(wc -l < in.csv) points, 0 damaged" ]]
	seq 500 | sed 's/^/1,2,3,/; p' | "$cube" load c - --format csv
	bytes=$(stat -c %s c)
	"$cube" delete c 1,2,3 77
	"$cube" get c 1,2,3 | sort -n | cmp - <(seq 500 | sed '/^77$/d; p')
	run -2 "$cube" delete c 1,2,3 77
	[ "$output" = "mmap-cube: c: there is no point at 1,2,3 with the value 77" ]
	run -2 "$cube" delete c 1,2,3 -- -1
	[[ $output == *"invalid value '-1'"* ]]
	"$cube" delete c 1,2,3
	"$cube" export c --format csv > out
	same out want
	[ "$(stat -c %s c)" -lt "$bytes" ]
	run -0 "$cube" check c
	[[ $output == *" $(wc -l < in.csv) points, 0 damaged" ]]
	"$cube" create grid --dims 9x9
	run -2 "$cube" delete grid 1,1 0
	[[ $output == *'a grid has one element at each position: no value selects it' ]]
}

# keep: copies the files of c; restore: copies them back.
keep() { mkdir -p kept; cp c c.* kept; }
restore() { cp kept/* .; }

@test "a deletion that is killed at any call loses no other point" {
	shim=$(realpath "$build/tests/shim/failcall.so") || skip "no shim in this build"
	# A place whose points are in several cells, with others in each.
	for i in {1..60}; do printf '5,5,%d,%d\n9,9,9,%d\n' $((i % 3)) $((i % 9)) "$i"; done > in.csv
	for case in '1 5,5,1' '3 5,5,1 3' '3 9,9,9'; do
		read -r volumes place value <<< "$case"
		# shellcheck disable=SC2206 # none or one
		arguments=("$place" $value)
		create --mapping naive --volumes="$volumes"
		touch c.txt # one of c.*
		"$cube" load c - --format csv < in.csv
		for i in {1..20}; do "$cube" put c 5,5,1 3; done
		"$cube" export c --format csv > before
		keep
		"$cube" delete c "${arguments[@]}"
		"$cube" export c --format csv > after
		[ "$(wc -l < after)" -lt "$(wc -l < before)" ]
		step=$((volumes > 1 && !${#SP_TEST_FULL} ? 2 : 1))
		for ((call = 1 + ${#value} % step; call < 99; call += step)); do
			restore
			FAILCALL_KILL=1 FAILCALL_AT=$call FAILCALL_CALLS='pwrite write fsync ftruncate' FAILCALL_FD_MIN=3 LD_PRELOAD=$shim \
				"$cube" delete c "${arguments[@]}" && break
			"$cube" check c
			"$cube" export c --format csv > out
			# Nothing that was to stay is missing, and nothing is new.
			[ -z "$(comm -13 <(sort out) <(sort after))" ]
			[ -z "$(comm -23 <(sort out) <(sort before))" ]
			"$cube" delete c "${arguments[@]}" || [ "$(wc -l < out)" = "$(wc -l < after)" ]
			"$cube" export c --format csv | cmp - after
			"$cube" put c 9,9,9 7
			"$cube" delete c 5,5,2 5
			"$cube" check c
		done
		[ $call -gt 8 ]
		[ $call -lt 99 ]
	done
}

@test "points on several volumes: the same results, each volume works, and its old copies are refused" {
	needs jq
	points 6000
	create --mapping naive
	"$cube" load c in.csv
	"$cube" export c > want
	for options in '--volumes=4 --mapping=hilbert' '--volumes=3 --volume=sim:atlas10k3-like --mapping=multimap' \
		'--volumes=2 --volume=sim:atlas10k3-like --mapping=multimap --decluster=round-robin'; do
		rm -f c c.*
		# shellcheck disable=SC2086 # several
		create $options
		"$cube" load c in.csv -S 2M
		"$cube" export c | cmp - want
		"$cube" range c --lo 3,5,100 --hi 401,60001,2001 --stats=stats.json -o out
		jq -e '.io.volume_requests | length > 1 and all(. > 0)' stats.json
		# Points of a place have overflow cells on each volume.
		for i in {1..40}; do "$cube" put c 7,8,9 $((i + 900000)); done
		run -0 "$cube" check c
		[[ $output == *' 6100 points, 0 damaged' ]]
		for i in {1..40}; do "$cube" delete c 7,8,9 $((i + 900000)); done
		"$cube" reorganise c
		"$cube" export c | cmp - want
		block=$("$cube" map c 7,8,9)
		run -0 "$cube" map c --block "$block"
	done
	cp c.1 old.1
	"$cube" put c 1,1,1 1
	cp c.1 new.1
	cp old.1 c.1
	for command in export 'put 1,1,1 2' 'delete 1,1,1' reorganise check; do
		# shellcheck disable=SC2086 # words
		set -- $command
		run -2 "$cube" "$1" c "${@:2}"
		[ "$output" = "mmap-cube: c.1: has another state of the cube than c: one of them is an older copy; restore all volumes together" ]
	done
	cp new.1 c.1
	"$cube" check c
	# As many changes of another copy.
	for v in c*; do cp "$v" "kept-$v"; done
	"$cube" put c 1,1,1 3
	cp c.1 old.1
	for v in kept-*; do cp "$v" "${v#kept-}"; done
	"$cube" put c 1,1,1 4
	cp c.1 new.1; cp old.1 c.1
	run -2 "$cube" export c
	[[ $output == *'has another state of the cube than c'* ]]
	cp new.1 c.1
	"$cube" check c
}

@test "a load or a reorganisation on several volumes that is killed at any call keeps all points" {
	shim=$(realpath "$build/tests/shim/failcall.so") || skip "no shim in this build"
	points 600
	create --mapping naive --volumes=3
	"$cube" load c in.csv
	"$cube" export c > old
	keep
	"$cube" load c in.csv
	"$cube" export c > new
	seen=
	for ((call = 1; call < 99; call++)); do
		restore
		FAILCALL_KILL=1 FAILCALL_AT=$call FAILCALL_CALLS='pwrite write fsync ftruncate fallocate' FAILCALL_FD_MIN=3 LD_PRELOAD=$shim \
			"$cube" load c in.csv --engine=sync && break
		"$cube" check c
		"$cube" export c > out
		if cmp -s out old; then seen+=o; elif cmp -s out new; then seen+=n; fi
		[ ${#seen} = $call ]
		"$cube" reorganise c
		"$cube" export c | cmp - out
	done
	[[ $seen =~ ^o+n+$ ]]
}

@test "boxes of points are read faster from several drives" {
	awk 'BEGIN { for (i = 0; i < 40000; i++) print i % 200 * 20 "," int(i / 200) * 20 ",0,1" }' > in.csv
	for volumes in 1 4; do
		create --mapping multimap --volume=sim:atlas10k3-like --volumes=$volumes --fill-factor 0.5
		"$cube" load c in.csv
		"$cube" range c --hi 4000,4000,1 --discard | awk '{ print $4 }' > ms.$volumes
	done
	awk -v a="$(cat ms.1)" -v b="$(cat ms.4)" 'BEGIN { print "# " a " s on 1, " b " s on 4"; exit !(b < a / 2) }'
}

@test "when few of the points are left, delete and info say that a reorganisation is due" {
	awk 'BEGIN { for (i = 0; i < 200; i++) print i * 300 ",0,0,1" }' > in.csv
	create --underflow 0.98
	"$cube" load c in.csv
	for i in 0 1 2 3; do
		run -0 "$cube" delete c $((i * 300)),0,0
		[ -z "$output" ]
	done
	run -0 "$cube" delete c 1200,0,0
	[ "$output" = 'mmap-cube: c: 195 of 200 points left: reorganise makes queries faster' ]
	"$cube" info c | grep -q 'reorganise makes queries faster'
	"$cube" reorganise c
	run ! grep -q reorganise <("$cube" info c)
	# An old version has no bound.
	create --underflow 0
	[ "$(od -An -tu8 -j8 -N8 c)" -eq 2 ]
	"$cube" load c in.csv
	"$cube" delete c 0,0,0
	[ "$(od -An -tu8 -j8 -N8 c)" -eq 2 ]
	"$cube" check c
}

@test "many points at one place have overflow cells and need no repacking" {
	create
	seq 1000 | sed 's/^/1,2,3,/' | "$cube" load c - --format csv
	run -0 "$cube" get c 1,2,3
	[ "$(sort -n <<< "$output")" = "$(seq 1000)" ]
	"$cube" put c 1,2,3 1001
	run -0 "$cube" info c
	[[ $output == *' overflow'* && $output != *reorganise* ]]
}

@test "uniform areas become MultiMap regions, and are faster off the first dimension" {
	awk 'BEGIN { for (x = 0; x < 64; x++) for (y = 0; y < 64; y++) printf "%d,%d,%02x%02x\n", 4 * x, 4 * y, x, y }' > in.csv
	# Long values: a cell has 3 of them.
	for mapping in multimap naive; do
		"$cube" create $mapping --overwrite --points --dims 256x256 --dtype bytes:1200 \
			--mapping $mapping --fill-factor 0.4 --volume sim:atlas10k3-like
		awk -F, -v OFS=, '{ $3 = sprintf("%01200d%s%s", 0, sprintf("%01196d", 0), $3); print }' in.csv |
			"$cube" load $mapping - --format csv
		"$cube" check $mapping
		"$cube" export $mapping > $mapping.out
	done
	cmp multimap.out naive.out
	run -0 "$cube" info multimap
	[[ $output == *'regions     1, and 0 cells'* && $output == *'4096 points, 100.0 %'* ]]
	ms() { "$cube" beam "$1" --dim 1 --at 100,0 --discard --coalesce=off | sed 's/.* \(.*\) ms.*/\1/'; }
	awk -v m="$(ms multimap)" -v n="$(ms naive)" 'BEGIN { exit !(m < n / 2) }'
	block=$("$cube" map multimap 100,100)
	run -0 "$cube" map multimap --block "$block"
	[[ $output == '100,100 103,103' ]]
}

# Points of 200 bytes, 2 in a cell, loaded under each mapping on a simulated drive; same export.
load_all()
{
	for mapping in multimap naive hilbert; do
		"$cube" create $mapping --overwrite --points --dims 8192x8192x8192 --dtype bytes:200 --cell 512 \
			--fill-factor 0.5 --mapping $mapping --volume sim:atlas10k3-like
		awk -F, -v OFS=, '{ $4 = sprintf("%0400d", NR); print }' in.csv | "$cube" load $mapping - --format csv
		"$cube" check $mapping
		"$cube" export $mapping > $mapping.out
	done
	cmp multimap.out naive.out
	cmp multimap.out hilbert.out
}

# ms MAPPING QUERY...: of all queries, options of range.
ms()
{
	local query

	for query in "${@:2}"; do
		# shellcheck disable=SC2086
		"$cube" range "$1" $query --discard --coalesce=off
	done | awk '{ sum += $4 } END { print 1000 * sum }'
}

# first QUERY...: MultiMap is the fastest.
first()
{
	awk -v m="$(ms multimap "$@")" -v n="$(ms naive "$@")" -v h="$(ms hilbert "$@")" \
		'BEGIN { print "# multimap " m ", naive " n ", hilbert " h; exit !(m < n && m < h) }'
}

@test "areas that no node of the tree has become regions, and boxes in them are faster" {
	# One point in each cell of 10 x 10 x 10, from 137,211,333 on; and a few anywhere.
	awk 'BEGIN {
		srand(3)
		for (z = 0; z < 16; z++) for (y = 0; y < 16; y++) for (x = 0; x < 128; x++)
			print 137 + 10 * x + int(rand() * 10) "," 211 + 10 * y + int(rand() * 10) "," 333 + 10 * z + int(rand() * 10) ",0"
		for (i = 0; i < 1000; i++) print int(rand() * 8192) "," int(rand() * 8192) "," int(rand() * 8192) ",0"
	}' > in.csv
	load_all
	"$cube" info multimap | awk '/^region / { sum += $5 } END { exit !(sum > 31000) }'
	first '--lo=700,300,340 --hi=701,301,481' '--lo=400,250,340 --hi=401,251,481' '--lo=1100,350,340 --hi=1101,351,481'
	first '--lo=700,220,340 --hi=800,320,440' '--lo=300,250,350 --hi=400,350,450'
	# A point that is put goes to its region.
	"$cube" put multimap 701,301,401 "$(printf %0400d 7)"
	"$cube" get multimap 701,301,401 | grep -x "$(printf %0400d 7)"
	"$cube" check multimap
}

@test "a cluster whose density falls from its centre has regions, and boxes in it are faster" {
	awk 'function normal() { return sqrt(-2 * log(1 - rand())) * cos(6.283185307 * rand()) }
		BEGIN { srand(4); for (i = 0; i < 60000; i++) print int(3000 + 600 * normal()) "," int(2500 + 100 * normal()) "," int(4000 + 100 * normal()) ",0" }' > in.csv
	load_all
	"$cube" info multimap | awk '/^region / { sum += $5 } END { exit !(sum > 30000) }'
	first '--lo=2950,2450,3950 --hi=3050,2550,4050' '--lo=2900,2500,3980 --hi=3000,2600,4080'
}

@test "options without meaning for points are refused with the reason" {
	refused()
	{
		run -2 "${@:2}"
		[[ $output == *"$1"* && $(wc -l <<< "$output") = 1 ]]
	}
	refused 'apply to grids, not to points' "$cube" create x --points --dims 9x9 --tile 8x8
	refused 'apply to grids, not to points' "$cube" create x --points --dims 9x9 --fill 3
	refused 'depends on the data' "$cube" create x --points --dims 9x9 --no-data --volume sim:atlas10k3-like
	refused 'more than 128 bits' "$cube" create x --points --dims 18446744073709551614x18446744073709551614x2
	refused 'more than 61 bits' "$cube" create x --points --dims 4294967296x4294967296 --mapping hilbert
	refused 'is not a multiple of 512 bytes' "$cube" create x --points --dims 9x9 --cell 700
	refused 'needs a geometry' "$cube" create x --points --dims 9x9 --mapping multimap
	[ ! -e x ]
	create
	cp c before
	echo 1,2,3,4 > in.csv
	refused 'do not apply to points' "$cube" load c in.csv --rollup 0:7
	refused 'has a grid' "$cube" load c in.csv --format npy
	refused 'has a grid' "$cube" export c --format npy
	refused 'points have no grid' "$cube" range c --stride 2,2,2
	refused 'line 2: coordinate 65536 of dimension 0' "$cube" load c - --format csv <<< $'1,2,3,4\n65536,1,1,1'
	refused 'line 1: its value' "$cube" load c - --format csv <<< 1,2,3,x
	refused 'the input ends inside it' "$cube" load c in.csv --format raw
	refused 'points cannot be appended' "$cube" append c in.csv --format raw --dim 0
	cmp c before
	"$cube" create grid --dims 9x9
	refused 'only points' "$cube" reorganise grid
}

@test "damage is found, and does not lead to a wrong result" {
	points 3000
	create --mapping naive
	# The directory follows the empty dataset.
	end=$("$cube" info c | awk '/^blocks/ { print $4 + 1 }')
	"$cube" load c in.csv
	block=$("$cube" map c 7,8,9)
	printf 'XXXX' | dd of=c bs=1 seek=$((block * 512 + 100)) conv=notrunc status=none
	run -1 "$cube" check c
	[[ $output == *' 1 damaged'* && $output == *'first damaged cell'* ]]
	run -2 "$cube" export c
	[ "$output" = "mmap-cube: c: a checksum differs: run check" ]
	run -2 "$cube" reorganise c
	# The directory.
	printf 'XXXX' | dd of=c bs=1 seek=$(((end + 7) / 8 * 4096 + 8)) conv=notrunc status=none
	run -2 "$cube" check c
	[[ $output == *'the directory is damaged' ]]
}

@test "a cell that reads as zeros is damaged, in a leaf, a region, outside, and without points" {
	"$cube" create c --points --dims 256x256 --dtype bytes:1200 --fill-factor 0.4 \
		--mapping multimap --volume sim:atlas10k3-like
	awk 'BEGIN {
		for (x = 0; x < 64; x++) for (y = 0; y < 64; y++)
			if (x != 9 || y != 9) printf "%d,%d,%02400x\n", 4 * x, 4 * y, 64 * x + y
	}' | "$cube" load c - --format csv
	run -0 "$cube" check c
	for place in 0,0 36,36; do
		cp c leaf
		block=$("$cube" map leaf $place)
		dd if=/dev/zero of=leaf bs=512 count=1 seek="$block" conv=notrunc status=none
		run -1 "$cube" check leaf
		[[ $output == *' 1 damaged'* ]]
		run -2 "$cube" get leaf $place
		[[ $output == *'a checksum differs: run check' ]]
		run -2 "$cube" put leaf $place "$(printf '%02400x' 1)"
		[[ $output == *'a checksum differs: run check' ]]
	done
	create
	"$cube" put c 1,2,3 4
	run -0 "$cube" get c 1,2,3
	dd if=/dev/zero of=c bs=512 count=1 seek="$("$cube" map c 1,2,3)" conv=notrunc status=none
	run -1 "$cube" check c
	run -2 "$cube" put c 1,2,3 5
}

@test "an older state of a cell is noticed: the head counts points" {
	create
	echo 1,2,3,4 | "$cube" load c - --format csv
	block=$("$cube" map c 1,2,3)
	dd if=c of=cell bs=512 count=1 skip="$block" status=none
	"$cube" put c 1,2,3 5
	dd if=cell of=c bs=512 count=1 seek="$block" conv=notrunc status=none
	run -1 "$cube" check c
	[[ $output == *'the superblock has 2 points: some are lost' ]]
	run -2 "$cube" reorganise c
	[[ $output == *'fewer points than its superblock says: run check' ]]
}

@test "a dataset that another program changes is neither changed nor read, one that it reads not changed" {
	needs flock
	create
	echo 1,2,3,4 > in.csv
	for how in -x -s; do
		run -2 flock $how c "$cube" put c 1,2,3 4
		[ "$output" = 'mmap-cube: c: another program is using it' ]
		run -2 flock $how c "$cube" load c in.csv
		[ "$output" = 'mmap-cube: c: another program is using it' ]
		run -0 flock $how c "$cube" info c
		[[ $how = -s || $output == *"state       another program is changing it"* ]]
	done
	for command in check export 'get 1,2,3' 'range --discard' 'beam --dim 1 --at 1,1,1'; do
		# shellcheck disable=SC2086 # words
		set -- $command
		run -2 flock c "$cube" "$1" c "${@:2}"
		[ "$output" = 'mmap-cube: c: another program is changing it' ]
		# a file that a new cube begins with, or that became shorter, is no other reason
		: > empty
		for file in empty short; do
			[ -e short ] || head -c 8192 c > short
			run -2 flock $file "$cube" "$1" $file "${@:2}"
			[ "$output" = "mmap-cube: $file: another program is changing it" ]
		done
		[ "$1" = get ] || flock -s c "$cube" "$1" c "${@:2}"
	done
	"$cube" load c in.csv
}

# held COMMAND...: runs a command while another program has the lock of c, for half a second.
held()
{
	rm -f begun
	flock c sh -c ': > begun; sleep 0.5' 3>&- 7>&- &
	until [ -e begun ]; do :; done
	"$@"
}

@test "--wait waits for another program, until it ends, the time is over, or a signal comes" {
	needs flock
	create
	held "$cube" put c 1,2,3 4 --wait
	[ "$(held "$cube" get c 1,2,3 --wait=20 | cut -d, -f4)" = 4 ]
	held "$cube" create c --dims 4x4 --overwrite --wait
	exec 7<c
	flock 7
	run -2 "$cube" get c 1,2 --wait=50ms 7<&-
	[ "$output" = 'mmap-cube: c: another program is changing it' ]
	run -2 "$cube" put c 1,2 3 --wait=0.05 7<&-
	[ "$output" = 'mmap-cube: c: another program is using it' ]
	run -2 "$cube" create c --dims 4x4 --overwrite --wait=50ms 7<&-
	[ "$output" = 'mmap-cube: c: another program is using it' ]
	run -2 "$cube" get c 1,2 --wait=soon 7<&-
	[[ $output == *"invalid --wait argument 'soon'"* ]]
	run -124 timeout -s INT 0.2 "$cube" get c 1,2 --wait 7<&-
	exec 7<&-
}

@test "loads and reorganisations reuse the space of older ones, also under other names of the file" {
	points 3000
	create
	ln c other
	"$cube" load c in.csv
	"$cube" export c > want
	for i in {1..6}; do
		"$cube" reorganise other
		"$cube" export c | cmp - want
		[ "$(stat -c %s c)" -lt $((3 * $(wc -c < want))) ]
	done
	"$cube" check c
	# Little more space than one dataset takes.
	[ "$(du -k c | cut -f1)" -lt $((2 * $(wc -c < want) / 1024)) ]
}

@test "a file that is cut short is noticed by its size, whatever the command" {
	points 2000
	create
	"$cube" load c in.csv
	size=$(stat -c %s c)
	for bytes in 8192 $((size / 2)) $((size - 1)); do
		head -c "$bytes" c > short
		for command in info check export 'get 1,2,3' 'put 1,2,3 4' reorganise; do
			# shellcheck disable=SC2086 # words
			set -- $command
			run -2 "$cube" "$1" short "${@:2}"
			[ "$output" = "mmap-cube: short: it was truncated: it has $bytes bytes, not $size" ]
		done
	done
}
