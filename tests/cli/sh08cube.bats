#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# Shao 2008, chapter 5, in small: the fastest mapping on the simulated drive with the sizes of the
# thesis.  scripts/experiments/sh08cube has all rows.
#
# SP_TEST_FULL=1: with more boxes, positions and drives.
# bats file_tags=slow
. "$BATS_TEST_DIRNAME/suite.bash"

setup()
{
	models=$BATS_TEST_DIRNAME/../../lib/dev/models
	full=${SP_TEST_FULL:-}
	begin_test
}

# create DIMS [VOLUME]: cells of one block.
create()
{
	"$cube" create c --overwrite --no-data --mapping=naive --dims="$1" --dtype=bytes:512 --tile="$(tr -s 0-9 1 <<<"$1")" \
		--volume="sim:${2:-atlas10k3-like}"
}

# times QUERY OPTION...: lines "NAME MS" of the mappings, as measured; then the choice as "auto MS".
times()
{
	echo "1 $1" >w
	"$cube" compare c --workload=w "${@:2}" | awk 'NR > 3 { print $1, $1 == "auto" ? $4 : $3 }' | tee /dev/stderr
}

# first: the fastest mapping of times.
first() { grep -v auto | sort -k2n | sed -n '1s/ .*//p'; }

@test "one at a time, without coalescing and cache, MultiMap is the fastest off dimension 0" {
	create 259x259x259
	for query in 'beam 1' 'beam 2' 'range 10x10x10' ${full:+'range 20x20x20'} 'range 30x30x30'; do
		[ "$(times "$query" --coalesce=off --positions=$((full ? 10 : 3)) | first)" = multimap ]
	done
}

@test "predictions know the window of the drive, however many requests are outstanding" {
	for window in 1 4/fifo 3 64/sptf; do
		create 180x180x180 "atlas10k3-like,window=$window"
		printf '1 %s\n' 'beam 1' 'range 20x20x20' >w
		"$cube" compare c --workload=w --depth=16 --coalesce=off --positions=$((full ? 10 : 3)) |
			awk -v w="$window" 'NR > 3 && $1 != "auto" && ($2 / $3 < 0.93 || $2 / $3 > 1.07) { print w, $0; bad = 1 } END { exit bad }'
	done
}

@test "a drive without overhead for commands prefers a curve" {
	sed 's/"read_overhead_ms": [0-9.]*/"read_overhead_ms": 0/' "$models/atlas10k3-like.json" >bare.json
	create 259x259x259 "$PWD/bare.json"
	for query in 'beam 1' 'range 10x10x10'; do
		[[ $(times "$query" --coalesce=off --positions=$((full ? 10 : 3)) | first) =~ ^(hilbert|zorder|gray)$ ]]
	done
}

@test "figure 5.7: MultiMap is the fastest for long rows along far dimensions, on both drives" {
	for drive in atlas10k3-like cheetah36es-like; do
		create 591x75x25x25 $drive
		for query in 'range 183x1x1x25' 'range 183x1x25x25'; do
			[ "$(times "$query" --coalesce=off --positions=$((full ? 5 : 1)) | first)" = multimap ]
		done
	done
}

@test "rows that take longer than a hop, and those that pass the end of a track, lose no revolution" {
	create 259x259x259
	[ "$(times 'range 56x56x56' --coalesce=off --positions=1 | first)" = multimap ]
	create 591x75x25x25
	# A row of 591 of 686 blocks: a mean seek and delay, and one revolution of 6 ms.
	times 'beam 0' --coalesce=off --positions=20 | awk '$1 == "multimap" { exit !($2 < 14) }'
}

@test "figure 5.7: the choice for 4 dimensions is as good as the best mapping, however it is issued" {
	create 591x75x25x25
	for how in '--coalesce=off' '--depth=64'; do
		times 'range 10x10x10x10' $how --positions=$((full ? 10 : 3)) |
			awk '$1 != "auto" && (!best || $2 < best) { best = $2 } $1 == "auto" { exit $2 > 1.05 * best }'
	done
}

