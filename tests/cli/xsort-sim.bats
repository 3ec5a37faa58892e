#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# xsort on a simulated machine: the same result as on the real one, in virtual
# time that is the same every time and everywhere.
. "$BATS_TEST_DIRNAME/suite.bash"

setup()
{
	begin_test
	"$xgen" lines --bytes=3M --seed=5 >in
	sort in >want
}

# number KEY: of the report in r.json.
number()
{
	sed -n "s/.*\"$1\": \\([0-9.e+-]*\\).*/\\1/p" r.json | head -n 1
}

# took: the virtual seconds in r.json, not those of the plan before it.
took()
{
	sed -n '/"result": {/,/}/s/.*"elapsed_s": \([0-9.e+-]*\).*/\1/p' r.json
}

on()
{
	"$xsort" -S 1M --volume="sim:$1" "${@:2}" --stats=r.json -o out in && cmp out want
}

@test "the result is right on every kind of machine" {
	on linear
	on atlas10k3-like
	on atlas10k3-like,files=both
	on ide300-like,cache=512K,page=8K,fs=group:8,files=in
	on ide300-like,cache=1M,flush=evict,sched=deadline,files=both
	on tiny-does-not-exist && return 1
	on flash,files=both
	on mems-thesis,files=both
	on mems-g2,array=raid0:4,files=both,cache=1M
}

@test "striped drives take less time than one, drives in a row as much" {
	on ultrastar36lzx-like,files=both
	one=$(took)
	on ultrastar36lzx-like,array=linear:4,files=both
	[[ $(took) == "$one" ]]
	on ultrastar36lzx-like,array=raid0:4,files=both
	awk -v one="$one" -v four="$(took)" 'BEGIN { exit four > 0.6 * one }'
}

@test "virtual time and every count are the same each time" {
	on atlas10k3-like,cache=1M,files=both
	grep -v '"peak_bytes"\|cpu_s' r.json >first
	on atlas10k3-like,cache=1M,files=both
	grep -v '"peak_bytes"\|cpu_s' r.json >second
	diff first second
}

@test "how a pipe cuts the input does not show in virtual time" {
	for bytes in 777 4096 65536; do
		dd if=in bs=$bytes 2>/dev/null |
			"$xsort" -S 1M --volume=sim:atlas10k3-like --stats=r.json | cmp - want
		grep 'time_ns"\|elapsed_s' r.json >"cut.$bytes"
	done
	cmp cut.777 cut.4096
	cmp cut.777 cut.65536
}

@test "a trace is the same each time, real files of it taking no time" {
	for files in none in out both; do
		for n in 1 2; do
			on atlas10k3-like,files=$files --trace=t.$n
			# The second time it is not in the page cache.
			dd of=in oflag=nocache conv=notrunc,fdatasync count=0 2>/dev/null
		done
		cmp t.1 t.2
	done
	on atlas10k3-like,files=none --trace=t.1
	awk '$1 == "R" && $2 == "in" && $6 != $7 { bad = 1 } END { exit bad }' t.1
}

@test "with few descriptors files lie on the machine as well" {
	on atlas10k3-like,files=both
	many=$(number io_time_ns)
	(ulimit -n 24 && on atlas10k3-like,files=both)
	[ "$(number io_time_ns)" = "$many" ]
}

@test "records that -u drops in the merge have been merged nevertheless" {
	local seconds=()
	awk 'BEGIN { for (i = 0; i < 60000; i++) printf "%06d and more\n", i }' >once
	for i in 1 2 3 4 5 6; do cat once; done >in
	sort -u in >want
	on atlas10k3-like -u
	seconds[0]=$(number cpu_time_ns)
	sort in >want
	on atlas10k3-like
	seconds[1]=$(number cpu_time_ns)
	awk "BEGIN { exit !(${seconds[0]} > 0.9 * ${seconds[1]}) }"
}

@test "replacement selection takes comparisons, too" {
	on atlas10k3-like --run-formation=load
	load=$(number cpu_time_ns)
	on atlas10k3-like --run-formation=replacement
	awk "BEGIN { exit !($(number cpu_time_ns) > 0.9 * $load) }"
}

