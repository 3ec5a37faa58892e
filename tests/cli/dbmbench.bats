#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
. "$BATS_TEST_DIRNAME/suite.bash"

# A system in which awk answers, and which the variable BAD makes fail in a certain way.
make_adapter() # NAME
{
	cat >"$1" <<-'EOF'
		#!/bin/sh
		answer()
		{
			awk -F'|' -v q="$1" -v lo="$2" -v hi="$3" '
				$2 > lo && $2 < hi { n++; s += $3; seen[$3] = 1 }
				END {
					if (q == "uss")
						for (i = 1; i <= 50; i++)
							if (i in seen) { printf "%s%d", comma, i; comma = "," }
					if (q == "uss") print ""
					else if (n) printf "%.15g\n", s / n
					else print "null"
				}' "$DBM_T1"
		}
		case $BAD-$1 in absent-version) echo "it is not installed" >&2; exit 1 ;;
		load-load | index-index | plan-plan) echo "no $1 today" >&2; exit 7 ;;
		hang-run) [ -s /dev/stdin ] && { sleep 300 & echo $! >"$PIDS"; sleep 300; } ;;
		few-run) read -r q && exit 0 ;;
		pids-pids) echo none; exit 0 ;;
		simulated-run) [ -z "$DBM_WRAP" ] || { echo cut >../sim/cut.out; echo "it was cut" >&2; exit 7; } ;;
		wrong-run) while read -r q; do echo 5; done; exit 0 ;;
		garbage-run) while read -r q; do echo "Error: database is locked"; done; exit 0 ;;
		many-run) while read -r q lo hi; do answer $q $lo $hi; echo; done; exit 0 ;;
		killed-run) read -r q && kill -KILL $$ ;;
		esac
		case $1 in
		version) echo "awk 1" ;;
		load) [ -r "$DBM_T1" ] && [ -r "$DBM_T2" ] && cp "$DBM_T2" copy; echo "$$ $PWD" ;;
		index) echo "$2 $3" >>indexes ;;
		run) while read -r q lo hi; do answer $q $lo $hi; done ;;
		plan) [ "$BAD" != noplan ] || { echo "t1 scan"; exit; }; echo "scan of T1, loop with T2, index" ;;
		pids | cold) ;;
		drop) echo dropped >>"$DROPS"; rm -f copy indexes ;;
		*) echo "unknown verb: $1" >&2; exit 2 ;;
		esac
	EOF
	chmod +x "$1"
}

setup()
{
	begin_test
	export DROPS=$PWD/drops PIDS=$PWD/pids BAD=
	make_adapter ./awk
	cp awk "b w k"
	# few records, so that each test is quick
	few=(--scale=0.001 --repeat=2 --unit=2 --counters=none)
}

# Nothing is left of a run but its results.
clean() # FOLDER
{
	[ ! -e "$1/work" ]
	[ "$(ls "$1")" = "$(printf '%s\n' logs report.json results.csv table.md)" ] || [ "$(ls "$1")" = logs ]
}

@test "two systems are measured with equal queries, and answers are compared" {
	needs jq
	run -0 "$dbmbench" run --systems="./awk,./b w k" "${few[@]}" -o out
	[[ $output == *"uss "*" awk "*"uss "*" b w k "*"unj "*"uidx "* ]]
	clean out
	[ "$(wc -l <drops)" = 2 ]
	jq -e '.cells | length == 6 and all(.units == 2 and .query_s > 0 and .plan_lacks == null)' out/report.json
	jq -e '.units | length == 12' out/report.json
	jq -e '.tables.t2_records == 150 and .config.unit == 2 and .counters.source == "none"' out/report.json
	# the queries of a round are the same for both
	jq -e '[.units[] | select(.cell < 2)] | group_by(.round) | all(map(.true_selectivity) | unique | length == 1)' \
		out/report.json
	[ "$(wc -l <out/results.csv)" = 7 ]
	grep -q '^| uidx ' out/table.md
	[ "$(cat "out/logs/awk-index.out")" = "" ]
}

