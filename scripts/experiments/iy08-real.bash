# shellcheck shell=bash disable=SC2154,SC2034 # variables of the script that reads this, and of lib.bash
# SPDX-License-Identifier: MIT
#
# Iyengar et al. 2008 on the device of this machine, past the page cache; part of iy08.  These
# figures are those of the machine, and of what else it did meanwhile.

real_rounds=3 first_rounds=15

# refused FILE: the reason if it cannot be read past the page cache; otherwise nothing.
refused()
{
	"$xjoin" --direct=always -t'|' --limit=1 "${args[@]}" 2>&1 >/dev/null | tail -n 1
}

# real_merge QUERY TIMELINE ROWS: all that is sorted is read at the same time, as in one plan.
real_merge()
{
	local sort=("$xsort" -t'|' -k '1,1' -S "$sort_memory" --direct=always)
	local join=("$xjoin" --algorithm=merge -t'|' --direct=always)
	local last=(--timeline="$2" --limit="$3")

	case $1 in
	1b)
		"${sort[@]}" "$work/10/myorders" |
			"${join[@]}" "${last[@]}" -o 2.1,2.5 - <("${sort[@]}" "$work/10/lineitem")
		;;
	2b)
		"${sort[@]}" "$work/10/myorders" |
			"${join[@]}" -o 1.2,2.1 - <("${sort[@]}" "$work/10/lineitem") | "${sort[@]}" |
			"${join[@]}" "${last[@]}" -o 1.2 - <("${sort[@]}" "$work/10/customer")
		;;
	esac >/dev/null
}

# real QUERY ROWS: measured alternately.
real()
{
	local rows round algorithm file

	rows=$(scaled "$2")
	query "$1" 10
	for ((round = 0; round < real_rounds; round++)); do
		for algorithm in inl async-inl merge; do
			file=$(timeline "real-$1" $algorithm)
			if [ $algorithm = merge ]; then
				real_merge "$1" "$file" $((4 * rows)) || die "failed: merge join of query $1"
			else
				looped $algorithm "$file" $((4 * rows)) --direct=always
			fi
			row real query="$1" algorithm=$algorithm round=$round rows="$rows" at_s="$(at "$file" "$rows")"
		done
	done
	for ((round = 0; round < first_rounds; round++)); do
		for algorithm in inl async-inl; do
			looped $algorithm "$work/timeline" 1 --direct=always
			row real-first query="$1" algorithm=$algorithm round=$round first_s="$(at "$work/timeline" 1)"
		done
	done
	judge_real "$1" "$rows"
}

# middle TABLE COLUMN QUERY ALGORITHM
middle() { column "$1" "$2" "v[\"query\"] == \"$3\" && v[\"algorithm\"] == \"$4\"" | median; }

judge_real()
{
	local faster first over

	faster=$(gain "$(middle real at_s "$1" inl)" "$(middle real at_s "$1" async-inl)")
	first=$(calc "$(middle real-first first_s "$1" async-inl) / $(middle real-first first_s "$1" inl)" %.2f)
	over=$(overtakes "$(timeline "real-$1" async-inl)" "$(timeline "real-$1" merge)")
	verdict "iy08.real.$1" "6 to 55 % faster than synchronous" \
		"$faster % at row $2 of 10 GB; overtaken by the merge join $([ -n "$over" ] && echo "from row $over on" || echo "later than 4 times as many rows")" \
		"$(outcome "$faster >= 6")" "this machine's device, past the page cache; medians of $real_rounds rounds"
	verdict "iy08.real.$1.first" "first rows as early as the synchronous join's" "first row after $first times as long" \
		"$(outcome "$first <= 1.5")" "likewise, of $first_rounds; wanted: at most 1.5"
}

# Figure 8, by the requests of such a query alone: random reads, 64 and 200 outstanding.
figure_8()
{
	local program=${SP_BUILD:-build}/tests/bench/completion_speed depth here='' faster=''

	[ -x "$program" ] || die "build first: make $program"
	for depth in 64 200; do
		"$program" "$work/10/lineitem" "$depth" "$(scaled 200000)" 5 >"$work/ways" || die "failed: $program"
		awk -v OFS=, 'NR == 1 && !header { print "engine,way,depth,round,us,cpu_us" } { $1 = $1; print }' \
			header="$([ -e "$out/iy08-fig8.csv" ] && echo 1)" "$work/ways" >>"$out/iy08-fig8.csv"
		for engine in io_uring libaio; do
			here+="${here:+; }$engine, $depth: wait $(way $engine wait), poll $(way $engine poll), event $(way $engine event)"
			faster+=" $(gain "$(way $engine event)" "$(way $engine poll)")"
		done
	done
	# shellcheck disable=SC2086
	verdict iy08.fig8 "polling takes about 10 % less time than a callback" "microseconds for a read: $here" \
		"$(outcome "$(printf '%s\n' $faster | mean) >= 5")" \
		"polling against an event descriptor: $(sed 's/^ //; s/ / %, /g' <<<"$faster") %, medians; rounds from $(column fig8 us | smallest) to $(column fig8 us | largest) µs, which is the device's noise. Processor time: $(column fig8 cpu_us 'v["way"] == "poll"' | median) µs for a read by polling, $(column fig8 cpu_us 'v["way"] == "event"' | median) by the descriptor. The paper's callback is a thread's, ours a wait for the descriptor"
}
# way ENGINE HOW: microseconds for a read, the median of the rounds.
way()
{
	column fig8 us "v[\"engine\"] == \"$1\" && v[\"way\"] == \"$2\" && v[\"depth\"] == $depth" | median
}

real_queries=('1b 80000' '2b 65000')
query 1b 10
reason=$(refused)
if [ -n "$reason" ]; then
	verdict iy08.real "6 to 55 % faster than synchronous" "not measured" shown "$reason"
	verdict iy08.fig8 "polling takes about 10 % less time than a callback" "not measured" shown "$reason"
else
	for f in "${real_queries[@]}"; do
		# shellcheck disable=SC2086
		real $f
	done
	figure_8
fi
