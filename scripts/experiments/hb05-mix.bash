# shellcheck shell=bash disable=SC2154 # variables of the script that reads this, and of lib.bash
# SPDX-License-Identifier: MIT
#
# Hall and Bonnet 2005, figure 7: two priorities of writes; part of hb05.

# Figure 7: 200 outstanding writes, a share of them of high priority.
# mix SERIES SCHEDULER HIGH_PRIO LOW_PRIO
mix()
{
	local percent high

	for percent in 10 20 30 40 50 60 70 80 90; do
		high=$((percent * 2))
		bench "sched=$2" --size=10G --rw=randwrite --class "high:depth=$high,prio=$3" \
			--class "low:depth=$((200 - high)),prio=$4"
		row mix series="$1" percent=$percent high_mb_s="$(mb classes.high)" \
			low_mb_s="$(mb classes.low)" total_mb_s="$(mb result)" \
			high_ms="$(ms classes.high)" low_ms="$(ms classes.low)" \
			longest_s="$(calc "$(field classes.low.longest_wait_ns) / 1e9")" \
			starved="$(field classes.low.starved)"
	done
}

# mixed PERCENT KEY [SERIES]
mixed() { column mix "$2" "v[\"series\"] == \"${3:-pool}\" && v[\"percent\"] == $1"; }

judge_mix()
{
	local least most low_least low_most sharp slow

	least=$(column mix total_mb_s 'v["series"] == "pool"' | smallest)
	most=$(column mix total_mb_s 'v["series"] == "pool"' | largest)
	verdict hb05.fig7 "high 280 ms, low 1000 ms at 10 %; below 350 and 2000 ms at 30 %; about 4 MB/s throughout" \
		"$(printf 'high %.0f ms, low %.0f ms; %.0f and %.0f ms; %.2f to %.2f MB/s' "$(mixed 10 high_ms)" \
			"$(mixed 10 low_ms)" "$(mixed 30 high_ms)" "$(mixed 30 low_ms)" "$least" "$most")" \
		"$(fitted "$(if within "$(mixed 10 high_ms)" 280 15 && within "$(mixed 10 low_ms)" 1000 25 &&
			holds "$(mixed 30 high_ms) <= 350 * 1.15" && within "$(mixed 30 low_ms)" 2000 25 &&
			holds "$least >= 3.4 && $most <= 4.6"; then echo yes; else echo no; fi)")" \
		"within 15 and 25 %; one pool of 85 requests in which the low level stops at 71, and goes first after 1.65 s: the three were chosen at these points, by Little's law; deadlines of 3 and 9 s never expire"
	low_least=$(column mix low_ms 'v["series"] == "pool" && v["percent"] >= 30' | smallest)
	low_most=$(column mix low_ms 'v["series"] == "pool" && v["percent"] >= 30' | largest)
	verdict hb05.fig7-90 "from 30 % on the latency of low remains constant while that of high increases" \
		"$(printf 'low %.0f to %.0f ms, high %.0f ms at 30 %% and %.0f at 90 %%' "$low_least" "$low_most" \
			"$(mixed 30 high_ms)" "$(mixed 90 high_ms)")" \
		"$(fitted "$(outcome "$low_most <= $low_least * 1.1 && $(mixed 90 high_ms) > $(mixed 30 high_ms) * 1.1 && $(mixed 90 high_ms) < $low_least")")" \
		"low within 10 %, high below it: the aging time that was chosen at 30 % decides the first of these"
	sharp=$(calc "($(mixed 30 high_mb_s) - $(mixed 10 high_mb_s)) / 20")
	slow=$(calc "($(mixed 90 high_mb_s) - $(mixed 30 high_mb_s)) / 60")
	verdict hb05.fig7-knee "throughput of high increases sharply up to 30 %, then slowly" \
		"$(printf '%.3f MB/s for each percent, then %.3f' "$sharp" "$slow")" \
		"$(fitted "$(outcome "$sharp >= 3 * $slow && $slow > 0")")" \
		"at least three times as fast; by Little's law the slopes follow from the latencies at 10, 30 and 90 %, at which the parameters of hb05.fig7 were chosen"
	verdict hb05.fig7-groups "the same, with groups of requests as section 4.1 has them" \
		"$(printf 'high %.0f ms, low %.0f ms at 10 %%; %.0f and %.0f ms at 30 %%; %.0f and %.0f ms at 90 %%' \
			"$(mixed 10 high_ms groups)" "$(mixed 10 low_ms groups)" "$(mixed 30 high_ms groups)" \
			"$(mixed 30 low_ms groups)" "$(mixed 90 high_ms groups)" "$(mixed 90 low_ms groups)")" \
		"$(fitted "$(outcome "$(mixed 10 high_ms groups) <= 280 * 1.15 && ($(mixed 10 low_ms groups) - 1000) ^ 2 <= 250 ^ 2 &&
			$(mixed 30 high_ms groups) <= 350 * 1.15 && ($(mixed 30 low_ms groups) - 2000) ^ 2 <= 500 ^ 2")")" \
		"51 of 256 requests for each level, chosen at 10 %: both levels get the same throughput from 30 % on, and at 90 % low goes before high"
	verdict hb05.fig7-strict "not in the paper: strict classes" \
		"$(printf 'high %.0f ms, low %.0f ms at 10 %%; %.2f MB/s' "$(mixed 10 high_ms strict)" \
			"$(mixed 10 low_ms strict)" "$(mixed 10 total_mb_s strict)")" shown \
		"low requests starve: they are served after 10 s"
}