@test "a run of one query makes only the indexes that it needs" {
	run -0 "$dbmbench" run --systems=./awk --queries=unj --selectivity=5,50 "${few[@]}" -o out
	[ "$(grep -c '^unj ' <<<"$output")" = 2 ]
	run -0 "$dbmbench" run --systems=./awk --queries=uss "${few[@]}" -o out
	[ ! -e out/logs/awk-index.out ] || [ "$(stat -c %Y out/logs/awk-index.out)" -le "$(date +%s)" ]
}

@test "clients ask at the same time, each with bounds of its own" {
	needs jq
	run -0 "$dbmbench" run --systems=./awk --queries=uidx --selectivity=10 --clients=3 "${few[@]}" -o out
	[ "$(sort -u out/logs/awk-run.[123].in | wc -l)" = 6 ]
	jq -e '.config.clients == 3' out/report.json
}

@test "cold units begin with the verb cold" {
	sed -i 's/pids | cold) ;;/pids) ;; cold) echo cold >>"$DROPS" ;;/' awk
	run -0 "$dbmbench" run --systems=./awk --queries=uss --cold "${few[@]}" -o out
	[ "$(grep -c cold drops)" = 2 ]
	run -2 "$dbmbench" run --systems=./awk --cold --warm -o out
	[[ $output == *"are incompatible"* ]]
}

@test "an absent system is a row, and the others are measured" {
	needs jq
	sed 's/$BAD-/absent-/' awk >gone && chmod +x gone
	run -0 "$dbmbench" run --systems=./gone,./awk --queries=uss "${few[@]}" -o out
	[[ $output == *"gone"*"absent: it is not installed"* ]]
	clean out
	jq -e '.systems[0] | .version == null and .load_s == null and .empty.wall_s == null' out/report.json
	printf '#!/bin/sh\n' >silent
	printf '#!/no/such/shell\n' >odd
	chmod +x silent odd
	run -0 "$dbmbench" run --systems=./silent,./odd,./awk --queries=uss "${few[@]}" -o out
	[[ $output == *"silent"*"absent: verb version printed nothing"*"odd"*"absent: No such file or directory"* ]]
	run -2 "$dbmbench" run --systems=./gone "${few[@]}" -o out
	[[ $output == *"no system works here"*"it is not installed"* ]]
	clean out
}

@test "a system that fails or hangs is left out, and the others go on" {
	needs jq
	for bad in load index plan killed hang pids; do
		: >drops
		sed "s/\$BAD-/$bad-/" awk >bad && chmod +x bad
		run -1 "$dbmbench" run --systems=./bad,./awk --timeout=1 "${few[@]}" -o out
		[[ $output == *"bad was skipped: verb "* ]]
		[ "$bad" != pids ] || [[ $output == *"printed none, which is not the number of a process"* ]]
		[ "$bad" != load ] || [[ $output == *"verb load ended with status 7: no load today"* ]]
		[ "$bad" != hang ] || [[ $output == *"verb run has not ended after 1 s"* ]]
		[ "$bad" != killed ] || [[ $output == *"was ended by signal 9"* ]]
		clean out
		[ "$(wc -l <drops)" = 2 ]
		jq -e '.cells | map(select(.system == "awk")) | all(.units == 2)' out/report.json
		rm -r out
	done
	read -r _ _ state _ <"/proc/$(cat pids)/stat" || state=gone
	[[ $state == [Zg]* ]]
}

@test "wrong answers end the run, and show what is right" {
	for bad in wrong garbage few many; do
		sed "s/\$BAD-/$bad-/" awk >bad && chmod +x bad
		run -2 "$dbmbench" run --systems=./awk,./bad --queries=uidx --selectivity=20 "${few[@]}" -o out
		case $bad in
		few) [[ $output == *"there are 0 answers to 2 queries"* ]] ;;
		many) [[ $output == *"answer 2, to uidx "*"more answers than"* || $output == *"answer 2, "* ]] ;;
		wrong) [[ $output == *"answer 1, to uidx "*" is '5'; the generated table gives '"* ]] ;;
		garbage) [[ $output == *"'Error: database is locked'"* ]] ;;
		esac
		[ ! -e out/work ]
		rm -r out
	done
}