# unbeaten BOX OPTION...: auto, without a workload, makes the cube "made" of the options as explain says: no
# mapping of at most half waste has a smaller mean of beams and this box.
unbeaten()
{
	local box=$1 how=() queries=() option

	shift
	for option; do
		[[ $option != --depth=* && $option != --coalesce=* ]] || how+=("$option")
	done
	"$cube" create made --overwrite --no-data "$@"
	for ((k = 0; k <= $(tr -cd x <<<"$box" | wc -c); k++)); do queries+=(-q "beam $k"); done
	found=$("$cube" info made | sed -n 's/^mapping *\([a-z]*\),.*/\1/p')
	"$cube" explain made "${queries[@]}" -q "range $box" "${how[@]}" | tee /dev/stderr |
		awk -v found="$found" 'NR > 3 && $1 != "auto" && $2 != "-" && $5 <= 50 { ms[$1] = $2; if (!n++ || $2 < least) least = $2 }
			END { print found, ms[found], least; exit !(n > 2 && found in ms && ms[found] <= least * 1.002) }'
}

@test "without a workload auto is the mapping that explain shows to be the fastest for beams and a box" {
	needs jq
	# The outer zone of a drive whose blocks have 4096 bytes.
	jq '.cylinders = 16000 | .zones |= .[:1] | .total_blocks = 16000 * (.zones[0].spt | add) |
		.seek_ms |= map(select(.[0] < 15999)) + [[15999, 4.5]]' "$models/nearline6t-like.json" >outer.json
	cell=(--dtype=bytes:512 --volume=sim:atlas10k3-like)
	unbeaten 6x6x6 --dims=259x259x259 --tile=1x1x1 "${cell[@]}"
	[ "$found" != multimap ]
	unbeaten 6x6x6 --dims=259x259x259 --tile=1x1x1 "${cell[@]}" --coalesce=off
	[ "$found" = multimap ]
	unbeaten 6x6x6 --dims=259x259x259 --tile=1x1x1 "${cell[@]}" --depth=16 --coalesce=off
	unbeaten 4x4x4x4 --dims=591x75x25x25 --tile=1x1x1x1 "${cell[@]}"
	unbeaten 10x10 --dims=100x100 --tile=1x1 "${cell[@]}"
	unbeaten 48x24x24 --dims=512x512x128 --volume=sim:atlas10k3-like
	unbeaten 6x6x6 --dims=259x259x259 --tile=1x1x1 --dtype=bytes:4096 "--volume=sim:$PWD/outer.json"
	unbeaten 6x6x6 --dims=259x259x259 --tile=1x1x1 --dtype=bytes:4096 "--volume=sim:$PWD/outer.json" --volumes=4
	if [ "$full" ]; then
		unbeaten 6x6x6 --dims=259x259x259 --tile=1x1x1 --dtype=bytes:512 --volume=sim:cheetah36es-like
		unbeaten 6x6x6 --dims=259x259x259 --tile=1x1x1 --dtype=bytes:4096 --volume=sim:nearline6t-like
		unbeaten 6x6x6 --dims=259x259x259 --tile=1x1x1 --dtype=bytes:4096 --volume=sim:nearline6t-like --volumes=4
	fi
	unbeaten 6x6x4 --dims=340x340x4 --tile=1x1x1 --dtype=bytes:512 --volume=sim:serpentine
}

@test "without a workload a cube of more than 4 dimensions can grow" {
	"$cube" create c --dims=16x8x8x8x8 --tile=1x1x1x1x1 --dtype=bytes:512 --volume=sim:atlas10k3-like --no-data
	"$cube" append c --dim=4 --count=3
}

@test "figure 5.6: all generated points are inside the cube" {
	eval "$(sed -n '/^skewed()/,/^}/p' "$BATS_TEST_DIRNAME/../../scripts/experiments/sh08cube")"
	for kind in aligned odd clusters; do
		skewed $kind | awk -F, -v kind=$kind '{ for (i = 1; i <= 3; i++) if ($i < 0 || $i > 8191) { print kind, $0; bad = 1 } }
			END { exit bad || NR < 500000 }'
	done
}
