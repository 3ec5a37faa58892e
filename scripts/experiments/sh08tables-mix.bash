# shellcheck shell=bash disable=SC2154 # variables of sh08tables, its parts and lib.bash
# SPDX-License-Identifier: MIT
#
# Figures 4.11 and 4.12, table 4.2: shapes of TPC-H and TPC-C.  Part of sh08tables, after sh08tables-pool.bash.

# tables FOLDER SCHEMAS FACTOR LAYOUT OPTION... <<< "NAME RECORDS...": tables without data in a folder.  Those along
# tracks lie behind each other on the drives, from $skip on.
skip=0
tables()
{
	local name n how bytes

	mkdir -p "$work/$1"
	while read -r name n; do
		how=(--layout="$4" "--volume=sim:$array")
		[ "$4" != semiseq ] || read -ra how <<<"$(lanes "$(fitting "$2/$name.schema" 63)") --volume=sim:$drive --skip-size=$skip"
		create "$1/$name.table" "$2/$name.schema" "$(calc "$n * $3" %.0f)" "${how[@]}" "${@:5}"
		[ "$4" = semiseq ] || continue
		bytes=$("$xtable" info --json "$work/$1/$name.table" | sed -n 's/^ *"bytes": \([0-9]*\).*/\1/p')
		skip=$(calc "$skip + int(($bytes - $skip) / 4) + 2 * 2 ^ 20" %.0f) # four drives
	done
}

# --- Figure 4.11.  Each table is scanned alone, on drives of its own, so that tables along tracks can be compared.
kinds=(nsm pax dsm csm)
for kind in "${kinds[@]}"; do
	layout=$kind
	[ $kind != csm ] || layout=semiseq
	tables "h-$kind" $tpch 1 $layout <<<"$tpch_records"
