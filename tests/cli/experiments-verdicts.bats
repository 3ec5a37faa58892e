#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# The rules by which scripts/experiments judges rows of the papers, on measurements written here.
# no sanitizer
. "$BATS_TEST_DIRNAME/suite.bash"

# judging PAPER SCRIPT...: the functions of these scripts, and an empty table.
judging()
{
	export LC_ALL=C SP_BUILD=$build
	export EXPERIMENTS_DIR=$BATS_TEST_TMPDIR
	local script

	. "$BATS_TEST_DIRNAME/../../scripts/experiments/lib.bash"
	out=$EXPERIMENTS_DIR paper=$1 work=$BATS_TEST_TMPDIR part=1
	for script in "${@:2}"; do
		# shellcheck source=/dev/null
		. "scripts/experiments/$script"
	done
	set +u
}
plot() { cat >/dev/null; }

# judged ID: its verdict.
judged() { awk -F'\t' -v id="$1" '$1 == id { print $4 }' "$out/$paper.rows"; }
# here ID: what is shown of it.
here() { awk -F'\t' -v id="$1" '$1 == id { print $3 }' "$out/$paper.rows"; }

@test "a part of the way is partly, and beyond or back is no" {
	judging none
	[ "$(toward 13 7.5 7 15) $(toward 13 10.6 7 15) $(toward 13 12.9 7 15) $(toward 13 14 7 15) $(toward 13 1 7 15)" = \
		"yes partly no no no" ]
	[ "$(toward 100 190 200 15) $(toward 100 130 200 15) $(toward 100 110 200 15)" = "yes partly no" ]
	[ "$(all_of '3 of 3') $(all_of '2 of 3') $(all_of '1 of 3') $(all_of '2 of 4') $(all_of '0 of 1')" = \
		"yes partly no partly no" ]
}

# mixture: figure 7 as its parameters were chosen.
mixture()
{
	local percent high low

	for percent in 10 20 30 40 50 60 70 80 90; do
		high=$((percent < 30 ? 300 : 120 + percent * 7)) low=$((percent < 30 ? percent * 100 : 2000))
		for series in pool groups strict; do
			row mix series=$series percent=$percent high_mb_s="$(calc "3.28 * $percent / $high * 10")" \
				low_mb_s="$(calc "3.28 * (100 - $percent) / $low * 10")" total_mb_s=4 high_ms=$high low_ms=$low
		done
	done
}

@test "hb05.fig7: what follows from parameters chosen at its points is fitted" {
	judging hb05 hb05-mix.bash
	mixture
	judge_mix
	cat "$out/hb05.rows"
	[ "$(judged hb05.fig7-knee) $(judged hb05.fig7-90)" = "fitted fitted" ]
}

# real RATIO TOTAL: rounds at 10 % and elsewhere.
real()
{
	local percent

	rm -f "$out"/hb05-real.csv "$out"/hb05.rows
	for percent in 10 20 90; do
		row real percent=$percent high_ms=1 low_ms="$1" ratio="$1" total_mb_s=$((percent == 90 ? $2 : 100))
	done
	judge_real
}

@test "hb05.fig7-real: skipped without mq-deadline, and judged with it" {
	judging hb05 hb05-mix.bash
	printf 'preflight.layers.%s\n' 'sda.scheduler none' 'sda.hardware_window 32' >"$work/preflight"
	judge_real
	[ "$(judged hb05.fig7-real) $(here hb05.fig7-real)" = "shown skipped" ]
	grep -q 'found: none' "$out/hb05.rows"
	printf 'preflight.%s\n' 'layers.sda.scheduler mq-deadline' 'layers.sda.hardware_window 32' 'best_latency_share 0.2' >"$work/preflight"
	real 3 95
	[ "$(judged hb05.fig7-real)" = yes ]
	real 3 70
	[ "$(judged hb05.fig7-real)" = partly ]
	real 1.1 95
	[ "$(judged hb05.fig7-real)" = partly ]
	real 0.9 95
	[ "$(judged hb05.fig7-real)" = no ]
}

@test "hb05.fig8: deadlines that change nothing are a no, strict classes are judged apart" {
	local s

	judging hb05 hb05-seqrand.bash
	for s in alone,7.4,0 same,12.9,4.4 deadlines,12.9,4.4 strict,10.6,5.8 same-closed,12,5 deadlines-closed,12,5 \
		strict-closed,12,5 same-one,15,6 deadlines-one,13,6 strict-one,10,9 same-ahead,12,3 strict-ahead,12,5; do
		row seqrand series="${s%%,*}" random_ms="$(cut -d, -f2 <<<"$s")" sequential_ms="${s##*,}"
	done
	judge_seqrand
	[ "$(judged hb05.fig8) $(judged hb05.fig8-strict)" = "no partly" ]
	[ "$(judged hb05.fig8-sequential), $(judged hb05.fig8-strict-sequential)" = "by construction, no" ]
}

