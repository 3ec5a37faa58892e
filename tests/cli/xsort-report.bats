#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# no threads
#
# Reports of xsort: --stats, --explain, --trace, --progress.
. "$BATS_TEST_DIRNAME/suite.bash"
load keys

setup()
{
	begin_test
	printf 'b\na\nc\n' >abc
}

# value FILE KEY: of the JSON as it is laid out, the first member of that name.
value()
{
	sed -n "s/^ *\"$2\": \([^,]*\),\{0,1\}$/\1/p" "$1" | head -n 1
}

@test "--stats writes JSON to a file and leaves the result alone" {
	run -0 --separate-stderr "$xsort" --stats=r.json abc
	[ "$output" = $'a\nb\nc' ]
	[ -z "$stderr" ]
	[ "$(value r.json schema)" = '"spindle.sort/1"' ]
	[ "$(value r.json records)" = 3 ]
	[ "$(value r.json output_bytes)" = 6 ]
	[ "$(value r.json merge_passes)" != "" ]
}

@test "without a file the report is text on standard error, with - it is JSON" {
	run -0 --separate-stderr "$xsort" --stats abc
	[ "$output" = $'a\nb\nc' ]
	[[ $stderr == "data            3 records, 6 bytes in; 3 records, 6 bytes out"$'\ntime '*" of input per second"* ]]
	[[ $stderr == *$'\ntemporary data  none\nmemory          at most '*$'\nlimited by      '* ]]
	[ "$(wc -l <<<"$stderr")" -eq 5 ]
	run -0 --separate-stderr "$xsort" --stats --details abc
	[[ $stderr == "data "*$'\n  output records            3\n'* ]]
	run -0 --separate-stderr "$xsort" --stats=- abc
	[[ $stderr == "{"*"}" ]]
}

# limit: the cause that the summary of --stats names.
limit() { sed -n 's/^limited by *//p' "$1"; }

@test "the summary tells processors, a slow pipe and a simulated device apart" {
	seq 300000 | shuf --random-source=<(yes) >n
	{ cat n; sleep 1; } | "$xsort" --stats >/dev/null 2>err
	[[ $(limit err) == "waiting for the input, probably a pipe: "* ]]
	"$xsort" --parallel=1 -n --stats n n n n n n -o out 2>err
	[[ $(limit err) == "processors: "*" of 1 processor in "* || $(limit err) == waiting* ]]
	"$xsort" -S 1M --volume=sim:atlas10k3-like --stats n -o out 2>err
	[[ $(limit err) == "the simulated "*": device busy for "*", processor for "* ]]
	grep -q '^time .* of virtual time' err
	grep -qE '^temporary data +[0-9.]+ MiB written, ' err
	run -2 "$xsort" --details n
	[ "$output" = "xsort: --details needs --stats or --explain" ]
}

@test "an unwritable report is an error before anything is sorted" {
	run -2 --separate-stderr "$xsort" --stats=no/such/file -o out abc
	[ "$stderr" = "xsort: open failed: no/such/file: No such file or directory" ]
	[ ! -e out ]
	run -2 --separate-stderr "$xsort" --stats=/dev/full -o out abc
	[[ $stderr == "xsort: write failed: /dev/full: "* ]]
}

@test "a sort that spills reports runs, phases, bytes and predictions" {
	seq 400000 | tac >n
	"$xsort" -S 1M --stats=r.json -o out n
	[ "$(value r.json runs)" -gt 1 ]
	[ "$(value r.json spilled_runs)" -gt 1 ]
	[ "$(value r.json input_bytes)" -gt 0 ]
	grep -q '"name": "run_formation"' r.json
	grep -q '"name": "merge"' r.json
	grep -q '"predicted"' r.json
	bytes=$(stat -c %s n)
	peak=$(sed -n '/"spill": {/,/}/s/^ *"peak_bytes": \([0-9]*\),*$/\1/p' r.json)
	[ "$peak" -gt 0 ]
	[ "$peak" -le $((2 * bytes)) ]
}

@test "--explain prints every strategy and sorts nothing" {
	seq 100000 >n
	run -0 --separate-stderr "$xsort" -S 1M --explain --details -o out n
	[ -z "$output" ]
	[ ! -e out ]
	for s in none double equal forecast extended cluster; do
		grep -q "^ *$s " <<<"$stderr" || { echo "no $s in: $stderr"; return 1; }
	done
	[[ $stderr == *"cluster reads"* ]]
	awk 'length > 80 { bad = 1 } END { exit bad }' <<<"$stderr"
}

@test "--explain --stats is the plan as JSON" {
	run -0 --separate-stderr "$xsort" --explain --stats=plan.json abc
	[ -z "$output" ]
	[ -z "$stderr" ]
	[ "$(value plan.json schema)" = '"spindle.sort-plan/1"' ]
	[ "$(value plan.json input_bytes)" = 6 ]
	"$xsort" --explain --stats=plan.json - <abc
	[ "$(value plan.json input_bytes)" = 6 ]
	cat abc | "$xsort" --explain --stats=plan.json
	[ "$(value plan.json input_bytes)" = null ]
	has_keys plan.json
}

