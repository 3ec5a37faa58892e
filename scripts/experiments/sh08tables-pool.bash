# shellcheck shell=bash disable=SC2154 # variables of sh08tables and lib.bash
# SPDX-License-Identifier: MIT
#
# Figures 4.9 and 4.10: buffer pools.  Part of sh08tables.

# --- Figure 4.9.  A frame of the thesis has 16 blocks, one of them its header: 15 cells here.
frame=7680
few=$(scaled 8000000)
# shellcheck disable=SC2046 # words are wanted
create few-csm "$work/r.schema" "$few" $(lanes 63) "--volume=sim:$drive"
create few-nsm "$work/r.schema" "$few" --layout=nsm "--volume=sim:$array"

# Pages of 8 KB, or frames, that a scan reads for 5000 records.
for k in $(seq 15); do
	counts=()
	for t in nsm dsm; do
		scan $t "$(columns "$k")" >/dev/null
		counts+=("$t=$(calc "$(field result.cells_read) * 5000 / $records")")
	done
	scan few-csm "$(columns "$k")" --pool=D --pool-size=2M --frame=$frame >/dev/null
	row fig4.9 columns="$k" "${counts[@]}" csm="$(calc "$(field pool.misses) * 5000 / $few")"
done
# NSM and CSM over DSM, by arithmetic on frames of 15 cells.
good=0 text=''
while read -r k nsm csm; do
	n=$(calc "$(value fig4.9 nsm columns "$k") / $(value fig4.9 dsm columns "$k")" %.3g)
	c=$(calc "$(value fig4.9 csm columns "$k") / $(value fig4.9 dsm columns "$k")" %.3g)
	within "$n" "$nsm" 2 && within "$c" "$csm" 2 && good=$((good + 1))
	text+="${text:+; }$k columns NSM $n, CSM $c"
done <<<'1 15.0 1.08
2 7.50 1.16
3 5.00 1.08
4 3.75 1.35
5 3.00 1.08
6 2.50 1.35
7 2.14 1.16
8 1.88 2.02
9 1.67 1.80
10 1.50 1.62
12 1.25 1.35
15 1.00 1.08'
verdict sh08.fig4.9-single "a single query of each size: CSM as DSM at the left end, NSM above both; full pages where two A-pages do not fit into a frame" \
	"frames for 5000 records over those of DSM: $text" "$(constructed "$(outcome "$good == 12")")" \
	"$good of 12 sizes within 2 % of the arithmetic on frames of 8 KB: one query reads each frame once"

# Random sets: each column with chance E / 15, at least one.  Four clients scan 12 sets each; the same sets in all
# managers.  The pool has the same share of R as in the thesis.
pool=$(calc "128 * $few / 8e6 * 1024" %.0f)K
# sets E: lines of four clients.
sets()
{
	awk -v e="$1" 'BEGIN { srand(e)
		for (c = 0; c < 4; c++) { print "client 1 think 1s"
			for (i = 0; i < 12; i++) { list = ""
				while (list == "")
					for (k = 1; k <= 15; k++)
						if (rand() < e / 15) list = list (list == "" ? "" : ",") "a" k
				print "scan " list } } }'
}
for e in 1 3 5 7 9 11 13 15; do
	lines=$(sets "$e")
	counts=() sums=(0 0 0)
	while read -r _ set; do
		k=$(tr , '\n' <<<"$set" | wc -l)
		sums=("$(calc "${sums[0]} + $(value fig4.9 nsm columns "$k")")" "$(calc "${sums[1]} + $(value fig4.9 dsm columns "$k")")" \
			"$(calc "${sums[2]} + $(value fig4.9 csm columns "$k")")")
	done < <(grep scan <<<"$lines")
	for t in few-nsm:F:8K few-csm:D:$frame few-csm:S:$frame; do
		IFS=: read -r t manager bytes <<<"$t"
		clients "$lines" "$(scaled 6000)" 1 "$t" -- --pool="$manager" --pool-size="$pool" --frame="$bytes" 2>>"$work/log"
		counts+=("${t#few-}_${manager,}=$(calc "$(field pool.misses) * 5000 / $(field result.records_read) / ${sums[1]} * 48")")
	done
	row fig4.9-sets expected="$e" alone_nsm="$(calc "${sums[0]} / ${sums[1]}")" alone_csm="$(calc "${sums[2]} / ${sums[1]}")" "${counts[@]}"
done
# sets_value E COLUMN
sets_value() { calc "$(value fig4.9-sets "$2" expected "$1")" %.3g; }
good=1 text='' together=''
for e in 1 3 5 7 9 11 13 15; do
	text+="${text:+; }$e: NSM $(sets_value $e alone_nsm), CSM $(sets_value $e alone_csm)"
	together+="${together:+; }$e: NSM $(sets_value $e nsm_f), CSM $(sets_value $e csm_d)"
	holds "$e > 7 || $(sets_value $e alone_csm) < $(sets_value $e alone_nsm)" || good=0
done
holds "$(sets_value 1 alone_csm) <= 1.2 && $(sets_value 15 alone_csm) <= 1.1 && $(sets_value 15 alone_nsm) <= 1.1 && $(sets_value 9 alone_csm) > $(sets_value 1 alone_csm)" || good=0
verdict sh08.fig4.9 "random sets of attributes: DSM least; CSM as DSM at the left end, more in between, all alike at the right end" \
	"frames for 5000 records over the pages of DSM, by expected size of the sets, one query after another: $text" \
	"$(constructed "$(outcome $good)")" "the mean over 48 sets of what a query of each size reads. From 8 columns on CSM reads more frames than NSM"