@test "inputs lie before spilled data" {
	split -n l/4 in part.
	for placement in contiguous track semiseq; do
		on atlas10k3-like,files=in --placement=$placement --run-size=128K
		one=$(number io_time_ns)
		"$xsort" -S 1M --volume=sim:atlas10k3-like,files=in --placement=$placement \
			--run-size=128K --stats=r.json part.?? | cmp - want
		awk "BEGIN { exit !($(number io_time_ns) < 1.02 * $one) }"
	done
}

@test "a slower device takes longer, and files on it cost time" {
	on linear
	alone=$(number io_time_ns)
	on linear,files=both
	both=$(number io_time_ns)
	awk "BEGIN { exit !($both > $alone && $alone > 0) }"
	[ "$(number transfers)" -gt 0 ]
}

@test "auto places runs where that is predicted to take least time" {
	local machine auto

	"$xgen" records -n 100000 -o in
	sort in >want
	for machine in atlas10k3-like,window=1 cheetah36es-like atlas10k3-like,fs=extent linear; do
		on "$machine" -S 2M --run-formation=load --placement=auto
		auto="$(took) $(grep -m 1 -o '"placement": "[a-z]*"' r.json)"
		on "$machine" -S 2M --run-formation=load
		echo "$machine $auto $(took)"
		awk -v a="${auto%% *}" -v c="$(took)" 'BEGIN { exit !(a <= c) }'
		case $machine in
		atlas10k3-like,window=1)
			[[ $auto == *track* ]]
			awk -v a="${auto%% *}" -v c="$(took)" 'BEGIN { exit !(a < 0.9 * c) }'
			;;
		*fs=* | linear) [[ $auto == *contiguous* ]] ;;
		esac
	done
	# Nothing is known of a pipe, and directories have no tracks.
	"$xsort" -S 2M --volume=sim:atlas10k3-like,window=1 --placement=auto --stats=r.json <in | cmp - want
	"$xsort" -S 2M --volume=sim:atlas10k3-like,window=1 --placement=auto --stats=p.json < <(cat in) | cmp - want
	grep -q '"placement": "contiguous"' p.json
	"$xsort" -S 2M --placement=auto in | cmp - want
}

@test "runs can be placed by tracks" {
	on atlas10k3-like --placement=track
	grep -q '"placement": "track"' r.json
	on atlas10k3-like --placement=semiseq
	grep -q '"placement": "semiseq"' r.json
}

@test "runs along the path: the exact times of one small sort" {
	"$xgen" records -n 60000 --seed=5 >in
	sort in >want
	fixed=(--run-formation=load --readahead=double --run-size=256K --page-size=12K)
	on atlas10k3-like,window=1 "${fixed[@]}" --placement=track
	[ "$(number io_time_ns) $(number cpu_time_ns) $(number seeks)" = "3712032690 73818896 501" ]
	on atlas10k3-like,window=1 "${fixed[@]}" --placement=semiseq
	[ "$(number io_time_ns) $(number cpu_time_ns) $(number seeks)" = "1544802595 73818900 518" ]
}

@test "in a trace all times are virtual, those of files outside too" {
	on linear --trace=t
	awk '!/^#/ { if ($6 > 1e12 || $7 < $6) exit 1; n++ } END { exit n < 100 }' t
	awk '$2 == "in" && $6 != $7 { exit 1 }' t
}

@test "sorted inputs that lie on the machine are merged there" {
	"$xsort" in -o a
	"$xgen" lines --bytes=1M --seed=6 | sort >b
	sort -m a b >both
	"$xsort" -m --volume=sim:linear,files=in --stats=r.json a b | cmp - both
	[ "$(number transfers)" -gt 1000 ]
}

@test "invalid combinations are refused" {
	run -2 --separate-stderr "$xsort" --volume=sim:none-such in
	# shellcheck disable=SC2154 # run sets it
	[[ $stderr == *none-such* && $stderr == *atlas10k3-like* ]]
	run -2 --separate-stderr "$xsort" --volume=sim:linear,sched=fastest in
	[[ $stderr == *fastest* ]]
	run -2 --separate-stderr "$xsort" --volume=sim:linear --placement=semiseq in
	[[ $stderr == *"no tracks"* ]]
	run -2 --separate-stderr "$xsort" --volume=sim:tiny,array=raid0:4 --placement=semiseq in
	[[ $stderr == *"no tracks"* ]]
	run -2 --separate-stderr "$xsort" --volume=sim:flash,array=raid0:4 in
	[[ $stderr == "xsort: array: 'flash' has channels of its own: it cannot be in an array" ]]
	run -2 --separate-stderr "$xsort" --volume=sim:mems-thesis --placement=mems in
	[[ $stderr == "xsort: placement mems applies to tables only" ]]
	run -2 --separate-stderr "$xsort" --placement=semiseq in
	[[ $stderr == *geometry* ]]
	run -2 --separate-stderr "$xsort" --geometry=none-such.json in
	[[ $stderr == *none-such.json* ]]
	run -2 --separate-stderr "$xsort" --volume=sim:linear --engine=sync -S 1M in
	[[ $stderr == *sim* ]]
}

