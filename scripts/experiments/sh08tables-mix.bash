# shellcheck shell=bash disable=SC2154 # variables of sh08tables, its parts and lib.bash
# SPDX-License-Identifier: MIT
#
# Figures 4.11 and 4.12, table 4.2: shapes of TPC-H and TPC-C.  Part of sh08tables, after sh08tables-pool.bash.

# bytes TABLE: of its file.
bytes() { "$xtable" info --json "$work/$1" | sed -n 's/^ *"bytes": \([0-9]*\).*/\1/p'; }

# tables FOLDER SCHEMAS FACTOR LAYOUT OPTION... <<< "NAME RECORDS...": tables without data in a folder.  Those along
# tracks lie behind each other on the drives, from $skip on.
skip=0
tables()
{
	local name n how

	mkdir -p "$work/$1"
	while read -r name n; do
		how=(--layout="$4" "--volume=sim:$array")
		[ "$4" != semiseq ] || read -ra how <<<"$(lanes "$(fitting "$2/$name.schema" 63)") --volume=sim:$drive --skip-size=$skip"
		create "$1/$name.table" "$2/$name.schema" "$(calc "$n * $3" %.0f)" "${how[@]}" "${@:5}"
		[ "$4" = semiseq ] || continue
		skip=$(calc "$skip + int(($(bytes "$1/$name.table") - $skip) / 4) + 2 * 2 ^ 20" %.0f) # four drives
	done
}

# --- Figure 4.11, with the host of the model.  Q1 and Q6 scan a table without data, alone on its drives.  Q12 and Q14 join
# tables with data: a merge join of both tables, sorted, in examples/12-join-two-tables.c.  These CSM tables have cells of
# 4 KB along the tracks, since the bounds of A-pages, which the thesis does not have, are read cell by cell.
kinds=(nsm pax dsm csm)
declare -A parts=(
	[Q1]='l_quantity,l_extendedprice,l_discount,l_tax,l_returnflag,l_linestatus,l_shipdate'
	[Q6]='l_quantity,l_extendedprice,l_discount,l_shipdate'
	[Q12]=orders
	[Q14]=part
)
for kind in "${kinds[@]}"; do
	layout=$kind how=("--layout=$kind")
	[ $kind != csm ] || layout=semiseq how=(--placement=mems)
	tables "h-$kind" $tpch 1 $layout <<<"$(head -1 <<<"$tpch_records")"
	create "mems-h-$kind" "$tpch/lineitem.schema" 6001215 "${how[@]}" --volume=sim:mems-thesis
done

# Texts have the lengths of the schemas, so that the layouts have the widths of the tables without data.
skip=0 skip_mems=0
while read -r name cuts; do
	"$xgen" "$name" --scale="$sf" | awk -F'|' -v OFS='|' -v cuts="$cuts" 'BEGIN { n = split(cuts, c, " ") }
		{ for (i = 1; i < n; i += 2) $c[i] = substr($c[i], 1, c[i + 1]); sub(/[|]$/, ""); print }' >"$work/$name.txt"
	for kind in nsm pax dsm csm mems; do
		how=("--layout=$kind")
		[ $kind != csm ] || how=(--placement=semiseq --volumes=4 --cell=4K "--volume=sim:$model" "--skip-size=$skip")
		[ $kind != mems ] || how=(--placement=mems --volume=sim:mems-thesis "--skip-size=$skip_mems")
		"$xtable" load "$work/$name-$kind" "$work/$name.txt" -t'|' --schema="$tpch/$name.schema" "${how[@]}" || die "failed: load"
	done
	skip=$(calc "$skip + int(($(bytes "$name-csm") - $skip) / 4) + 2 * 2 ^ 20" %.0f) # four drives
	skip_mems=$(calc "$(bytes "$name-mems") + 2 * 2 ^ 20" %.0f)
done <<<'lineitem 16 27
orders 9 49
part 2 33 5 21 9 14'