verdict sh08.fig4.9-together "more queries overlap with larger sets, which costs CSM duplicates" \
	"the same with four clients in a pool of an eighth of R: $together" shown \
	"relative to the pages that DSM reads for each query alone. Clients find frames of each other, in NSM too, so all read less than alone; the thesis does not state how many queries run at a time"
plot fig4.9 <<'GNUPLOT'
set title "Figure 4.9: I/O for 5000 records, relative to DSM"
set xlabel "expected columns of a query"
set ylabel "frames / pages of DSM"
set xrange [0.5:15.5]
set logscale y
set yrange [0.2:20]
set ytics (0.2, 0.5, 1, 2, 5, 10, 15)
file = out . "/sh08tables-fig4.9-sets.csv"
plot file using "expected":"alone_nsm" with linespoints ls 7 title "NSM, one query after another", \
	file using "expected":"alone_csm" with linespoints ls 1 title "CSM, one query after another", \
	file using "expected":"nsm_f" with linespoints ls 3 dt 2 title "NSM, four clients share a pool", \
	file using "expected":"csm_d" with linespoints ls 2 dt 2 title "CSM, four clients share a pool", \
	1 ls 6 title "DSM", \
	"<printf '1,1\n15,1\n'" with points pt 8 ps 2 lw 2 lc rgb "black" title "the thesis: CSM as DSM, and all alike"
GNUPLOT

# --- Figure 4.10.  The tables of TPC-H in A-pages and frames of 32 KB: 63 cells and a header.
sf=$(calc "$scale < 1 ? $scale : 1")
tpch=examples/tpch
tpch_records='lineitem 6001215
orders 1500000
part 200000'
while read -r name n; do
	create "$name.table" "$tpch/$name.schema" "$(calc "$n * $sf" %.0f)" --layout=csm --cell=512 \
		--records-per-page="$(fitting "$tpch/$name.schema" 63)" "--volume=sim:$array"
done <<<"$tpch_records"
queries=$(awk '!/^#/ && !/^client/ && NF { print "client 1 think 1s"; print }' "$tpch/queries")
pools=(2 8 16 24 32 48 64 112)
for pool in "${pools[@]}"; do
	for manager in F S D; do
		clients "$queries" "$(calc "2000 * $sf" %.0f)" "$(calc "1000 * $sf" %.0f)" {lineitem,orders,part}.table -- \
			--pool=$manager --pool-size="$(calc "$pool * $sf * 10240" %.0f)K" --frame=$((63 * 512)) 2>>"$work/log"
		row fig4.10 pool_percent="$(calc "$pool * 10 / 9.7" %.3g)" manager=$manager lookups="$(field pool.lookups)" misses="$(field pool.misses)" \
			rate="$(calc "$(field pool.misses) / $(field pool.lookups)" %.4g)" read_kb_1000="$(calc "$(field pool.misses) * 63 / 2 / $(field result.records_read) * 1000" %.4g)"
	done
done
# rate PERCENT MANAGER
rate() { value fig4.10 rate pool_percent "$1" manager "$2"; }
mapfile -t shares < <(column fig4.10 pool_percent | uniq)
text='' least=0
for p in "${shares[@]}"; do
	text+="${text:+; }$(calc "$p" %.0f) %: $(for m in F S D; do calc "$(rate "$p" $m)" '%.2f '; done)"
	holds "$(rate "$p" D) <= $(rate "$p" F) && $(rate "$p" D) <= $(rate "$p" S)" && least=$((least + 1))
done
first=${shares[0]} spread=$(calc "$(for m in F S D; do rate "$first" $m; done | largest) / $(for m in F S D; do rate "$first" $m; done | smallest)" %.3g)
if [ $least = ${#shares[@]} ] && holds "$spread <= 1.25"; then
	v=yes
elif [ $((least * 2)) -ge ${#shares[@]} ]; then
	v=partly
else
	v=no
fi
verdict sh08.fig4.10 "miss rates of F-, S- and D-pages alike in a small pool, D-pages least in larger ones" \
	"Q1, Q6, Q12, Q14 together, pool in percent of the tables: misses for a lookup of F, S, D $text" "$v" \
	"D least in $least of ${#shares[@]}; in the smallest pool the greatest is $spread times the least. Wanted: all, and 1.25. Scans of the columns of the queries, without joins; a lookup is of a frame, which holds more A-pages with fewer columns. Read for 1000 records, in KB: $(for m in F S D; do echo "$m $(for p in "${shares[@]}"; do value fig4.10 read_kb_1000 pool_percent "$p" manager $m; done | awk '{ printf "%s%.0f", (NR > 1 ? " " : ""), $1 }')"; done | paste -sd';' | sed 's/;/; /g')"
plot fig4.10 <<'GNUPLOT'
set title "Figure 4.10: miss rates on Q1, Q6, Q12 and Q14 together"
set xlabel "pool, percent of the tables"
set ylabel "misses / lookups"
set yrange [0:1.05]
set key bottom left
file(m) = "<grep ," . m . ", " . out . "/sh08tables-fig4.10.csv"
plot file("F") using 1:5 with linespoints ls 3 title "F-pages", \
	file("S") using 1:5 with linespoints ls 2 title "S-pages", \
	file("D") using 1:5 with linespoints ls 1 title "D-pages"
GNUPLOT
