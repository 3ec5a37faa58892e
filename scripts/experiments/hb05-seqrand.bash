# shellcheck shell=bash disable=SC2154 # variables of the script that reads this, and of lib.bash
# SPDX-License-Identifier: MIT
#
# Hall and Bonnet 2005, figure 8: random reads among sequential ones; part of hb05.

# Figure 8: random reads next to three sequential readers.  The paper gives no rates.
# A reader that always has one request outstanding, each of 7 ms, leaves the drive no
# time for others, so here random reads arrive at random, 30 per second, and sequential
# ones at 85 per second each, such that random ones take 13 ms without priorities.
# The alternative, one random request outstanding at all times, is measured as well.

# seqrand SERIES SCHEDULER RANDOM_PRIO SEQUENTIAL_PRIO RANDOM RATE
seqrand()
{
	local k sequential=()

	for k in 8 9 10; do
		sequential+=(--class "seq$k:rate=$6,prio=$4,offset=${k}G,range=1G,pattern=seq")
	done
	bench "sched=$2" --size=12G --depth=64 --rate_process=poisson \
		--class "random:$5,prio=$3,range=8G" "${sequential[@]}"
	row seqrand series="$1" random="$5" rate="$6" random_ms="$(ms classes.random)" \
		random_iops="$(field classes.random.iops)" sequential_ms="$(ms classes.seq8)" \
		sequential_mb_s="$(mb classes.seq8)"
}

# as_fast SERIES: whether its sequential reads take at most a tenth longer than without priorities.
as_fast() { outcome "$(of "$1" sequential_ms) <= $(of same sequential_ms) * 1.1"; }
# of SERIES KEY: of figure 8.
of() { column seqrand "$2" "v[\"series\"] == \"$1\""; }

measure_seqrand()
{
	bench sched=deadline --size=12G --class random:depth=1,range=8G
	row seqrand series=alone random=depth=1 rate=0 random_ms="$(ms result)" \
		random_iops="$(field result.iops)" sequential_ms=0 sequential_mb_s=0
	seqrand same deadline be be rate=30 85
	seqrand deadlines deadline-prio be/1 be/2 rate=30 85
	seqrand strict strict rt idle rate=30 85
	seqrand same-closed deadline be be depth=1 20
	seqrand deadlines-closed deadline-prio be/1 be/2 depth=1 20
	seqrand strict-closed strict rt idle depth=1 20
	seqrand same-one deadline,window=1 be be rate=30 85
	seqrand deadlines-one deadline-prio,window=1 be/1 be/2 rate=30 85
	seqrand strict-one strict,window=1 rt idle rate=30 85
	drive=sim:$work/ahead.json seqrand same-ahead deadline be be rate=30 85
	drive=sim:$work/ahead.json seqrand strict-ahead strict rt idle rate=30 85
}

judge_seqrand()
{
	local same deadlines strict

	same=$(of same random_ms) deadlines=$(of deadlines random_ms) strict=$(of strict random_ms)
	verdict hb05.fig8 "random reads 13 ms with the same priority, 7 ms with a high one (deadlines of 1 and 3 s)" \
		"$(printf '%.1f ms; with these deadlines %.1f ms (alone %.1f)' "$same" "$deadlines" "$(of alone random_ms)")" \
		"$(fitted "$(toward "$same" "$deadlines" 7 15)")" \
		"yes: within 15 %, partly: a quarter of the way. The paper gives no rates: 30 random and 3 x 85 sequential reads a second were chosen for the 13 ms; deadlines of 1 and 3 s never expire at such latencies, and priorities do not affect requests in the drive's window"
	verdict hb05.fig8-strict "the same 7 ms, with strict classes, which the paper has not" \
		"$(printf '%.1f ms; with strict classes %.1f ms' "$same" "$strict")" "$(fitted "$(toward "$same" "$strict" 7 15)")" \
		"judged and fitted as the row before"
	verdict hb05.fig8-sequential "sequential reads are as fast as before" \
		"$(printf '%.1f ms; with deadlines %.1f ms' "$(of same sequential_ms)" "$(of deadlines sequential_ms)")" \
		"$(if [ "$(toward "$same" "$deadlines" 7 15)" = no ]; then constructed "$(as_fast deadlines)"; else as_fast deadlines; fi)" \
		"at most 10 % more. By construction where the deadlines do not change anything for the random reads either"
	verdict hb05.fig8-strict-sequential "sequential reads are as fast as before" \
		"$(printf '%.1f ms; with strict classes %.1f ms' "$(of same sequential_ms)" "$(of strict sequential_ms)")" \
		"$(as_fast strict)" "at most 10 % more"
	verdict hb05.fig8-closed "one random read outstanding at all times, 20 sequential ones a second each" \
		"$(printf '%.1f ms; with deadlines %.1f ms, with strict classes %.1f ms' "$(of same-closed random_ms)" \
			"$(of deadlines-closed random_ms)" "$(of strict-closed random_ms)")" shown \
		"the drive is always busy: a reader that gets 7 ms leaves nothing to others"
	verdict hb05.fig8-window "the same with one request at a time in the drive" \
		"$(printf '%.1f ms; with deadlines %.1f ms, with strict classes %.1f ms; sequential reads %.1f, %.1f and %.1f ms' \
			"$(of same-one random_ms)" "$(of deadlines-one random_ms)" "$(of strict-one random_ms)" \
			"$(of same-one sequential_ms)" "$(of deadlines-one sequential_ms)" "$(of strict-one sequential_ms)")" shown \
		"then priorities decide what is served next, but a random read still waits for the one that is being served"
	verdict hb05.fig8-readahead "the same on a drive that reads ahead of streams to the end" \
		"$(printf '%.1f ms, with strict classes %.1f ms; sequential reads %.1f and %.1f ms' \
			"$(of same-ahead random_ms)" "$(of strict-ahead random_ms)" "$(of same-ahead sequential_ms)" \
			"$(of strict-ahead sequential_ms)")" shown \
		"a random read waits for what is being read ahead, whatever its class"
	size=900,450 plot fig8 <<-GNUPLOT
	set title "Figure 8: random reads among sequential ones; rates fitted to the 13 ms"
	set style data histograms
	set style histogram clustered gap 1
	set style fill solid 0.8 border -1
	set boxwidth 0.9
	set ylabel "mean latency (ms)"
	set yrange [0:]
	\$paper << EOD
	0,13
	1,7
	EOD
	name(s) = s eq "same" ? "the same priority" : s eq "strict" ? "strict classes" : "deadlines of 1 and 3 s"
	plot "< grep -E '^(same|deadlines|strict),' ".out."/hb05-seqrand.csv" using 4:xtic(name(strcol(1))) lc rgb "#b03030" title "random", \
		"" using 6 lc rgb "#2060a0" title "sequential", \
		\$paper using (\$1 - 0.17):2 with points ls 6 lc rgb "black" pt 8 ps 2 title "the paper, random"
	GNUPLOT
}