# paper_latencies: the latencies of figure 7, and their axes, for a plot.
paper_latencies()
{
	cat <<-'GNUPLOT'
	$high << EOD
	10,280
	30,350
	EOD
	$low << EOD
	10,1000
	30,2000
	90,2000
	EOD
	set xlabel "high-priority requests (%)"
	set ylabel "mean latency (ms)"
	set logscale y
	GNUPLOT
}

draw_mix()
{
	size=900,450 plot fig7a <<-GNUPLOT
	set title "Figure 7(a): throughput of 200 outstanding writes of two priorities; fitted at 10 and 30 %"
	# The number of requests over the latency.
	\$high << EOD
	10,1.17
	30,2.81
	EOD
	\$low << EOD
	10,2.95
	30,1.15
	90,0.16
	EOD
	set xlabel "high-priority requests (%)"
	set ylabel "MB/s"
	set yrange [0:6]
	set key top left maxrows 3
	plot "< grep pool ".out."/hb05-mix.csv" using 2:5 with linespoints ls 6 title "all", \
		"< grep pool ".out."/hb05-mix.csv" using 2:3 with linespoints ls 1 title "high, fitted", \
		"< grep pool ".out."/hb05-mix.csv" using 2:4 with linespoints ls 3 title "low, fitted", \
		\$high with points ls 1 pt 8 ps 2 title "the paper, high, from its latencies", \
		\$low with points ls 3 pt 8 ps 2 title "the paper, low"
	GNUPLOT
	size=1000,600 plot fig7b <<-GNUPLOT
	set title "Figure 7(b): latency of 200 outstanding writes; one pool fitted at 10 and 30 %, groups at 10 %"
	$(paper_latencies)
	set yrange [30:300000]
	set key top right maxrows 4
	plot "< grep pool ".out."/hb05-mix.csv" using 2:6 with linespoints ls 1 title "high, one pool, fitted", \
		"< grep pool ".out."/hb05-mix.csv" using 2:7 with linespoints ls 3 title "low, one pool, fitted", \
		"< grep groups ".out."/hb05-mix.csv" using 2:6 with linespoints ls 1 dt 3 title "high, groups, fitted", \
		"< grep groups ".out."/hb05-mix.csv" using 2:7 with linespoints ls 3 dt 3 title "low, groups, fitted", \
		"< grep strict ".out."/hb05-mix.csv" using 2:6 with linespoints ls 1 dt 2 title "high, strict classes", \
		"< grep strict ".out."/hb05-mix.csv" using 2:7 with linespoints ls 3 dt 2 title "low, strict classes", \
		\$high with points ls 1 pt 8 ps 2 title "the paper, high", \$low with points ls 3 pt 8 ps 2 title "the paper, low"
	GNUPLOT
}

# Figure 7 on the device at hand, by the block layer of this system: "be" against "idle", which
# needs no privilege.  Of its schedulers mq-deadline alone serves one class of a process before
# another.  Each share is measured in three rounds, of which medians count.