# answer QUERY: of the texts, as the program prints it.
answer()
{
	if [ "$1" = Q12 ]; then
		awk -F'|' 'NR == FNR { urgent[$1] = $6 ~ /^[12]/; next }
			($15 == "MAIL" || $15 == "SHIP") && $12 < $13 && $11 < $12 && $13 ~ /^1994-/ { n[$15]++; high[$15] += urgent[$1] }
			END { for (m in n) print m "|" high[m] "|" n[m] - high[m] }' "$work"/{orders,lineitem}.txt | sort
	else
		awk -F'|' 'NR == FNR { promo[$1] = $5 ~ /^PROMO/; next }
			$11 ~ /^1995-09-/ { r = $6 * (1 - $7); all += r; some += promo[$2] * r }
			END { printf "%.6f\n", 100 * some / all }' "$work"/{part,lineitem}.txt
	fi
}
answer Q12 >"$work/Q12" && answer Q14 >"$work/Q14" || exit
# seconds_of QUERY DEVICE KIND [JOIN]: of a query, with the columns of DSM joined so; DEVICE: disks or mems.
seconds_of()
{
	local t=h-$3/lineitem.table kind=$3 volume="sim:$model,array=raid0:4/track"

	if [[ $1 = Q1 || $1 = Q6 ]]; then
		[ "$2" = disks ] || t=mems-h-$3
		timed "$t" "${parts[$1]}" --dsm-join="${4:-none}"
		return
	fi
	[ "$kind" != csm ] || volume="sim:$model,array=linear:4"
	[ "$2" = disks ] || volume=sim:mems-thesis
	[ "$2 $kind" != 'mems csm' ] || kind=mems
	"$build/examples/12-join-two-tables" "${1#Q}" "$work/lineitem-$kind" "$work/${parts[$1]}-$kind" "$volume" "${4:-none}" \
		2>"$work/seconds" | cmp -s - "$work/$1" || die "$1 on $*: another answer: $(<"$work/seconds")"
	cat "$work/seconds"
}
declare -A texts best worse within
for device in disks mems; do
	texts[$device]='' best[$device]=0 worse[$device]='' within[$device]=0
	for q in Q1 Q6 Q12 Q14; do
		nsm=$(seconds_of $q $device nsm) && pax=$(seconds_of $q $device pax) && csm=$(seconds_of $q $device csm) &&
			dsm=$(seconds_of $q $device dsm) && tuple=$(seconds_of $q $device dsm tuple) || exit
		row fig4.11 device=$device query=$q nsm_s="$nsm" pax_s="$pax" dsm_s="$dsm" dsm_tuple_s="$tuple" csm_s="$csm"
		holds "$csm <= 1.05 * $nsm && $csm <= 1.05 * $pax && $csm <= 1.05 * $tuple" && best[$device]=$((best[$device] + 1))
		holds "$tuple < $nsm" || worse[$device]+="${worse[$device]:+ }$q"
		holds "$nsm / $csm >= 1.24 && $nsm / $csm <= 2" && within[$device]=$((within[$device] + 1))
		texts[$device]+="${texts[$device]:+; }$q NSM $(calc "$nsm / $csm" %.2f), PAX $(calc "$pax / $csm" %.2f), DSM $(calc "$tuple / $csm" %.2f), without joins of columns $(calc "$dsm / $csm" %.2f)"
	done
done
verdict sh08.fig4.11 "Q1, Q6, Q12, Q14: CSM best; NSM and PAX 1.24 to 2.0 times slower; DSM better than NSM in all but Q1" \
	"time over that of CSM, DSM joined tuple by tuple: ${texts[disks]}" \
	"$(if [ "${best[disks]} ${worse[disks]} ${within[disks]}" = '4 Q1 4' ]; then echo yes; elif [ "${best[disks]}" -ge 3 ] || [ "${worse[disks]}" = Q1 ]; then echo partly; else echo no; fi)" \
	"CSM best or within 5 % in ${best[disks]} of 4; DSM slower than NSM in ${worse[disks]:-none}; NSM 1.24 to 2.0 times CSM in ${within[disks]} of 4, which is not derivable: the processor times of the thesis are not stated. Q1 and Q6 are scans of tables of 1 GB of text; Q12 and Q14 join tables of $(calc "$sf") GB, sorted and merged, whose answers are those of the text"
verdict sh08.fig4.11-mems "the same on the MEMStore" "time over that of CSM: ${texts[mems]}" \
	"$(if [ "${best[mems]} ${worse[mems]}" = '4 Q1' ]; then echo yes; elif [ "${best[mems]}" -ge 3 ] || [ "${worse[mems]}" = Q1 ]; then echo partly; else echo no; fi)" \
	"CSM best or within 5 % in ${best[mems]} of 4; DSM slower than NSM in ${worse[mems]:-none}"
plot fig4.11 <<'GNUPLOT'
set title "Figure 4.11: queries of TPC-H on four disks and on the MEMStore, relative to NSM"
set style data histograms
set style histogram clustered gap 1
set style fill solid 0.8 border -1
set ylabel "time / time of NSM"
set yrange [0:2]
file = out . "/sh08tables-fig4.11.csv"
plot file using (column("nsm_s") / column("nsm_s")):xtic(strcol(2) . "\n" . strcol(1)) ls 7 title "NSM", \
	file using (column("pax_s") / column("nsm_s")) ls 3 title "PAX", \
	file using (column("dsm_tuple_s") / column("nsm_s")) ls 4 title "DSM, joined tuple by tuple", \
	file using (column("dsm_s") / column("nsm_s")) ls 2 title "DSM without joins of columns", \
	file using (column("csm_s") / column("nsm_s")) ls 1 title "CSM", \
	1 / 1.24 with lines ls 6 dt 2 lc rgb "black" title "the thesis: NSM is 1.24 to 2.0 times CSM", 0.5 with lines ls 6 dt 2 lc rgb "black" notitle
GNUPLOT
rm -f "$work"/{lineitem,orders,part}{-*,.txt} "$work"/mems-h-*

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
row tab4.2 layout=dsm pool=tuple tpmc="$(mix c-dsm --dsm-join=tuple --volume="sim:$model,array=raid0:4/track")"
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
	"within 25 %: $good of 3. DSM joined tuple by tuple, with the host of the model, has $(tpmc dsm tuple): such joins of single records take microseconds. No pool: each step reads its cells. With a pool of 128 MB in frames of 8 KB NSM has $(tpmc nsm 128M), PAX $(tpmc pax 128M); an A-page of DSM does not fit into such a frame"

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
scan $([ $kind = 0 ] || echo lineitem.)${parts[Q1]}"
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