@test "a plan without what the query is about is marked" {
	sed 's/"\$BAD" != noplan/noplan != noplan/' awk >odd && chmod +x odd
	run -1 "$dbmbench" run --systems=./odd --queries=unj "${few[@]}" -o out
	[[ $output == *"its plan lacks T2"* ]]
}

@test "an interrupted run reports what it measured, and leaves nothing" {
	needs jq
	sed 's/^\t*run) while/run) sleep 0.2; while/' awk >slow && chmod +x slow
	"$dbmbench" run --systems=./slow --repeat=1000 --scale=0.001 --unit=1 --counters=none -o out >text 2>&1 &
	for _ in {1..100}; do
		[ -s out/logs/slow-run.in ] && break
		sleep 0.1
	done
	sleep 1.5
	kill -TERM $!
	wait $! || true
	[[ $(<text) == *"stopped early"* ]]
	clean out
	jq -e '.result.stopped and (.units | length > 0)' out/report.json
	[ "$(wc -l <drops)" = 1 ]
}

@test "bad options are refused with the reason" {
	refuse()
	{
		local reason=$1
		shift
		run -2 "$dbmbench" run "$@"
		[[ $output == *"$reason"* ]]
	}
	refuse "a folder is expected: -o DIR" --systems=./awk
	refuse "there is no such system" --systems=nosuch -o out
	refuse "two systems have one name" --systems=./awk,./awk -o out
	refuse "No such file" --systems=./missing -o out
	refuse "--queries" --queries=uxx -o out
	refuse "a selectivity is above 0" --selectivity=0 -o out
	refuse "--selectivity" --selectivity=200 -o out
	refuse "--scale" --scale=0 -o out
	refuse "--record-size" --record-size=12 -o out
	refuse "does not end in .png, .svg or .pdf" --plot=x.txt -o out
	mkdir -p other/work
	refuse "belongs to another run" --systems=./awk -o other
	[ -d other/work ]
	touch file
	refuse "file" --systems=./awk -o file
	chmod -x awk
	refuse "Permission denied" --systems=./awk -o out
}