done
declare -A parts=(
	[Q1]='lineitem.l_quantity,l_extendedprice,l_discount,l_tax,l_returnflag,l_linestatus,l_shipdate'
	[Q6]='lineitem.l_quantity,l_extendedprice,l_discount,l_shipdate'
	[Q12]='orders.o_orderkey,o_orderpriority lineitem.l_orderkey,l_shipmode,l_shipdate,l_commitdate,l_receiptdate'
	[Q14]='part.p_partkey,p_type lineitem.l_partkey,l_extendedprice,l_discount,l_shipdate'
)
# asks FOLDER QUERY: seconds of its scans.
asks()
{
	local part sum=0

	for part in ${parts[$2]}; do
		sum=$(calc "$sum + $(scan "$1/${part%%.*}.table" "${part#*.}")") || exit
	done
	echo "$sum"
}
text='' best=0 better=0 within=0
for q in Q1 Q6 Q12 Q14; do
	times=()
	for kind in "${kinds[@]}"; do
		times+=("${kind}_s=$(asks "h-$kind" $q)") || exit
	done
	memory=16M
	times+=("dsm_small_s=$(asks h-dsm $q)") || exit
	memory=1G
	row fig4.11 query=$q "${times[@]}"
	read -r nsm pax dsm csm small < <(tail -1 "$out/$paper-fig4.11.csv" | cut -d, -f2- | tr , ' ')
	holds "$csm <= 1.05 * $nsm && $csm <= 1.05 * $pax && $csm <= 1.05 * $dsm" && best=$((best + 1))
	holds "$dsm < $nsm" && better=$((better + 1))
	holds "$nsm / $csm >= 1.24 && $nsm / $csm <= 2" && within=$((within + 1))
	text+="${text:+; }$q NSM $(calc "$nsm / $csm" %.2f), PAX $(calc "$pax / $csm" %.2f), DSM $(calc "$dsm / $csm" %.2f), in 16 MiB $(calc "$small / $csm" %.2f)"
done
verdict sh08.fig4.11 "Q1, Q6, Q12, Q14: CSM best; NSM and PAX 1.24 to 2.0 times slower; DSM better than NSM in all but Q1" \
	"scans of their columns, time over that of CSM: $text" \
	"$(if [ $best = 4 ] && [ $better = 3 ] && [ $within = 4 ]; then echo yes; elif [ $best = 4 ]; then echo partly; else echo no; fi)" \
	"CSM best or within 5 % in $best of 4, DSM faster than NSM in $better of 4. 1.24 to 2.0 is not derivable: its processor times are not stated, and by bytes the ratio is larger. Joins are not run, and DSM does not join tuple by tuple, which costs it Q1 in the thesis. Tables of 1 GB of text"
plot fig4.11 <<'GNUPLOT'
set title "Figure 4.11: scans of TPC-H's columns, relative to NSM"
set style data histograms
set style histogram clustered gap 1
set style fill solid 0.8 border -1
set ylabel "time / time of NSM"
set yrange [0:1.6]
file = out . "/sh08tables-fig4.11.csv"
plot file using (column("nsm_s") / column("nsm_s")):xtic(1) ls 7 title "NSM", \
	file using (column("pax_s") / column("nsm_s")) ls 3 title "PAX", \
	file using (column("dsm_s") / column("nsm_s")) ls 4 title "DSM", \
	file using (column("dsm_small_s") / column("nsm_s")) ls 2 title "DSM in 16 MiB", \
	file using (column("csm_s") / column("nsm_s")) ls 1 title "CSM", \
	1 / 1.24 with lines ls 6 dt 2 lc rgb "black" title "the thesis: NSM is 1.24 to 2.0 times CSM", 0.5 with lines ls 6 dt 2 lc rgb "black" notitle
GNUPLOT

# --- Table 4.2.  Several tables along tracks cannot share drives, so CSM is contiguous here.
tpcc=examples/tpcc
warehouses=10
tpcc_records='warehouse 1
district 10
customer 30000
history 30000
new_order 9000
orders 30000
order_line 300000
stock 100000'
for kind in "${kinds[@]}"; do
	layout=$kind
	[ $kind != csm ] || layout=semiseq
	tables "c-$kind" $tpcc $warehouses $layout <<<"$tpcc_records"
	tables "c-$kind" $tpcc 1 $layout <<<'item 100000'
done
length=$(calc "$scale < 1 ? 60 : 120") # virtual seconds, after as many
# mix FOLDER OPTION...: New-Order transactions per minute.
mix()
{
	local files=()

	mapfile -t files < <(cd "$work" && ls "$1"/*.table)
	clients "$(cat $tpcc/mix)" "$length" "$length" "${files[@]}" -- --journal=no "${@:2}"
	calc "60 * $(field kinds.0.lines.0.transactions_per_s)" %.0f
}
for kind in "${kinds[@]}"; do
	row tab4.2 layout="$kind" pool=none tpmc="$(mix "c-$kind")"
done
for kind in nsm pax; do
	row tab4.2 layout="$kind" pool=128M tpmc="$(mix "c-$kind" --pool=F --pool-size=128M --frame=8K)"
done
# tpmc LAYOUT [POOL]
tpmc() { value tab4.2 tpmc layout "$1" pool "${2:-none}"; }
good=0 text=''
for pair in dsm:0.126 pax:0.998 csm:0.943; do
	ratio=$(calc "$(tpmc ${pair%:*}) / $(tpmc nsm)" %.3g)
	within "$ratio" "${pair#*:}" 25 && good=$((good + 1))
	text+="${text:+, }${pair%:*} $ratio"
done
verdict sh08.tab4.2 "TPC-C, 10 warehouses, 100 users: TpmC 1115, 141, 1113, 1051 for NSM, DSM, PAX, CSM; over NSM 0.126, 0.998, 0.943" \
	"a mix like it: $(tpmc nsm), $(tpmc dsm), $(tpmc pax), $(tpmc csm); over NSM: $text" "$(all_of "$good of 3")" \
	"within 25 %: $good of 3. No pool: each step reads its cells. With a pool of 128 MB in frames of 8 KB NSM has $(tpmc nsm 128M), PAX $(tpmc pax 128M); an A-page of DSM does not fit into such a frame"

# --- Figure 4.12.  Q1 is a client of its own beside the mix, on the same drives.
# beside FOLDER q1|mix|both: seconds of Q1, 1e9 if none ended, and TpmC of the mix.  The tables lie in the order
# of their names: a drive that serves the nearest request first would starve a scan at its edge.
beside()
{
	local files=("h-${1#c-}/lineitem.table") lines='' kind=0

	if [ "$2" != q1 ]; then
		mapfile -t files < <(cd "$work" && printf '%s\n' "${files[0]}" "$1"/*.table | sort -t/ -k2)
		lines=$(cat $tpcc/mix)
		kind=1
	fi
	[ "$2" = mix ] || lines+="
client 1
scan $([ $kind = 0 ] || echo lineitem.)${parts[Q1]#*.}"
	clients "$lines" "$((5 * length))" "$length" "${files[@]}" -- --journal=no 2>>"$work/log"
	if [ "$2" = mix ]; then
		:
	elif [ "$(field kinds.$kind.transactions)" -gt 0 ]; then
		calc "$(field kinds.$kind.latency_mean_ns) / 1e9" '%.6g '
	else
		echo '1e9 '
	fi
	[ "$2" = q1 ] || calc "60 * $(field kinds.0.lines.0.transactions_per_s)" %.6g
}
tables h-behind $tpch 1 semiseq <<<"$(head -1 <<<"$tpch_records")"
mv "$work/h-csm" "$work/h-alone" && mv "$work/h-behind" "$work/h-csm"
for kind in "${kinds[@]}"; do
	alone=$(beside "c-$kind" q1) && mixed=$(beside "c-$kind" mix) && both=$(beside "c-$kind" both) || exit
	read -r q1 rate <<<"$both"
	row fig4.12 layout="$kind" q1_alone_s="${alone% }" q1_beside_s="$q1" tpmc_alone="$mixed" tpmc_beside="$rate" \
		q1_slowdown="$(calc "$q1 / $alone")" tpmc_slowdown="$(calc "$mixed / $rate")"
done
# slow KIND COLUMN
slow() { calc "$(value fig4.12 "$2_slowdown" layout "$1")" %.3g; }
text=''
for side in q1 tpmc; do
	text+="${text:+; }$side $(for kind in "${kinds[@]}"; do echo "$kind $(slow "$kind" $side)"; done | paste -sd, | sed 's/,/, /g')"
done
others() { for kind in nsm pax dsm; do slow $kind "$1"; echo; done | largest; }
v=0
for side in q1 tpmc; do
	holds "$(slow csm $side) < 1e6 && $(slow csm $side) <= $(others $side)" && v=$((v + 1))
done
verdict sh08.fig4.12 "Q1 beside TPC-C: CSM slows no more than the other layouts; PAX 1 % less on Q1, 2 % more on TPC-C" \
	"time of Q1 and throughput of the mix, slower by: $text" "$(all_of "$v of 2")" \
	"CSM at most the worst of the others on $v of 2 sides. No pool; the drives serve the nearest request first, which holds up the scan among 100 clients"
plot fig4.12 <<'GNUPLOT'
set title "Figure 4.12: Q1 beside TPC-C, slow-down"
set style data histograms
set style histogram clustered gap 1
set style fill solid 0.8 border -1
set ylabel "times"
set logscale y
set yrange [1:*]
file = out . "/sh08tables-fig4.12.csv"
plot file using "q1_slowdown":xtic(1) ls 1 title "time of Q1", \
	file using "tpmc_slowdown" ls 3 title "TpmC"
GNUPLOT
