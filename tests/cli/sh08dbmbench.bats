#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# bats file_tags=slow
#
# Shao 2008, chapter 3, in small: scripts/experiments/sh08dbmbench with one system and without counters, and its rules on
# measurements written here.
. "$BATS_TEST_DIRNAME/suite.bash"

setup()
{
	begin_test
	export EXPERIMENTS_DIR=$BATS_TEST_TMPDIR/out SP_BUILD=$build DBMBENCH=$dbmbench XGEN=$xgen
	root=${BATS_TEST_DIRNAME%/tests/cli}
}

# judging: the functions of the script, an empty table, and the tables that these tests write.
judging()
{
	. "$root/scripts/experiments/lib.bash"
	. "$root/scripts/experiments/sh08dbmbench-rows.bash"
	set +u
	paper=sh08dbmbench work=$BATS_TEST_TMPDIR source=sim reason=
}
# line TABLE QUERY ASKED SYSTEM RECORDS QUERY_S INSTRUCTIONS CPI BRANCHES
line()
{
	local file=$out/$paper-$1.csv

	[ -e "$file" ] || cells "$file" </dev/null
	echo "$2,$3,$3,$4,1,$5,$6,$7,$(calc "$7 / $5"),$8,$9,1,1,1" >>"$file"
}
verdict_of() { awk -F'\t' -v id="sh08.$1" '$1 == id { print $4 }' "$EXPERIMENTS_DIR/sh08dbmbench.rows"; }
here() { awk -F'\t' -v id="sh08.$1" '$1 == id { print $3 }' "$EXPERIMENTS_DIR/sh08dbmbench.rows"; }

@test "the script measures each cell, and claims nothing that was not counted" {
	run -0 env SCALE=0.001 SYSTEMS=text COUNTERS=none "$root/scripts/experiments/run" sh08dbmbench
	[ "$(verdict_of ch3-tables)" = "by construction" ]
	[ "$(verdict_of ch3-tables-answers)" = yes ]
	[[ "$(here ch3-tables-answers)" == "20 of 20 cells"* ]]
	for row in fig3.2 fig3.3 fig3.4 fig3.5 fig3.6 fig3.7 fig3.8 ch3-scale; do
		[ "$(verdict_of $row)" = shown ]
	done
	[ "$(here ch3-scale)" = "not counted" ]
	[ "$(wc -l <"$EXPERIMENTS_DIR/sh08dbmbench-dss.csv")" = 13 ]
	[ "$(wc -l <"$EXPERIMENTS_DIR/sh08dbmbench-uidx10.csv")" = 5 ]
	awk -F, 'FNR > 1 && !($7 > 0 && $7 < 10 && $8 == "") { exit 1 }' "$EXPERIMENTS_DIR"/sh08dbmbench-{dss,uidx,uidx10,scale}.csv
	[ -z "$(ls -d "$EXPERIMENTS_DIR"/tmp.* 2>/dev/null)" ]
}

@test "cells of a report become lines" {
	needs jq
	judging
	"$dbmbench" run --systems=text --scale=0.001 --unit=1 --repeat=2 --counters=none -o "$work/run" >/dev/null
	"$root/scripts/report-fields" "$work/run/report.json" | cells "$out/$paper-dss.csv"
	[ "$(column dss query_s 'v["query"] == "unj"' | awk '{ printf "%.9g", $1 }')" = \
		"$(jq '.cells[1].query_s' "$work/run/report.json" | awk '{ printf "%.9g", $1 }')" ]
	[ "$(column dss system | sort -u)" = text ]
	[ "$(column dss t1_records | sort -u)" = "$(jq .tables.t1_records "$work/run/report.json")" ]
	[ -z "$(at dss per_record text unj 0.2)" ]
}

@test "instructions for each record are flat if they differ by 10 % at most" {
	judging
	for records in 1000 2000 4000 10000; do
		line scale uss 0.2 flat $records 1 $((records * 100 + 5000)) "" 1
		line scale unj 0.2 start $records 1 $((records * 100 + 50000)) "" 1
		line scale uss 0.2 square $records 1 $((records * records)) "" 1
	done
	[ "$(flat per_record) $(flat per_added)" = "1 of 3 2 of 3" ]
	judge_scale
	[ "$(verdict_of ch3-scale)" = no ]
	rm "$out/$paper-scale.csv"
	for records in 1000 2000 4000 10000; do
		line scale uss 0.2 flat $records 1 $((records * 100)) "" 1
	done
	: >"$out/$paper.rows"
	judge_scale
	[ "$(verdict_of ch3-scale)" = yes ]
	grep -q '^| uss | flat | 100, 100, 100, 100 | 100, 100, 100 |' "$out/$paper.notes"
}

@test "only the processor's counters show what clients do to each other" {
	judging
	line uidx uidx 0.001 s 1000 1 1000 1 1
	line uidx10 uidx 0.001 s 1000 1 1000 1 1
	judge_clients
	[ "$(verdict_of fig3.7)" = shown ]
	: >"$out/$paper.rows"
	source=hw
	judge_clients
	[ "$(verdict_of fig3.7)" = no ]
	sed -i '$s/1,1,1$/1,2,1/' "$out/$paper-uidx10.csv"
	: >"$out/$paper.rows"
	judge_clients
	[ "$(verdict_of fig3.7)" = yes ]
}

@test "shares say which way the systems go" {
	judging
	line dss uss 0.2 a 1000 1 1000 2.5 1
	line dss unj 0.2 a 1000 1 1000 3.5 2
	line dss uss 0.2 b 1000 1 1000 1.5 1
	line dss unj 0.2 b 1000 1 1000 2 0.5
	[ "$(share '>' branch_misses dss:uss:0.2 dss:unj:0.2)" = "1 of 2 systems" ]
	[ "$(share '>' cpi dss:uss:0.2 dss:unj:0.2)" = "2 of 2 systems" ]
	[ "$(share '<' per_record dss:uss:0.2 dss:unj:0.2)" = "0 of 2 systems" ]
	[ "$(share '<' per_record dss:uss:0.1 dss:unj:0.2)" = "none counted" ]
	[ "$(cycles dss unj 0 1)" = "CPI 2 to 3.5" ]
}

@test "tables that are not those of the thesis are seen" {
	judging
	cat >"$work/skewed" <<-END
		#!/bin/sh
		"$xgen" "\$@" || exit
		for file; do :; done
		awk -F'|' -v OFS='|' '{ \$2 = int((\$2 * \$2) / 20000) + 1; if (\$2 > 20000) \$2 = 20000 } 1' "\$file" >"\$file.new"
		mv "\$file.new" "\$file"
	END
	chmod +x "$work/skewed"
	scale=0.01
	tables
	dbm_rows() { for t in dss uidx uidx10; do line $t uss 0.2 a 1000 1 1000 2.5 1; done; }
	dbm_rows
	judge_tables
	[ "$(verdict_of ch3-tables)" = "by construction" ]
	xgen=$work/skewed
	tables
	: >"$out/$paper.rows"
	judge_tables
	[ "$(verdict_of ch3-tables)" = no ]
	[[ "$(here ch3-tables)" == *"not "*chi_a2_T1* ]]
}
