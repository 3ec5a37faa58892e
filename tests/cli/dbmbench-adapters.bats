#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# bats file_tags=slow
#
# The adapters that dbmbench ships give the answers of awk.  An adapter whose system is not installed
# is skipped.
. "$BATS_TEST_DIRNAME/suite.bash"

adapters=${DBMBENCH_ADAPTERS:-${BATS_TEST_DIRNAME%/tests/cli}/tools/dbmbench/adapters}

setup()
{
	begin_test
	mkdir tools
	ln -s "$xindex" "$xjoin" "$xsort" "$xtable" tools
	PATH=$PWD/tools:$PATH
}

teardown() { [ -z "$name" ] || call drop; }

# use NAME: the adapter of this test, and its folder.
use()
{
	name=$1
	mkdir -p "the data" "work of/$name"
	export DBM_T1="$PWD/the data/T1" DBM_T2="$PWD/the data/T2" DBM_FOLDER="$PWD/work of/$name"
	export DBM_PARALLEL=2 DBM_RECORD_BYTES=40 DBM_WRAP="" DBM_COUNTERS=""
	# Servers of root run as another user.
	chmod a+x "$BATS_RUN_TMPDIR" "$BATS_TEST_TMPDIR"
	run --separate-stderr call version
	[ "$status" = 0 ] || skip "${stderr##*/adapters/}"
	[[ ${#lines[@]} == 1 && $output == *" "[0-9]* || $output == *"(Spindle) "* ]]
}

# call VERB...: in the system's folder; a server does not hold descriptor 3, which bats waits for.
call() { (cd "$DBM_FOLDER" && exec "$adapters/$name" "$@" 3>&-); }

# T1 has records at all bounds of questions, with a value of their own.  Padding has characters that
# CSV and SQL give a meaning.
tables()
{
	questions | awk -v t1="$DBM_T1" -v t2="$DBM_T2" '
	function draw(n) { seed = (seed * 16807) % 2147483647; return seed % n }
	function row(k) { return k "|" 1 + draw(20000) "|" 1 + draw(50) "|" padding[draw(4)] }
	BEGIN {
		seed = 2008
		padding[0] = "\"begins with a quote, ends not"
		padding[1] = "\\N \\. \\t are escapes with COPY"
		padding[2] = " blanks, one quote'\'' and 100 %; "
		padding[3] = "\"between quotes, with one \" in "
		for (i = 0; i < 4; i++)
			padding[i] = substr(padding[i] "............................", 1, 28)
		for (k = 1; k <= 2000; k++) {
			print row(k) >t2
			for (n = 1 + draw(7); n > 0; n--)
				print row(k) >t1
		}
		for (k = 3000; k < 3100; k++)
			print row(k) >t1 # without a partner
	}
	{ print "1|" $2 "|51|" padding[0] >t1; print "2|" $3 "|51|" padding[1] >t1 }'
}

questions()
{
	cat <<-EOF
		uss 0 20001
		uss 5000 5050
		uss 7000 7004
		uss 300 301
		unj 0 20001
		unj 1000 5001
		unj 7000 7100
		unj 300 301
		uidx 0 20001
		uidx 400 440
		uidx 9000 9021
		uidx 300 301
	EOF
}

# The answers of awk, which reads the tables of the test.
truth()
{
	questions | while read -r query lo hi; do
		awk -F'|' -v query="$query" -v lo="$lo" -v hi="$hi" '
		NR == FNR { partners[$1]++; next }
		$2 <= lo || $2 >= hi { next }
		{ n = query == "unj" ? partners[$1] : 1; sum += n * $3; count += n; seen[$3] }
		END {
			for (i = 1; i <= 51; i++)
				if (i in seen)
					list = list (list == "" ? "" : ",") i
			if (query == "uss")
				print list
			else if (count)
				printf "%.15g\n", sum / count
			else
				print "null"
		}' "$DBM_T2" "$DBM_T1"
	done
}

# are_true FILE: the answers are those of truth; averages to 12 digits.
are_true()
{
	awk -v got="$1" '
	{ if ((getline answer <got) <= 0) { print "no answer to question " NR; bad = 1; exit } }
	answer == $0 { next }
	answer ~ /^[0-9.]+$/ && $0 ~ /^[0-9]+\./ && (answer - $0) ^ 2 < (5e-12 * $0) ^ 2 { next }
	{ print "question " NR ": " answer ", not " $0; bad = 1 }
	END {
		if ((getline answer <got) > 0) { print "another answer: " answer; bad = 1 }
		exit bad
	}' truth
}

# have_ended: the processes of standard input do not run.  Their parent may still read their status.
have_ended()
{
	local pids pid try

	mapfile -t pids
	for pid in "${pids[@]}"; do
		for try in {1..50}; do
			grep -qs '^State:.*[^Z] (' "/proc/$pid/status" || break
			sleep 0.1
		done
		[ "$try" -lt 50 ]
	done
}

# is_right PROGRAM...: all verbs of the adapter, and what they leave behind.  These programs work in run.
is_right()
{
	tables
	truth >truth
	call load
	call load
	call index T2 a1
	call index T1 a2
	questions | call run >answers1 & # two clients
	questions | call run >answers2
	wait $!
	are_true answers1
	are_true answers2
	call run </dev/null >nothing
	[ ! -s nothing ]
	call cold
	touch ran
	chmod a+w ran
	# shellcheck disable=SC2016
	echo 'echo "${1##*/}" >>'"'$PWD/ran'"'; exec "$@"' >wrap
	export DBM_COUNTERS=sim DBM_WRAP="sh ../../wrap"
	questions | call run >answers
	are_true answers
	[ "$(sort -u ran)" = "$(printf '%s\n' "$@")" ]
	run ! call run <<<"unknown 1 2"
	export DBM_COUNTERS="" DBM_WRAP=""
	run -2 --separate-stderr call unknown
	[[ $stderr == *"unknown verb: unknown" ]]
	call pids >servers
	call drop
	call drop
	[ -z "$(ls -A "$DBM_FOLDER")" ]
	call pids >nothing
	[ ! -s nothing ]
	have_ended <servers
}

# plans [WORD]: the plans name tables and operators; the plan of uidx has WORD.
plans()
{
	tables
	call load
	[[ "$(call plan uss 0 20001)" == *[Ss][Cc][Aa][Nn]*[Tt]1* ]]
	call index T2 a1
	call plan unj 1000 5001 | tee plan
	grep -i '\bT1\b' plan
	grep -i '\bT2\(\b\|_\)' plan
	grep -iE 'join|loop|search' plan
	call index T1 a2
	call plan uidx 400 410 | tee plan
	grep -i "${1-index}" plan
}

@test "text" {
	use text
	is_right awk xindex xjoin xsort
	plans
}

@test "xtable-nsm" {
	use xtable-nsm
	is_right awk xjoin xsort xtable
	plans
}

@test "xtable-dsm" {
	use xtable-dsm
	is_right awk xjoin xsort xtable
	plans
}

@test "xtable-pax" {
	use xtable-pax
	is_right awk xjoin xsort xtable
	plans
}

@test "xtable-csm" {
	use xtable-csm
	is_right awk xjoin xsort xtable
	plans
}

@test "sqlite3" {
	use sqlite3
	is_right sqlite3
	plans
}

@test "duckdb" {
	use duckdb
	if [[ $output == *program* ]]; then is_right duckdb; else is_right python3; fi
	plans T1 # its indexes find single values, not ranges
}

@test "postgres" {
	use postgres
	is_right postgres
	plans
	[ "$(call pids | wc -l)" -gt 1 ]
}

@test "an answer without a table is an error" {
	for name in text xtable-csm; do
		use $name
		tables
		call load
		rm -f "$DBM_T2" "$DBM_FOLDER/tables/T2"
		run ! call run <<<"unj 0 20001"
		call drop
	done
}

@test "a system that is not installed gives one line as the reason" {
	use text
	mkdir bare
	for program in bash env id ls sed sh sort tail; do
		ln -s "$(command -v $program)" bare
	done
	for name in text xtable-nsm sqlite3 duckdb; do
		run ! --separate-stderr env PATH="$PWD/bare" "$adapters/$name" version
		[[ -z $output && -n $stderr && $stderr != *$'\n'* ]]
	done
}
