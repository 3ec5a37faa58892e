#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# xgroup --explain: the plan, and whether what it predicts is what a run does.
. "$BATS_TEST_DIRNAME/suite.bash"

setup()
{
	begin_test tmp
}

# compare OPTION...: plans and groups; the plan must have the run's records and groups, within 10 %, its partial
# totals, within 15 %, and say whether there is temporary data.
compare()
{
	"$xgroup" "$@" --explain --stats=p.json >planned
	[ ! -s planned ]
	"$xgroup" "$@" --stats=r.json -o out
	jq -n -e --slurpfile p p.json --slurpfile r r.json 'def near($a; $b; $share): ($a - $b | fabs) <= $share * $b + 1;
		$p[0].plan as $p | $r[0].result as $r |
		near($p.records; $r.records; 0.1) and near($p.groups; $r.groups; 0.1) and near($p.partials; $r.partials; 0.15)
		and $p.in_memory == ($r.spilled_runs == 0)' ||
		{ cat p.json r.json; return 1; }
}

@test "predicted groups, partial totals and spilling are those of the run" {
	needs jq
	# Few groups; all different; each about 5 times, in any order.
	awk 'BEGIN { for (srand(1); i < 150000; i++) print i % 50, i, (i * 7919) % 300007, int(30000 * rand()) }' >in
	for threads in $(few 1 2); do
		for memory in 1M 200M; do
			compare -S $memory --parallel="$threads" -k 1 -a 'count(), sum(2)' in
			compare -S $memory --parallel="$threads" -k 3 -a 'count(), sum(2)' in
			compare -S $memory --parallel="$threads" -k 4 -a 'count(), mean(2)' in
			compare -S $memory --parallel="$threads" -k 1 -a 'list(2)' in
		done
		[ "$(value in_memory p.json)" = true ]
		compare -S 1M --parallel="$threads" -k 3 --largest=2 -k 4 in
		[ "$(value in_memory p.json)" = false ]
	done
}

# bats test_tags=one-thread
@test "a table, and a short input that is read as a whole" {
	needs jq
	seq 200000 | awk 'BEGIN { print "a,b,c" } { print $1 % 1000 "," ($1 * 7919) % 300007 "," $1 / 8 }' >in.csv
	"$xtable" load --csv --header t in.csv
	compare -S 4M -k a -a 'sum(c)' t
	compare -S 4M -k b -a 'sum(c)' t
	[ "$(value source_bytes p.json)" = 1048576 ]
	printf '%s\n' a,b 1,x 2,y 1,z >short.csv
	"$xgroup" --csv --header -k a --explain --stats=p.json short.csv
	jq -e '.plan | .records == 3 and .groups == 2 and .sample_records == 3 and .sample_groups == 2 and .partials == 2 and
		.in_memory and .threads == 1' p.json
	printf '1 a\n2 b\n' >lines
	"$xgroup" -k 1 --where '$1 > 1' --explain --stats=p.json lines
	jq -e '.plan | .records == 2 and .groups == 1' p.json
}

# bats test_tags=one-thread
@test "the plan in words; nothing is written" {
	seq 300000 | awk '{ print ($1 * 7919) % 300007, $1 }' >in
	"$xgroup" -S 2M -k 1 --explain -o out in 2>plan >printed
	[ ! -e out ]
	[ ! -s printed ]
	[ -z "$(ls tmp)" ]
	grep -q '^  The input in, .* MiB, has about [0-9]* records\.$' plan
	grep -q 'temporary files\.$' plan
	grep -q '^  Temporary space: about .* MiB needed; .* free\.  More memory (-S) reduces that\.$' plan
	"$xgroup" -k 1 --explain --order='count():r' in 2>&1 | grep -q 'for the sort of rows'
	seq 10 | "$xgroup" -k 1 --explain 2>&1 | grep -q 'There is no sample'
	seq 10 >in
	"$xgroup" -k 1 --explain in 2>&1 | grep -q 'no temporary files'
}

@test "what the command refuses, the plan refuses" {
	printf 'a b\n1 2\n' >in
	fails_with "xgroup: no column has the name 'c'; the nearest one is 'a'" "$xgroup" --header -k c --explain in
	run -2 "$xgroup" -k 1 --explain missing
	[[ $output = *"missing: No such file"* ]]
	run -2 "$xgroup" -k 1 --explain --plot=x.png in
	[[ $output = *"--explain"* ]]
}