@test "the systems of a folder are listed, those that work first" {
	mkdir adapters
	mv awk "b w k" adapters
	sed 's/$BAD-/absent-/' adapters/awk >adapters/a-gone && chmod +x adapters/a-gone
	cp adapters/awk adapters/no.adapter
	cp adapters/awk adapters/plain && chmod -x adapters/plain
	# A server can be another user's, which has to enter the folder.
	printf '#!/bin/sh\necho "mode $(stat -c %%a ..) in $PWD"\n' >adapters/mode && chmod +x adapters/mode
	TMPDIR=$PWD run -0 "$dbmbench" systems --adapters=adapters
	[[ ${lines[0]} =~ ^"awk "\ *"awk 1"$ && ${lines[1]} =~ ^"b w k "\ *"awk 1"$ ]]
	[[ ${lines[2]} =~ ^"mode "\ *"mode 755 in "(.*)/mode$ ]]
	[ ! -e "${BASH_REMATCH[1]}" ]
	[[ ${lines[3]} =~ ^"a-gone "\ *"absent: it is not installed"$ ]]
	[[ ${lines[4]} =~ ^"plain "\ *"absent: ".*"Permission denied"$ && ${#lines[@]} = 5 ]]
	# A run takes those that work.
	run -0 "$dbmbench" run --adapters=adapters --systems=awk --queries=uss "${few[@]}" -o out
	rm adapters/mode
	run -0 "$dbmbench" run --adapters=adapters --queries=uss "${few[@]}" -o out
	[ "$(grep -c '^uss ' <<<"$output")" = 2 ]
	run -2 "$dbmbench" systems --adapters=missing
	[[ $output == *"missing"*"No such file"* ]]
	rm adapters/awk "adapters/b w k"
	run -2 "$dbmbench" run --adapters=adapters -o out
	[[ $output == *"no system works here; "*"dbmbench systems"* ]]
}

@test "an adapter that is a link is called by the name of the link" {
	needs jq
	sed 's|echo "awk 1"|echo "${0##*/} 1"|' awk >named && chmod +x named
	ln -s named linked
	run -0 "$dbmbench" run --systems=./linked --queries=uss "${few[@]}" -o out
	jq -e '.systems[0] | .name == "linked" and .version == "linked 1"' out/report.json
}

@test "two reports are compared" {
	needs jq
	for i in 1 2; do
		run -0 "$dbmbench" run --systems=./awk --seed=$i "${few[@]}" -o out$i
	done
	run -0 "$dbmbench" compare --json out1/report.json out2/report.json
	jq -e '.schema == "spindle.dbmbench-comparison/1" and (.rows | length == 3)
		and (.rows | all(.ratio > 0 and .ratio_low < .ratio))' <<<"$output"
	"$dbmbench" compare --stats=s out1/report.json out2/report.json >table
	jq -S . s | cmp - <(jq -S . <<<"$output")
	"$dbmbench" compare --stats out1/report.json out2/report.json 2>text | cmp - table
	grep -q ratio text
	run -2 "$dbmbench" compare --stats=out1/report.json out1/report.json out2/report.json
	run -0 "$dbmbench" compare out1/report.json out2/report.json
	[[ $output == *uidx* ]]
	run -2 "$dbmbench" compare out1/report.json awk
	[[ $output == *"awk"* ]]
}

@test "cachegrind counts the same instructions in two runs" {
	needs jq valgrind
	cat >count <<-'EOF'
		#!/bin/sh
		case $1 in
		run) read -r q || exit 0; $DBM_WRAP true; exec "${0%/*}/awk" run <<-END
			$q
			END
			;;
		esac
		exec "${0%/*}/awk" "$@"
	EOF
	chmod +x count
	for i in 1 2; do
		run -0 "$dbmbench" run --systems=./count --queries=uss --counters=sim --scale=0.001 --repeat=1 --unit=1 -o out$i
	done
	[ "$(jq '.cells[0].instructions' out1/report.json)" = "$(jq '.cells[0].instructions' out2/report.json)" ]
	jq -e '.counters.source == "sim" and .cells[0].instructions > 10000' out1/report.json
	# what a system leaves that fails does not count for the next one
	sed 's/$BAD-/simulated-/' awk >bad && chmod +x bad
	run -1 "$dbmbench" run --systems=./bad,./count --queries=uss --counters=sim --scale=0.001 --repeat=1 --unit=1 -o out
	[[ $output == *"bad was skipped: verb run ended with status 7: it was cut"* ]]
	jq -e '.cells[0].instructions == null' out/report.json
	[ "$(jq '.cells[1].instructions' out/report.json)" = "$(jq '.cells[0].instructions' out1/report.json)" ]
}

@test "pictures show the time of each system" {
	needs gnuplot
	run -0 "$dbmbench" run --systems="./awk,./b w k" --selectivity=10,100 "${few[@]}" --plot=p.svg -o out
	grep -q 'uSS: distinct' p.svg
	grep -q 'b w k' p.svg
}

@test "a full disk and refused counters end the run, and nothing is left" {
	(ulimit -f 20 && run -2 "$dbmbench" run --systems=./awk --scale=0.01 -o out && [[ $output == *"t1.tbl: File too large"* ]])
	[ ! -e out/work ]
	run "$dbmbench" run --systems=./awk --counters=hw "${few[@]:0:3}" -o out
	[ "$status" = 0 ] || [[ $status = 2 && $output == *"perf_event_open: "* ]]
	[ ! -e out/work ]
}

@test "it is shown what a system takes before the queries" {
	run -0 "$dbmbench" run --systems=./awk --queries=uss "${few[@]}" -o out
	[[ $output == *"awk: awk 1; loaded in "*" s, indexes in 0 s, "*" MB; a unit without queries "*" ms"* ]]
}
