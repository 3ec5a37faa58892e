#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# Figures 5 and 12 of Zhang and Larson in small: cluster reads and virtual time of
# one merge of 15 runs on the linear device, exactly.
. "$BATS_TEST_DIRNAME/suite.bash"

setup()
{
	count=$BATS_TEST_DIRNAME/../../scripts/experiments/zl98-reads.awk
	begin_test tmp
}

# merge ALPHA BUFFERS STRATEGY: prints the cluster reads and, in nanoseconds, the time from
# the end of the last run to the last page read.
merge()
{
	[ -e "in$1" ] || "$xgen" runs -n $((15 * 16 * 512)) --runs=15 --record-size=64 --alpha="$1" -o "in$1"
	"$xsort" -S 16M -T tmp --volume=sim:linear,merge=no --record-size=64 --bkey=0:10 \
		--run-formation=load --run-size=$((16 * 512 * 96)) --merge-policy=lazy --fan-in=15 \
		--page-size=32K --merge-buffer=$(($2 * 32))K --readahead="$3" --stats=report --trace=trace \
		-o out "in$1"
	grep -q '"spilled_runs": 15' report || echo 'not 15 runs'
	sed -n '/"io": {/,/}/s/.*"cluster_reads": \([0-9]*\).*/\1/p' report
	awk '$2 == "tmp" && $1 == "W" && $7 > w { w = $7 } $2 == "tmp" && $1 == "R" && $7 > r { r = $7 }
		END { printf "%.0f\n", r - w }' trace
}

# wants ALPHA BUFFERS STRATEGY READS [SEEKS]: 240 pages, 9375000 ns each, and 7000000 ns
# a seek.  A cluster that begins a run right after the end of another costs none.
wants()
{
	local got reads=$4 seeks=${5:-$4}

	got=$(merge "$1" "$2" "$3" | paste -sd' ')
	echo "$*: $got"
	[ "$got" = "$reads $((240 * 9375000 + seeks * 7000000))" ]
}

# The same number without the library.
counted()
{
	[ -e "pages$1" ] || awk '{ printf "%02d %s\n", int((NR - 1) / 8192), substr($0, 1, 10) }' "in$1" | sort |
		awk '$1 != run { run = $1; c = 0 } ++c % 512 == 0' | sort -k2,2 -k1,1 | awk '{ print $1 + 0 }' >"pages$1"
	awk -v strategy="$3" -v b="$2" -v n=15 -f "$count" "pages$1"
}

@test "random runs: cluster reads and time of each strategy" {
	wants 1 64 double 105
	wants 1 64 equal 71
	wants 1 64 extended 75
	wants 1 64 cluster 62
	wants 1 96 cluster 47
}

@test "skewed runs: fewer for clustering" {
	wants 0.5 64 double 70
	wants 0.5 64 equal 54
	wants 0.5 64 extended 58
	wants 0.5 64 cluster 29 27
}

@test "a counter without the library counts the same" {
	local alpha b strategy
	for alpha in 1 0.5; do
		for b in 40 64 96; do
			for strategy in double equal extended cluster; do
				[ "$(merge $alpha $b $strategy | head -n 1)" = "$(counted $alpha $b $strategy)" ]
			done
		done
	done
}
