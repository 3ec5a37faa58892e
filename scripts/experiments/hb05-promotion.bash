# shellcheck shell=bash disable=SC2154 # variables of the script that reads this, and of lib.bash
# SPDX-License-Identifier: MIT
#
# Hall and Bonnet 2005, section 5: the queue promotion of a storage server, under the load of figure
# 7; part of hb05.  High and low are the first and the last of five levels: the paper gives neither
# their number nor a figure.

measure_promotion()
{
	mix promotion promote be/0 be/4
	mix promotion-open promote:open be/0 be/4
}

# starving SERIES: the shares of high priority at which low requests starve, or "none".
starving()
{
	column mix percent "v[\"series\"] == \"$1\" && v[\"starved\"] == \"true\"" | paste -sd' ' | grep . || echo none
}
# longest SERIES: of the low requests, in seconds.
longest() { column mix longest_s "v[\"series\"] == \"$1\"" | largest; }

judge_promotion()
{
	local s rows=()

	verdict hb05.s5 "queue promotion guarantees that low requests do not starve" \
		"$(printf 'starved at: %s, from 10 to 90 %% high; the longest wait of a low one is %.1f s' "$(starving promotion)" "$(longest promotion)")" \
		"$(constructed "$(outcome "$(column mix starved 'v["series"] == "promotion" && v["starved"] == "true"' | wc -l) == 0")")" \
		"if the active queue is closed to what comes in: then a request waits for five queues at most"
	verdict hb05.s5-open "the same if requests join the active queue, which the text allows" \
		"$(printf 'starved at: %s %% high; the longest wait is %.0f s, as long as the run' "$(starving promotion-open)" "$(longest promotion-open)")" \
		"$(outcome "$(column mix starved 'v["series"] == "promotion-open" && v["starved"] == "true"' | wc -l) == 0")" \
		"a queue of more high requests than the drive's window of 32 holds never becomes empty, so nothing is promoted"
	for s in 10 30 90; do
		rows+=("$(printf '%s %%: %.0f and %.0f ms' $s "$(mixed $s high_ms promotion)" "$(mixed $s low_ms promotion)")")
	done
	verdict hb05.s5-latency "no figure; figure 7 with deadlines: 280 and 1000 ms at 10 %, below 350 and 2000 ms at 30 %" \
		"$(IFS=';'; echo "${rows[*]}" | sed 's/;/; /g'); $(printf '%.2f to %.2f MB/s' \
			"$(column mix total_mb_s 'v["series"] == "promotion"' | smallest)" \
			"$(column mix total_mb_s 'v["series"] == "promotion"' | largest)")" shown \
		"nothing was chosen for it but the two levels"
	size=1150,500 plot s5 <<-GNUPLOT
	set title "Section 5: queue promotion, latency of 200 outstanding writes; not in the paper"
	$(paper_latencies)
	set key outside right
	plot "< grep '^promotion,' ".out."/hb05-mix.csv" using 2:6 with linespoints ls 1 title "high", \
		"< grep '^promotion,' ".out."/hb05-mix.csv" using 2:7 with linespoints ls 3 title "low", \
		"< grep '^promotion-open,' ".out."/hb05-mix.csv" using 2:6 with linespoints ls 1 dt 3 title "high, open queue", \
		"< grep '^promotion-open,' ".out."/hb05-mix.csv" using 2:7 with linespoints ls 3 dt 3 title "low, open queue: starves from $(starving promotion-open | cut -d" " -f1) %", \
		\$high with points ls 1 pt 8 ps 2 title "the paper's figure 7, high", \
		\$low with points ls 3 pt 8 ps 2 title "the paper's figure 7, low"
	GNUPLOT
}
