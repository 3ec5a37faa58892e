#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# Predictions of queries on points: by the directory of a dataset, and by the tree of a sample.
#
# bats file_tags=slow
. "$BATS_TEST_DIRNAME/suite.bash"

setup()
{
	needs jq
	begin_test
}

# points KIND N: N points in the file in.csv, uniform or in two clusters.
points()
{
	awk -v kind="$1" -v n="$2" 'function normal() { return sqrt(-2 * log(1 - rand())) * cos(6.283185307 * rand()) }
		function near(mean, sigma, v) { do v = int(mean + sigma * normal()); while (v < 0 || v > 4095); return v }
		BEGIN {
			srand(7)
			for (i = 0; i < n; i++)
				if (kind == "uniform") print int(rand() * 4096) "," int(rand() * 4096) "," int(rand() * 4096) "," i
				else if (i % 2) print near(1000, 150) "," near(1200, 150) "," near(1500, 150) "," i
				else print near(2800, 400) "," near(2500, 120) "," near(2200, 120) "," i
		}' > in.csv
	queries
}

create()
{
	"$cube" create c --overwrite --points --dims 4096x4096x4096 --dtype u32 --fill-factor 0.6 "$@"
}

# queries: boxes around, and beams through, 15 of the points.
queries()
{
	local x y z

	queries=()
	while IFS=, read -r x y z _; do
		queries+=(-q "range 300x300x300 $((x > 3796 ? 3796 : x)),$((y > 3796 ? 3796 : y)),$((z > 3796 ? 3796 : z))"
			-q "beam 0 0,$y,$z" -q "beam 1 $x,0,$z" -q "beam 2 $x,$y,0")
	done < <(awk 'NR % 1237 == 1 && n++ < 15' in.csv)
	[ ${#queries[@]} = 120 ]
}

# near PERCENT: each row of the report has a predicted time this near to the measured one.  If two blocks decide
# whether a revolution is lost, the measured time is between the two predictions.
near()
{
	jq -r '.candidates[] | "\(.mapping) \(.predicted_s) \(.measured_s) \(.early_s) \(.late_s)"' stats.json |
		awk -v p="$1" '{ low = high = $2 } $5 > 1.5 * $4 { low = $4; high = $5; cliffs++ }
			high < $3 * (1 - p / 100) || low > $3 * (1 + p / 100) { print "# off: " $0; bad = 1 }
			END { exit bad || NR != 6 || cliffs > 3 }'
}

# seconds MEMBER: of each row of the report.
seconds() { jq ".candidates[].$1" stats.json; }

@test "predictions of points are near to what the drive takes, on three drives, uniform and clustered" {
	for kind in uniform clusters; do
		points $kind 100000
		for volume in atlas10k3-like cheetah36es-like nearline6t-like; do
			# About 30 points in a cell of a block; a block of the third drive has 4096 bytes.
			cell=(--cell 512)
			[ $volume != nearline6t-like ] || cell=(--cell 4096 --fill-factor 0.08)
			create --volume sim:$volume "${cell[@]}"
			"$cube" load c in.csv
			for how in '--coalesce=off' '--depth=8'; do
				"$cube" explain c --run "${queries[@]}" $how --stats=stats.json
				near 15
			done
		done
	done
}

@test "rows of compare take as long as datasets that have these mappings" {
	points clusters 40000
	create --cell 512 --volume sim:atlas10k3-like
	"$cube" compare c in.csv -q 'range 300x300x300 900,1100,1400' --coalesce=off --stats=stats.json
	for mapping in multimap naive hilbert; do
		create --cell 512 --volume sim:atlas10k3-like --mapping $mapping
		"$cube" load c in.csv
		"$cube" range c --lo 900,1100,1400 --hi 1200,1400,1700 --discard --coalesce=off |
			awk -v s="$(jq "first(.candidates[] | select(.mapping == \"$mapping\")).measured_s" stats.json)" \
				'{ print "# " s, $4; exit !(s > 0.9 * $4 && s < 1.1 * $4) }'
	done
}

@test "before a load an input is predicted as the dataset is afterwards" {
	points clusters 20000
	create --volume sim:atlas10k3-like
	"$cube" explain c in.csv "${queries[@]}" > before
	"$cube" explain c - --format csv "${queries[@]}" < in.csv | cmp - before
	"$cube" load c in.csv
	"$cube" explain c "${queries[@]}" | cmp - before
	# Points are added to those that are there.
	run -0 "$cube" explain c in.csv "${queries[@]}"
	[ "$output" != "$(cat before)" ]
	# Several volumes.
	create --volume sim:atlas10k3-like --volumes 3
	"$cube" load c in.csv
	"$cube" explain c --run "${queries[@]}" --stats=stats.json
	near 15
}

@test "if memory is small, a sample of the points decides, and changes little" {
	points clusters 200000
	create --volume sim:atlas10k3-like
	"$cube" explain c in.csv "${queries[@]}" --stats=stats.json
	seconds predicted_s > all
	"$cube" explain c in.csv -S 1M "${queries[@]}" --stats=stats.json 2> said
	grep 'c: each mapping is planned by .* % of the points' said
	# A sample can have other regions.
	seconds predicted_s | paste all - | awk '{ print "# " $0; if ($2 < 0.8 * $1 || $2 > 1.2 * $1) bad = 1 } END { exit bad || NR != 6 }'
	create --cell 512 --fill-factor 0.2
	run -2 "$cube" explain c in.csv -S 1M "${queries[@]}"
	[[ $output == *'fewer than 8 per cell: use more memory' ]]
}

@test "the report has the candidates, and impossible predictions are refused" {
	points uniform 20000
	create --volume sim:atlas10k3-like
	"$cube" compare c in.csv -q 'beam 1' --stats=stats.json
	jq -e '.candidates | length == 6 and .[5].chosen and (all(.[]; .measured_s > 0 and .predicted_s > 0 and .closed_s == null))' stats.json
	run -2 "$cube" explain c -q 'beam 1'
	[ "$output" = 'mmap-cube: c: it has no points: name an input with the points to load' ]
	run -2 "$cube" explain c in.csv
	[[ $output == *'needs --workload or --query' ]]
	run -2 "$cube" explain c in.csv -q 'beam 1' --format npy
	[[ $output == *'has a grid' ]]
	run -2 "$cube" explain c in.csv -q 'beam 1' --waste 20
	[ "$output" = 'mmap-cube: --waste applies to grids only' ]
	run -2 "$cube" explain c -q 'beam 1' --format csv
	[ "$output" = 'mmap-cube: --format needs INPUT' ]
	create
	run -2 "$cube" compare c in.csv -q 'beam 1'
	[[ $output == *'measuring mappings needs a simulated volume'* ]]
	# Without a geometry nothing is known.
	run -0 "$cube" explain c in.csv -q 'beam 1'
	[[ $output == *'unknown device'* && $output == *'multimap - the volume has no known tracks'* ]]
	"$cube" create grid --dims 9x9
	run -2 "$cube" explain grid in.csv -q 'beam 1'
	[[ $output == *'INPUT is for points only: it does not affect the layout of a grid' ]]
}
