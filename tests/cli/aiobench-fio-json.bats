#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
. "$BATS_TEST_DIRNAME/suite.bash"

setup()
{
	begin_test
	needs jq
}

# measured ARGUMENT...: the report of a run in fio's format, in j.json
measured()
{
	"$aiobench" "$@" --output-format=fio-json > j.json
}

@test "reads and writes of a class are a job with fio's members" {
	measured run --rw=randrw --rwmixread=70 --bs=16K --depth=4 --runtime=20 --stats=r.json sim:linear
	run -0 jq -e '.jobs[0] | .jobname == "all" and .groupid == 0 and .error == 0 and
		."job options" == {name: "all", numjobs: "1", rw: "randrw", bs: "16384", iodepth: "4",
			rwmixread: "70", filename: "sim:linear"}' j.json
	run -0 jq -e '.jobs[0] | .read.io_bytes == .read.total_ios * 16384 and .trim.total_ios == 0 and
		.read.bw == (.read.bw_bytes / 1024 | floor) and .write.runtime == 20000' j.json
	run -0 jq -en 'input as $ours | input.classes[0] as $r | $ours.jobs[0] |
		.read.total_ios == $r.reads.requests and .write.total_ios == $r.writes.requests and
		.read.iops == $r.reads.iops and .read.lat_ns.mean == $r.reads.latency_mean_ns and
		.write.lat_ns.stddev == $r.writes.latency_stddev_ns and
		.write.clat_ns.percentile."99.000000" == $r.writes.latency_p99_ns' j.json r.json
}

@test "shares add up to a hundred per cent" {
	measured run --rw=randrw --depth=8 --runtime=20 sim:linear
	run -0 jq -e '.jobs[0] | [(.latency_ns, .latency_us, .latency_ms)[]] | add | . > 99.99 and . < 100.01' j.json
	run -0 jq -e '.jobs[0].iodepth_level | (add > 99.99 and add < 100.01) and ."8" > 90' j.json
}

@test "submission and completion of real requests are timed apart" {
	head -c 1M /dev/zero > t
	measured run --direct=0 --depth=4 --io_size=4M --engine=libaio t
	run -0 jq -e '.jobs[0].read | .slat_ns.N == 1024 and .clat_ns.N == 1024 and .slat_ns.min > 0 and
		((.slat_ns.mean + .clat_ns.mean - .lat_ns.mean) | fabs) < 1' j.json
	measured run --direct=0 --io_size=4M --engine=sync t
	run -0 jq -e '.jobs[0] | .read.slat_ns.N == 0 and .read.clat_ns == .read.clat_ns and
		.read.clat_ns.mean == .read.lat_ns.mean and .ctx >= 0' j.json
}

@test "the runs of a job file are one document, and their order is groupid" {
	printf '[a]\nsize=64k\n[b]\nrw=write\nsize=64k\n[c]\nstonewall\nsize=64k\n' > j.fio
	head -c 64K /dev/zero > t
	measured run --fio-job=j.fio --overwrite t
	run -0 jq -c '[.jobs[] | [.jobname, .groupid, .usr_cpu == 0 or .groupid == 1]]' j.json
	[ "$output" = '[["a",0,true],["b",0,true],["c",1,true]]' ]
}

@test "nothing but the document is on standard output" {
	"$aiobench" run --depth=8 --runtime=5 --class=a:share=10,prio=rt --class=b --trace=t.trace \
		--output-format=fio-json sim:linear > j.json 2> err
	run -0 jq -e '.jobs | length == 2' j.json
	measured replay t.trace sim:linear
	run -0 jq -e '.jobs[0]."job options" | has("rw") | not' j.json
	run -2 "$aiobench" run --output-format=json sim:linear
	[[ $output == *"--output-format"*"fio-json"* ]]
	run -2 "$aiobench" sweep --output-format=fio-json sim:linear
	run -2 --separate-stderr "$aiobench" run --output-format=fio-json missing
	[ -z "$output" ]
}

@test "fio's own document has no other members than the manual lists" {
	needs fio
	local members='[paths | map(if type == "number" then "[]" else . end) | join("/")] | unique'
	fio --name=x --rw=randrw --size=1m --filename=f --output-format=json --output=fio.json > /dev/null
	measured run --direct=0 --overwrite --rw=randrw --io_size=1M f
	run -0 jq -rn "[(input | $members), (input | $members)] | .[0] - .[1] | .[]" fio.json j.json
	run -0 grep -vE '/(sync|job options|iodepth_submit|iodepth_complete|majf|minf|latency_(target|percentile|window))(/|$)|^disk_util' <<< "$output"$'\nend'
	[ "$output" = end ]
}

@test "a name that is not UTF-8 is printed with its bytes as escapes" {
	needs jq
	local name=$'f\377'

	head -c 1M /dev/zero >"$name"
	"$aiobench" run --output-format=fio-json --runtime=50ms --engine=sync "$name" >out
	jq -e '.jobs[0]."job options".filename == "f\\377"' out
}