@test "a device that is too small is reported as such" {
	echo old >out
	for files in none in out; do
		run -2 --separate-stderr "$xsort" -S 1M --volume=sim:tiny,files=$files -o out in
		# The second line is GNU's word on an output that failed.
		[[ $stderr == "xsort: "*": No space left on the simulated device"?($'\nxsort: write error') ]]
		[ "$(cat out)" = old ]
	done
}

@test "a plan is made for a machine that there can be" {
	run -2 --separate-stderr "$xsort" --explain --volume=sim:linear,cache=1 in
	[[ $stderr == *"less than a page"* ]]
	run -2 --separate-stderr "$xsort" --explain --volume=sim:,cache=1M in
	[[ $stderr == *"the name of a model is missing"* ]]
	# A file system puts pages where it likes.
	run -2 --separate-stderr "$xsort" --placement=track --volume=sim:atlas10k3-like,fs=group in
	[[ $stderr == *"fs=none"* ]]
	run -2 --separate-stderr "$xsort" --compress-program=gzip --volume=sim:linear in
	[[ $stderr == *"with a volume"* ]]
}

@test "a geometry of another device is refused" {
	"$diskprobe" sim:tiny -o tiny.json >probe.out 2>&1
	run -2 --separate-stderr "$xsort" --volume=sim:atlas10k3-like --geometry=tiny.json in
	[[ $stderr == *tiny*"1386 blocks of 512 bytes"* ]]
	head -c 500 in >few
	"$xsort" --volume=sim:tiny --geometry=tiny.json few
}

@test "along paths inside the rounds of a serpentine a sort is faster than along any" {
	"$diskprobe" sim:serpentine,noise=20us -o rounds.json >probe.out
	sed 's/, *"round": [0-9]*//' rounds.json >any.json
	for g in rounds any; do
		on serpentine,window=1 -S 256K --run-formation=load --page-size=8K \
			--geometry=$g.json --placement=semiseq
		number io_time_ns >$g
	done
	# 0.885 and 1.058 s.
	[ $(($(<rounds) * 10)) -lt $(($(<any) * 9)) ]
}

@test "runs are placed around tracks of spare sectors, and predicted so" {
	for spares in '[300, 100, 400]' '[0, 400]'; do
		cat >spare.json <<-EOF
			{"schema": "spindle.model/1", "name": "spare", "about": "every fourth track is spare",
			 "rpm": 7200, "surfaces": 2, "zones": [{"first_cyl": 0, "last_cyl": 4999, "spt": 100,
			 "track_skew": 10, "cyl_skew": 15, "spares": [$spares]}],
			 "seek_ms": [[1, 0.9], [100, 3], [4999, 9]], "head_switch_ms": 0.8,
			 "write_settle_ms": 0.2, "read_overhead_ms": 0.1, "write_overhead_ms": 0.1}
		EOF
		for placement in contiguous track semiseq auto; do
			args=(-S 512K --run-formation=load "--placement=$placement" "--volume=sim:./spare.json,window=1" in)
			"$xsort" "${args[@]}" --explain --details 2>plan
			"$xsort" "${args[@]}" --stats=r.json >out
			cmp out want
			# They agree within 13 %.
			awk -v took="$(took)" '$1 == "elapsed" { ok = $2 > took * 0.8 && $2 < took * 1.2 }
				END { exit !ok }' plan
		done
	done
}

@test "the plan takes the device's speed" {
	run -0 "$xsort" -S 1M --volume=sim:linear --explain --details in
	[[ $output == *"seek"*"7"*"ms"* && $output != *"is assumed"* ]]
}
