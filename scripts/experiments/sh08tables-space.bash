# shellcheck shell=bash disable=SC2154 # variables of sh08tables, its parts and lib.bash
# SPDX-License-Identifier: MIT
#
# Figure 4.13, and what the unit tests cover.  Part of sh08tables.

# --- Figure 4.13: records of an A-page, with a block for its header, over records of a page of NSM.
schemas=$work/schemas
mkdir "$schemas"
cp $tpch/*.schema "$schemas"
mv "$schemas/orders.schema" "$schemas/h_orders.schema"
cp $tpcc/*.schema "$schemas"
text() { printf '%s\n' "${@:2}" >"$schemas/$1.schema"; }
text supplier 's_suppkey i32' 's_name char(25)' 's_address char(25)' 's_nationkey i32' 's_phone char(15)' 's_acctbal dec64(2)' 's_comment char(63)'
text h_customer 'c_custkey i32' 'c_name char(25)' 'c_address char(25)' 'c_nationkey i32' 'c_phone char(15)' 'c_acctbal dec64(2)' \
	'c_mktsegment char(10)' 'c_comment char(73)'
text partsupp 'ps_partkey i32' 'ps_suppkey i32' 'ps_availqty i32' 'ps_supplycost dec64(2)' 'ps_comment char(124)'
text nation 'n_nationkey i32' 'n_name char(25)' 'n_regionkey i32' 'n_comment char(75)'
text region 'r_regionkey i32' 'r_name char(25)' 'r_comment char(66)'
enough=0 agree=0 all=0
for schema in "$schemas"/*.schema; do
	name=$(basename "$schema" .schema)
	width=$(widths "$schema" | awk '{ s += $1 } END { print s }')
	shares=()
	for kb in 8 16 32 64; do
		n=$(fitting "$schema" $((2 * kb - 1)))
		shares+=("kb_$kb=$(calc "$n / int(($kb * 1024 - 8) / $width)" %.3f)")
		[ "$n" -gt 0 ] || continue
		# The cells of an A-page that a table of this schema has.
		all=$((all + 1))
		create space "$schema" 100000 --layout=csm --cell=512 --records-per-page="$n" "--volume=sim:$drive"
		cells=$("$xtable" scan "$work/space" --discard --stats="$work/report" && flatten "$work/report" |
			awk '$1 ~ /column_groups.*\.cells$/ { s += $2 } END { print s }')
		[ "$cells" -le $((2 * kb - 1)) ] && [ "$cells" -gt 0 ] && agree=$((agree + 1))
	done
	row fig4.13 table="$name" bytes="$width" "${shares[@]}"
done
count=$(column fig4.13 table | wc -l)
others='v["table"] != "customer" && v["table"] != "stock"'
enough=$(column fig4.13 kb_16 "$others && v[\"kb_16\"] > 0.9" | wc -l)
large=$(column fig4.13 kb_32 'v["kb_32"] > 0.9 && (v["table"] == "customer" || v["table"] == "stock")' | wc -l)
verdict sh08.fig4.13 "space of CSM over NSM: A-pages of 16 KB over 90 % for all tables of TPC-C and TPC-H but customer and stock, 32 KB for these too" \
	"16 KB over 90 %: $enough of the other $((count - 2)) tables; customer and stock at 16, 32, 64 KB $(for t in customer stock; do for kb in 16 32 64; do value fig4.13 kb_$kb table $t; done; done | paste -sd' ')" \
	"$(if [ "$enough" = $((count - 2)) ] && [ "$large" = 2 ]; then echo yes; elif [ "$enough" -ge $(((count - 2) / 2)) ]; then echo partly; else echo no; fi)" \
	"not derivable: neither the widths of the tables nor what NSM adds to a record are in the print. Records of NSM have no overhead here; texts have their mean or greatest length. In $agree of $all cases the A-page of a table that xtable creates has at most the cells that were computed"
size=1200,600 plot fig4.13 <<'GNUPLOT'
set title "Figure 4.13: records of an A-page of CSM over those of a page of NSM"
set style data histograms
set style histogram clustered gap 1
set style fill solid 0.8 border -1
set termoption noenhanced
set xtics rotate by -35
set yrange [0:1.05]
set key outside bottom center horizontal
file = out . "/sh08tables-fig4.13.csv"
plot file using "kb_8":xtic(1) ls 6 title "8 KB", file using "kb_16" ls 3 title "16 KB", file using "kb_32" ls 4 title "32 KB", \
	file using "kb_64" ls 1 title "64 KB", 0.9 with lines lw 2 dt 2 lc rgb "black" title "the thesis: more at 16 KB, customer and stock at 32 KB"
GNUPLOT

# --- Figures 4.4 and 4.6, and the worst case of section 4.6.4: unit tests.
make -s "$build"/tests/unit/test_{cube_semiseq,table_schemas,table_pool} >/dev/null || die "cannot build the tests"
checked sh08.fig4.2 "C-pages with complete and with partial records: more A-pages in a frame with fewer attributes" test_table_pool 'a frame holds' constructed
checked sh08.fig4.4 "mapping of 12 attributes and 1008 records on 4 disks" test_cube_semiseq 'figure 4.4' constructed
checked sh08.fig4.6 "the list of page schemas: Q1 {a1,a2}, Q2 {a2,a3}, and the end of Q1" test_table_schemas . constructed
checked sh08.s4.6.4 "worst case of growing queries: 15 copies; with the rule of fewer than two A-pages 8" test_table_pool 'growing queries|without the rule' constructed
note <<'NOTE'
All times are of I/O alone: the host of the simulated machine takes no time. Figures 4.7 to 4.13 are pictures in the thesis, and
its text gives few of their values; pictures here have a mark where it does. Figure 4.1 shows the layouts of a table of three
attributes, which is what xtable stores, and has no row.

Not derivable from the print: the extents of DSM (figure 4.7), index levels and the time of writes (22 % in section 4.8.2), the
processor times behind 1.24 to 2.0 (figure 4.11), the widths behind figure 4.13.
NOTE
