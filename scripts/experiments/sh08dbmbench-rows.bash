# shellcheck shell=bash disable=SC2154 # variables of sh08dbmbench and lib.bash
# SPDX-License-Identifier: MIT
#
# Functions of sh08dbmbench: measures the systems, and judges the rows.

dbmbench=$(readlink -f "${DBMBENCH:-$bin/dbmbench}")
slow_start=duckdb # what cachegrind takes half a minute to start

# choose_systems: the systems to count events of, and those to measure for time only, separated by commas.
choose_systems()
{
	local all=${SYSTEMS:-} system

	counted='' timed='' counters=${COUNTERS:-auto}
	[ -n "$all" ] || all=$("$dbmbench" systems | awk '$2 != "absent:" { printf "%s%s", n++ ? "," : "", $1 }')
	if [ "$counters" = auto ] && has_hw "${all%%,*}"; then counters=hw; fi
	for system in ${all//,/ }; do
		if [ "$counters" = auto ] && [ "${system##*/}" = $slow_start ]; then
			timed+=${timed:+,}$system
		else
			counted+=${counted:+,}$system
		fi
	done
	[ -n "$counted" ] || die "no system to measure"
}
# has_hw SYSTEM: the processor shows its counters.
has_hw()
{
	"$dbmbench" run --systems="$1" --queries=uss --scale=0.0001 --unit=1 --repeat=1 --counters=hw --progress=never \
		-o "$work/hw" >"$work/hw.out" 2>&1
}

# dbm TABLE CLIENTS OPTION...: measures all systems, with pictures; their cells are lines of TABLE.
dbm()
{
	local table=$1 clients=$2 how=$counters picture=()

	shift 2
	command -v gnuplot >/dev/null && picture=(--plot="$out/$paper-$table.png")
	[ "$table" != scale ] || picture=()
	# cachegrind has one client.
	[ "$clients" = 1 ] || [ "$how" = hw ] || how=none
	ask "$table" "$counted" --counters="$how" --clients="$clients" "${picture[@]}" "$@"
	[ "$how" != "$counters" ] || read_source
	[ -z "$timed" ] || ask "$table" "$timed" --counters=none --clients="$clients" "$@"
}
# read_source: what counted events, and why not the processor's counters.
read_source()
{
	source=$(field counters.source) || exit
	reason=$(sed -n 's/^counters.reason //p' "$work/fields")
	[ "$reason" != null ] || reason=''
}
# ask TABLE SYSTEMS OPTION...
ask()
{
	local status=0

	LC_ALL=C.UTF-8 "$dbmbench" run --systems="$2" -o "$work/run" --progress=never "${@:3}" >"$work/run.out" || status=$?
	[ $status -le 1 ] || die "failed: dbmbench run --systems=$2 ${*:3}"
	flatten "$work/run/report.json" >"$work/fields"
	cells "$out/$paper-$1.csv" <"$work/fields"
	rm -r "$work/run"
}
# cells FILE: adds a line for each cell of a report, from flatten's output.
cells()
{
	[ -e "$1" ] || echo query,asked,chosen,system,clients,t1_records,query_s,instructions,per_record,cpi,branch_misses,l1d_misses,l1i_misses,llc_misses >"$1"
	awk '
	{ value = $2 == "null" ? "" : $2 }
	$1 == "config.clients" { clients = value }
	$1 == "tables.t1_records" { records = value }
	split($1, key, ".") == 3 && key[1] == "cells" { n = key[2] + 1; v[key[2], key[3]] = value }
	END {
		for (i = 0; i < n; i++)
			printf "%s,%s,%s,%s,%s,%s,%s,%s,%s,%s,%s,%s,%s,%s\n", v[i, "query"], v[i, "selectivity"],
				v[i, "true_selectivity"], v[i, "system"], clients, records, v[i, "query_s"], v[i, "instructions"],
				v[i, "instructions_per_row"], v[i, "cpi"], v[i, "branch_misses_per_1000"],
				v[i, "l1d_misses_per_1000"], v[i, "l1i_misses_per_1000"], v[i, "llc_misses_per_1000"]
	}' >>"$1"
}

# lines TABLE QUERY X Y: a plot command of gnuplot with a line for each system; X and Y are columns.
lines()
{
	local system style=0 word=plot

	for system in $(names "$1"); do
		style=$((style % 8 + 1))
		echo "\$d$style << EOD"
		paste -d, <(column "$1" "$3" "v[\"query\"] == \"$2\" && v[\"system\"] == \"$system\"") \
			<(column "$1" "$4" "v[\"query\"] == \"$2\" && v[\"system\"] == \"$system\"")
		echo EOD
	done
	style=0
	for system in $(names "$1"); do
		style=$((style % 8 + 1))
		printf '%s $d%d using 1:2 with linespoints ls %d title "%s" noenhanced' "$word" $style $style "$system"
		word=,
	done
	echo
}
# draw: the time of all systems, and instructions by scale.
draw()
{
	size=1400,500 plot time <<-GNUPLOT
	set multiplot layout 1,3
	set logscale xy
	set key outside below center horizontal height 1.5
	set xlabel "share of the values of a2"
	set ylabel "seconds of a query"
	set title "uSS"
	$(lines dss uss asked query_s)
	set title "uNJ"
	$(lines dss unj asked query_s)
	set title "uIDX"
	$(lines uidx uidx asked query_s)
	GNUPLOT
	[ "$source" = none ] || size=1000,500 plot scale <<-GNUPLOT
	set multiplot layout 1,2
	set logscale xy
	set key outside below center horizontal height 1.5
	set yrange [10:]
	set xlabel "records of T1"
	set ylabel "instructions per record of T1"
	set title "uSS, 20 %"
	$(lines scale uss t1_records per_record)
	set title "uNJ, 20 %"
	$(lines scale unj t1_records per_record)
	GNUPLOT
}

# names TABLE: the systems of a table.
names() { column "$1" system | sort -u; }
# at TABLE COLUMN SYSTEM QUERY SELECTIVITY: of one cell; nothing if it was not measured.
at() { column "$1" "$2" "v[\"system\"] == \"$3\" && v[\"query\"] == \"$4\" && (v[\"asked\"] - $5) ^ 2 < 1e-12"; }
# share CONDITION COLUMN FROM TO: systems whose COLUMN in the cell TO is in CONDITION (">", "<") to that in FROM, as
# "n of m systems".  A cell is TABLE:QUERY:SELECTIVITY.
share()
{
	local system from to n=0 m=0

	for system in $(names "${3%%:*}"); do
		from=$(cell "$2" "$system" "$3") to=$(cell "$2" "$system" "$4")
		[ -n "$from" ] && [ -n "$to" ] || continue
		m=$((m + 1))
		if holds "$to $1 $from"; then n=$((n + 1)); fi
	done
	if [ $m = 0 ]; then echo "none counted"; else echo "$n of $m systems"; fi
}
# cell COLUMN SYSTEM TABLE:QUERY:SELECTIVITY
cell()
{
	local at

	IFS=: read -ra at <<<"$3"
	at "${at[0]}" "$1" "$2" "${at[1]}" "${at[2]}"
}
# ways TABLE QUERY SELECTIVITY...: a table of what each system counts at these selectivities.
ways()
{
	local system column s values line query=$2

	[ "$1" != uidx10 ] || query="uidx, ten clients"
	for system in $(names "$1"); do
		line="| $query | $system |"
		for column in query_s per_record cpi branch_misses l1d_misses l1i_misses llc_misses; do
			values=$(for s in "${@:3}"; do at "$1" $column "$system" "$2" "$s"; done |
				awk -v column=$column 'NF { printf "%s%.4g", (n++ ? ", " : ""), column == "query_s" ? 1000 * $1 : $1 }')
			line+=" ${values:--} |"
		done
		echo "$line"
	done
}
# cycles TABLE QUERY LOW HIGH: the range of cycles per instruction of all systems.
cycles()
{
	local all

	all=$(column "$1" cpi "v[\"query\"] == \"$2\" && v[\"cpi\"] != \"\" && v[\"asked\"] >= $3 && v[\"asked\"] <= $4")
	if [ -n "$all" ]; then
		echo "CPI $(calc "$(smallest <<<"$all")" %.3g) to $(calc "$(largest <<<"$all")" %.3g)"
	else
		echo "no CPI: only the processor's own counters have cycles"
	fi
}
# pictured: what cannot be compared in a figure.
pictured() { echo "Not comparable: $1. Other values are not derivable: the figure is a picture, of a Pentium III"; }

judge_figures()
{
	local branches=branch_misses scan=dss:uss:0.2 join=dss:unj:0.2

	verdict sh08.fig3.2 "TPC-H: branch stalls over 15 % in joins, negligible in scans; 90 % of scans' memory stalls are L2 data" \
		"uNJ mispredicts more than uSS for each instruction: $(share '>' $branches $scan $join)" shown \
		"$(pictured "TPC-H is not run, and no counter of today gives the stall times T_M, T_B and T_R")"
	verdict sh08.fig3.3 "uSS, 1 to 100 %: CPI 4.1 in the mean; more mispredictions with more records" \
		"at 100 % more than at 1 %: instructions in $(share '>' per_record dss:uss:0.01 dss:uss:1), mispredictions for each instruction in $(share '>' $branches dss:uss:0.01 dss:uss:1); $(cycles dss uss 0 1)" shown \
		"$(pictured "the time breakdown")"
	verdict sh08.fig3.4 "uNJ, 1 to 100 %: CPI 2.95; 20 % is like TPC-H; selectivity affects uNJ more than uSS" \
		"at 100 % more than at 1 %: instructions in $(share '>' per_record dss:unj:0.01 dss:unj:1), mispredictions for each instruction in $(share '>' $branches dss:unj:0.01 dss:unj:1); $(cycles dss unj 0 1)" shown \
		"$(pictured "which selectivity is like TPC-H"). That selectivity affects uNJ more is about the time breakdown of one system"
	verdict sh08.fig3.5 "uNJ: more L1 instruction misses and mispredictions than uSS; uSS: L2 misses" \
		"at 20 %, for each instruction, more in uNJ: L1I misses in $(share '>' l1i_misses $scan $join), mispredictions in $(share '>' $branches $scan $join); more in uSS: last-level misses in $(share '<' llc_misses $scan $join)" shown \
		"$(pictured "the miss ratios of TPC-H, which is not run"). Caches differ in size and number"
	verdict sh08.fig3.6 "TPC-C with 150 warehouses: stalls are L2 data and L1 instruction misses" "not measured" shown \
		"$(pictured "TPC-C is not run")"
	judge_clients
	verdict sh08.fig3.8 "uIDX, 0.1 %: CPI 8.4, TPC-C 8.1; error of the miss rates 7.06 % with ten uIDX" \
		"$(cycles uidx uidx 0.0009 0.0011)" shown "$(pictured "the error is relative to TPC-C, which is not run")"
	note <<-END
	Time of a query in ms, and instructions per record of T1, CPI and misses per 1000 instructions, counted by $source${reason:+, since $reason}. uSS and
	uNJ: at 1, 20 and 100 %; uIDX: at 0.01 and 0.1 %, with one client and, for time and what the processor counts, with ten.

	| query | system | ms | instructions | CPI | mispredicted | L1D | L1I | last level |
	|---|---|---|---|---|---|---|---|---|
	$(ways dss uss 0.01 0.2 1)
	$(ways dss unj 0.01 0.2 1)
	$(ways uidx uidx 0.0001 0.001)
	$(ways uidx10 uidx 0.0001 0.001)
	END
}

# Figure 3.7: with clients only the counters of the processor see what they do to each other.
judge_clients()
{
	local more worth=shown why

	more=$(share '>' l1i_misses uidx:uidx:0.001 uidx10:uidx:0.001)
	why=$(pictured "caches differ")
	if [ "$source" = hw ]; then
		worth=$(all_of "$more")
		why="The direction alone. $why"
	else
		why="cachegrind has one client, so it cannot show what ten do to each other. $why"
	fi
	verdict sh08.fig3.7 "uIDX, 0.01 and 0.1 %: L1I misses 0.017, with ten at once 0.032 (TPC-C 0.036)" \
		"more L1I misses with ten clients than with one: $more; more time for a query: $(share '>' query_s uidx:uidx:0.001 uidx10:uidx:0.001)" \
		"$worth" "$why"
}

# flat FUNCTION: systems and queries of the table scale whose values differ by at most 10 %, as "n of m".
flat()
{
	local system query values n=0 m=0

	for system in $(names scale); do
		for query in uss unj; do
			values=$("$1" "$system" $query)
			[ -n "$values" ] || continue
			m=$((m + 1))
			if holds "$(largest <<<"$values") <= 1.1 * $(smallest <<<"$values")"; then n=$((n + 1)); fi
		done
	done
	echo "$n of $m"
}
# per_record SYSTEM QUERY: instructions per record of T1 at each scale.
per_record() { column scale per_record "v[\"system\"] == \"$1\" && v[\"query\"] == \"$2\" && v[\"per_record\"] != \"\""; }
# per_added SYSTEM QUERY: instructions per record by which a scale exceeds the one before.
per_added()
{
	paste <(column scale t1_records "v[\"system\"] == \"$1\" && v[\"query\"] == \"$2\" && v[\"instructions\"] != \"\"") \
		<(column scale instructions "v[\"system\"] == \"$1\" && v[\"query\"] == \"$2\" && v[\"instructions\"] != \"\"") |
		awk 'NR > 1 { print ($2 - i) / ($1 - r) } { r = $1; i = $2 }'
}

judge_scale()
{
	local system query text='' all values misses

	all=$(flat per_record)
	if [ "$all" = "0 of 0" ]; then
		verdict sh08.ch3-scale "behaviour is kept when scaled" "not counted" shown "no counters${reason:+: $reason}"
		return
	fi
	for query in uss unj; do
		for system in $(names scale); do
			values=$(per_record "$system" $query | awk '{ printf "%s%.4g", (NR > 1 ? ", " : ""), $1 }')
			misses=$(column scale llc_misses "v[\"system\"] == \"$system\" && v[\"query\"] == \"$query\"" |
				awk '{ printf "%s%.2g", (NR > 1 ? ", " : ""), $1 }')
			[ -z "$values" ] || text+="| $query | $system | $values | $(per_added "$system" $query | awk '{ printf "%s%.4g", (NR > 1 ? ", " : ""), $1 }') | $misses |"$'\n'
		done
	done
	note <<-END
	Instructions at scales 1, 2, 4 and 10 times $scale, 20 % of T1, counted by $source:

	| query | system | per record of T1 | per record added | last-level misses per 1000 instructions |
	|---|---|---|---|---|
	$text
	END
	verdict sh08.ch3-scale "behaviour is kept when scaled" \
		"instructions per record of T1 at scales 1, 2, 4, 10 times $scale: flat in $all; per record added: flat in $(flat per_added)" \
		"$(all_of "$all")" \
		"wanted: within 10 % for each system and query, at 20 %. What a query takes whatever the size counts in the first number, not in the second"
}

# tables: T1 and T2 of xgen beside what section 3.4 prescribes, as lines "name value expected sd" of the table ch3-tables.
tables()
{
	"$xgen" t1 --scale="$scale" -o "$work/t1" && "$xgen" t2 --scale="$scale" -o "$work/t2" || die "failed: xgen"
	awk -F'|' '
	FILENAME != file { file = FILENAME; table++ }
	# p: share of rows of T1 within bounds; lo and hi are strict.
	BEGIN { n = split("0.0001 0.01 0.2", share, " "); for (i = 1; i <= n; i++) { lo[i] = 7000; hi[i] = 7001 + 20000 * share[i] } }
	{ rows[table]++; a2[table, int(($2 - 1) / 200)]++; a3[table, $3]++ }
	table == 1 {
		per[$1]++
		for (i = 1; i <= n; i++)
			if ($2 > lo[i] && $2 < hi[i]) {
				met[i]++
				distinct[i] += !((i, $3) in seen); seen[i, $3]
				owners[i] += !((i, $1) in owned); owned[i, $1]
				pages[i] += !((i, int((NR - 1) / 81)) in touched); touched[i, int((NR - 1) / 81)]
			}
	}
	table == 2 { times[per[$1] + 0]++; key_bad += $1 != FNR }
	function line(name, value, expected, sd) { printf "%s,%.10g,%.10g,%.6g\n", name, value, expected, sd }
	# Wilson and Hilferty: the cube root of chi-square over its degrees is nearly normal.
	function chi(name, sum, df) { line(name, (sum / df) ^ (1 / 3), 1 - 2 / (9 * df), sqrt(2 / (9 * df))) }
	function parts(count, t, from, n,  i, sum, e) {
		e = rows[t] / n
		for (i = from; i < from + n; i++)
			sum += (count[t, i] - e) ^ 2 / e
		return sum
	}
	END {
		print "name,value,expected,sd"
		line("keys_out_of_order", key_bad + 0, 0, 0)
		for (x = 1; x <= 7; x++) sum += (times[x] - rows[2] / 7) ^ 2 / (rows[2] / 7)
		chi("chi_multiplicity", sum, 6)
		for (t = 1; t <= 2; t++) { chi("chi_a2_T" t, parts(a2, t, 0, 100), 99); chi("chi_a3_T" t, parts(a3, t, 1, 50), 49) }
		line("rows_T1", rows[1], 4 * rows[2], 2 * sqrt(rows[2]))
		full = int(rows[1] / 81)
		for (i = 1; i <= n; i++) {
			s = share[i]; k = met[i]
			line("rows_" 100 * s, k, rows[1] * s, sqrt(rows[1] * s * (1 - s)))
			q = (1 - 1 / 50) ^ k; r = (1 - 2 / 50) ^ k
			v = 50 * q * (1 - q) + 50 * 49 * (r - q * q)
			line("distinct_" 100 * s, distinct[i], 50 * (1 - q), sqrt(v > 0 ? v : 0))
			miss = 0; for (x = 1; x <= 7; x++) miss += (1 - s) ^ x / 7
			line("owners_" 100 * s, owners[i], rows[2] * (1 - miss), sqrt(rows[2] * miss * (1 - miss)))
			q = (1 - s) ^ 81; r = (1 - s) ^ (rows[1] - 81 * full) # the last page is not full
			line("pages_" 100 * s, pages[i], full * (1 - q) + 1 - r, sqrt(full * q * (1 - q) + r * (1 - r)))
		}
	}' "$work/t1" "$work/t2" >"$out/$paper-ch3-tables.csv"
	rm "$work/t1" "$work/t2"
}

judge_tables()
{
	local good bad complete cells

	good=$(column ch3-tables name '(v["value"] - v["expected"]) ^ 2 <= (4 * v["sd"] + 1e-9) ^ 2' | wc -l)
	bad=$(column ch3-tables name '!((v["value"] - v["expected"]) ^ 2 <= (4 * v["sd"] + 1e-9) ^ 2)' | paste -sd' ')
	verdict sh08.ch3-tables "a1 has 1 to 7 rows in T1, a2 is uniform to 20,000, a3 to 50" \
		"$good of $(column ch3-tables name | wc -l) numbers within 4 standard deviations${bad:+; not $bad}" \
		"$(constructed "$(outcome "\"$bad\" == \"\"")")" \
		"chi-square of rows per a1, of a2 in 100 classes and of a3; rows, distinct a3, records of T2 and pages at 0.01, 1 and 20 %. Scale $scale"
	cells=$(for t in dss uidx uidx10; do column "$t" system; done | wc -l)
	complete=$(for t in dss uidx uidx10; do column "$t" system 'v["query_s"] != ""'; done | wc -l)
	verdict sh08.ch3-tables-answers "uSS, uNJ and uIDX are defined by their SQL" \
		"$complete of $cells cells were measured; all their answers equal those of the generated table" \
		"$(all_of "$complete of $cells")" "dbmbench compares each answer of each unit; averages to 12 digits. Systems: $(names dss | paste -sd' ')"
}