# preflushed GAIN IDLE GAIN IDLE: pages per second and share of idle time with preflushing, of random and of oldest victims.
preflushed()
{
	local victims how frames

	rm -f "$out"/hb05-*.csv "$out"/hb05.rows
	echo series,counted,depth,percent >"$out/hb05-outstanding.csv"
	for victims in random oldest; do
		for frames in page extent; do
			for how in once long; do
				row policy series=$victims-$frames-conservative-$how pages_per_s=100 idle=0.1 written=5
				row policy series=$victims-$frames-adaptive-$how pages_per_s="$1" idle="$2" written=6
			done
		done
		shift 2
	done
	judge_preflush
	judged hb05.fig9
}

@test "hb05.fig9 is judged by the means of all runs" {
	judging hb05 hb05-loads.bash
	[ "$(preflushed 105 0.05 105 0.08)" = yes ]
	[ "$(preflushed 130 0.05 105 0.08)" = partly ]
	[ "$(preflushed 160 0.05 70 0.08)" = no ]
	[ "$(preflushed 105 0.05 105 0.3)" = no ]
	here hb05.fig9 | grep -q '(5 to 5)'
}

@test "hb05.policy: priorities that leave the latency as it is are a no" {
	judging hb05
	eval "$(sed -n '/^# gained/,/^judge_gains()/p' scripts/experiments/hb05 | sed '$d')"
	local load with

	for with in scan,19 range,50 update,90; do
		load=${with%,*}
		row gain sched=strict load="$load" submission=conservative priorities=false pages_per_s=100 critical_ms=18
		row gain sched=strict load="$load" submission=aggressive priorities=false pages_per_s=120 critical_ms=100
		row gain sched=strict load="$load" submission=aggressive priorities=true pages_per_s=120 critical_ms="${with#*,}"
		judge_gain strict "$load" ''
	done
	[ "$(judged hb05.policy-scan-strict) $(judged hb05.policy-range-strict) $(judged hb05.policy-update-strict)" = "yes partly no" ]
}

# regions ALGORITHM BLOCKS...: of Small-1, Medium-1, Large-1, Large-2.
regions()
{
	local t

	set -- "$1" "${@:2}"
	for t in Small-1,49.2 Medium-1,17.7 Large-1,7.5 Large-2,6.8; do
		row joins table="${t%,*}" algorithm="$1" elapsed_s=10 seeks=100 region_blocks="$2" formula2="${t#*,}"
		set -- "$1" "${@:3}"
	done
}

@test "wc06.tab10: regions of SHJ are judged without those that are a group by construction" {
	judging wc06 wc06-join.bash
	regions HHJ 8.1 8 8 8
	regions SHJ 110 36.7 15.1 13.7
	table_10
	[ "$(judged wc06.tab10.hhj), $(judged wc06.tab10)" = "by construction, no" ]
	rm "$out"/wc06-joins.csv "$out"/wc06.rows
	regions HHJ 8.1 8 8 8
	regions SHJ 50 17 15.1 13.7
	table_10
	[ "$(judged wc06.tab10)" = partly ]
}

@test "wc06.fig7.memory: signs that the length of a track decides are judged by the mean" {
	judging wc06 wc06-join.bash wc06-memory.bash
	local gain

	regions HHJ-scarce 8 8 8 8
	regions SHJ-scarce 50 18 8 8
	sed -i -e '/^Small-1,SHJ/s/,10,/,11,/' -e '/^Medium-1,SHJ/s/,10,/,5,/' "$out/wc06-joins.csv"
	for gain in 0.8 1.3 0.85; do
		row tracks table=Large-1 gain="$(calc "$gain + 0.1")"
		row tracks table=Large-2 gain="$gain"
	done
	judge_scarce
	[ "$(judged wc06.tab10.memory), $(judged wc06.fig7.memory)" = "fitted, fitted" ]
	here wc06.fig7.memory | grep -q '^4 of 4 .*Large-2 0.983 (0.800 to 1.300)$'
	sed -i '/^Large-2/s/0.8$/0.9/' "$out/wc06-tracks.csv"
	rm "$out/wc06.rows"
	judge_scarce
	[ "$(judged wc06.fig7.memory)" = partly ]
}

@test "zl98.fig10.drive: the mean over lengths of runs decides, and the spread is shown" {
	judging zl98 zl98-more.bash
	local drive=some n=15 mb pages

	for mb in 1 2 3; do
		for pages in 100,0.68 101,0.70 102,0.91; do
			row lengths pages="${pages%,*}" memory_mb=$mb large_ratio="$(calc "${pages#*,} * (1 + ($mb - 1) / 10)")" ratio=0.8
		done
	done
	judge_lengths
	here zl98.fig10.drive | grep -q 'at 1, 2, 3 MB: 0.76 (0.68 to 0.91), 0.84 (0.75 to 1.00), 0.92 (0.82 to 1.09); against batches 0.80 (0.80 to 0.80)'
	[ "$(judged zl98.fig10.drive)" = no ]
}