@test "the plan of a report is that of --explain; the plan of a merge, made again, follows it" {
	needs jq
	seq 400000 | shuf --random-source=<(yes) >n
	"$xsort" -S 1M --explain --stats=plan.json n
	"$xsort" -S 1M --stats=r.json -o out n
	[ "$(jq -S .config.plan r.json)" = "$(jq -S .plan plan.json)" ]
	[ "$(jq '.replan.runs >= 2 and (.replan.strategies | map(select(.chosen)) | length == 1)' r.json)" = true ]
	"$xsort" --stats=small.json -o out abc
	[ "$(jq 'has("replan")' small.json)" = false ]
}

@test "the plan knows how long records are, and consumes nothing to find out" {
	seq 1000000 2000000 >short
	awk 'BEGIN { for (i = 0; i < 80000; i++) printf "%099d\n", i }' >long
	"$xsort" -S 1M --explain --stats=short.json short
	"$xsort" -S 1M --explain --stats=long.json - <long
	# 8 bytes and 32 more for each, 100 bytes and 32 more.
	[ "$(value short.json runs)" -gt $((3 * $(value long.json runs))) ]
	[ "$("$xsort" -S 1M - <long | sha1sum)" = "$(sha1sum <long)" ]
}

@test "sizes that contradict each other are refused with the least that would do" {
	run -2 --separate-stderr "$xsort" -S 1M --run-size=1G abc
	[ -z "$output" ]
	[[ $stderr =~ ^"xsort: ".*"at least "[0-9]+" bytes" ]]
}

@test "--trace writes the block requests" {
	seq 200000 | tac >n
	"$xsort" -S 1M --trace=t -o out n
	[ -s t ]
}

@test "--progress=always speaks on standard error alone and wipes its line" {
	seq 200000 >n
	TERM=xterm "$xsort" -S 1M --progress=always n >out 2>err
	cmp out <(LC_ALL=C sort n)
	[ "$(tail -c 4 err)" = $'\r\033[K' ]
	run -0 --separate-stderr "$xsort" abc
	[ -z "$stderr" ]
}

@test "the keys of a real report are those of the golden list" {
	seq 100000 >n
	"$xsort" -S 512K --seed=1 --stats=r.json n >out
	has_keys r.json prediction replan result.no_effect[]
}

@test "after run formation, the sort predicts its end from its measurements" {
	needs jq
	seq 200000 >n
	# One thread: of several writers of ranges, the first alone reports, and may get none of a short merge.
	for policy in lazy eager; do
		"$xsort" -S 512K --parallel=1 --merge-policy=$policy --stats=r.json n >out
		fits_schema r.json
		jq -e '.phases[0].elapsed_s as $formed | .prediction |
			.elapsed_s > $formed and .elapsed_s < 60 and
			.early_elapsed_s > 0 and .early_elapsed_s < 60 and
			.revised_elapsed_s > $formed and .revised_elapsed_s < 60' r.json
		cmp out <(LC_ALL=C sort n)
	done
	"$xsort" -S 512K --direct=never --stats=r.json n >out
	jq -e '.prediction | .elapsed_s > 0 and .transfer_s_per_mib == null and .read_s_per_mib == null and .seek_s == null' r.json
	"$xsort" -S 64M --stats=r.json n >out
	has_keys r.json
	"$xsort" -S 512K --volume=sim:linear --stats=r.json n >out
	has_keys r.json replan sim
}

@test "predictions for packed runs use the bytes on the device" {
	needs jq
	awk 'BEGIN { for (i = 0; i < 150000; i++) printf "%d %0100d\n", i * 7919 % 150001, 0 }' >n
	"$xsort" -S 2M --spill-compression=lz4 --direct=always --stats=r.json n >out
	jq -e '.result.input_bytes > 5 * .spill.write_bytes' r.json
	# At most as long again for computation, and for the device twice what it wrote.
	jq -e '.prediction.elapsed_s < 2 * (.result.elapsed_s + .io.cluster_reads * (.prediction.seek_s // 0) +
		.spill.write_bytes / 1048576 * (.prediction.transfer_s_per_mib // 0))' r.json
}

@test "small inputs are sorted by one thread, and the memory is that of the machine" {
	seq 1000 >small
	seq 100000 >large
	for input in small large; do "$xsort" --stats=$input.json $input >/dev/null; done
	[ "$(jq .config.parallel small.json)" -eq 1 ]
	[ "$(jq .config.memory_bytes small.json)" -ge "$(jq .config.memory_bytes large.json)" ]
	"$xsort" --parallel=2 -S 8M --stats=s.json small >/dev/null
	[ "$(jq -c '[.config.parallel, .config.memory_bytes]' s.json)" = "[2,$((8 << 20))]" ]
	"$xsort" --run-size=64M small | cmp - <("$xsort" -S 8M small)
}