measure_real()
{
	local percent high round

	"$aiobench" run --create --size=256M --bs=16K --depth=8 --rw=randwrite --runtime=0.1 "$work/file" >/dev/null 2>&1 ||
		die "failed: aiobench run --create"
	"$aiobench" preflight --depth=200 --stats="$work/report" "$work/file" >/dev/null 2>&1 || die "failed: aiobench preflight"
	flatten "$work/report" >"$work/preflight"
	real_scheduler >/dev/null || return
	for round in 1 2 3; do
		for percent in 10 20 30 40 50 60 70 80 90; do
			high=$((percent * 2))
			"$aiobench" run --overwrite --bs=16K --rw=randwrite --runtime=1 --stats="$work/report" \
				--class "high:depth=$high,prio=be" --class "low:depth=$((200 - high)),prio=idle" "$work/file" >/dev/null 2>&1 ||
				die "failed: aiobench run on the device at hand"
			flatten "$work/report" >"$work/fields"
			row rounds percent=$percent round=$round high_ms="$(ms classes.high)" low_ms="$(ms classes.low)" \
				ratio="$(calc "$(ms classes.low) / $(ms classes.high)")" total_mb_s="$(mb result)"
		done
	done
	for percent in 10 20 30 40 50 60 70 80 90; do
		row real percent=$percent high_ms="$(middle high_ms)" low_ms="$(middle low_ms)" ratio="$(middle ratio)" \
			total_mb_s="$(middle total_mb_s)"
	done
	rm "$work/file"
}

# middle KEY: the median of the rounds at $percent.
middle() { column rounds "$1" "v[\"percent\"] == $percent" | median; }

# real_scheduler: the device of the file with mq-deadline.  Without one it fails, and
# prints the schedulers that there are.
real_scheduler()
{
	awk '$1 ~ /^preflight.layers.*scheduler$/ { split($1, part, "."); if ($2 == "mq-deadline") good = part[3]; else bad = bad " " $2 }
		END { print good ? good : bad ? substr(bad, 2) : "none"; exit !good }' "$work/preflight"
}
# realized PERCENT KEY
realized() { column real "$2" "v[\"percent\"] == $1"; }

judge_real()
{
	local device ratio worst slowest fastest

	device=$(real_scheduler) || {
		verdict hb05.fig7-real "figure 7 by the block layer of today" "skipped" shown \
			"no device with the scheduler mq-deadline holds the results here (found: $device)"
		return
	}
	ratio=$(realized 10 ratio) worst=$(column real ratio | smallest)
	slowest=$(column real total_mb_s | smallest) fastest=$(column real total_mb_s | largest)
	verdict hb05.fig7-real "figure 7 by the block layer of today: at 10 % low takes 3.6 times as long as high; throughput does not change" \
		"$(printf '%s, mq-deadline, be and idle: %.2f times at 10 %%, %.2f times at least from 10 to 90 %%; high %.1f ms, low %.1f ms at 10 %%; %.0f to %.0f MB/s' \
			"$device" "$ratio" "$worst" "$(realized 10 high_ms)" "$(realized 10 low_ms)" "$slowest" "$fastest")" \
		"$(if holds "$worst <= 1"; then echo no
		elif holds "$ratio >= 3.6 * 0.75 && $slowest >= 0.85 * $fastest"; then echo yes
		else echo partly; fi)" \
		"$(printf 'yes: 2.7 times at least, and throughput within 15 %%; partly: low takes longer at all shares. Real time on the device at hand, medians of three rounds, 200 writes of 16 KB outstanding. The device takes %s of them at once, and classes order only the others: aiobench preflight expects a latency of high of %s of the mean' \
			"$(awk '$1 ~ /hardware_window$/ { print $2; exit }' "$work/preflight")" "$(field preflight.best_latency_share "$work/preflight")")"
	size=900,400 plot fig7-real <<-GNUPLOT
	set title "Figure 7(b) by mq-deadline on $device, real time: 200 outstanding writes of two classes"
	set xlabel "high-priority requests (%)"
	set ylabel "mean latency (ms)"
	set xrange [0:100]
	set yrange [0:*]
	set offsets 0, 0, graph 0.2, 0
	set key top left
	plot out."/hb05-real.csv" using 1:2 with linespoints ls 1 title "high (be)", \
		"" using 1:3 with linespoints ls 3 title "low (idle)"
	GNUPLOT
}
