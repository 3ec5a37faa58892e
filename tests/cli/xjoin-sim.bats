#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# no threads
#
# xjoin on simulated machines: the result is the same, times are virtual, and the
# requests are where the placement says.
. "$BATS_TEST_DIRNAME/suite.bash"

setup_file()
{
	export LC_ALL=C
	cd "$BATS_FILE_TMPDIR" || exit 1
	seq 0 13 300000 | awk '{ print ($1 * 7919) % 50000 "|" $1 "|left side of the pair" }' >l
	seq 0 5 150000 | awk '{ print ($1 * 104729) % 60000 "|right " $1 "|" }' >r
	"$xjoin" -t'|' l r | sort >want
	[ -s want ]
}

setup()
{
	begin_test
	cp "$BATS_FILE_TMPDIR"/{l,r,want} .
}

on() # SPEC OPTION...
{
	"$xjoin" -S 700K -t'|' --volume="sim:$1" "${@:2}" --stats=r.json --output=out l r &&
		sort out | cmp - want
}

number() { sed -n "s/.*\"$1\": \\([0-9.e+-]*\\).*/\\1/p" r.json | head -n 1; }

@test "the result is right on every kind of machine" {
	for algorithm in hybrid grace shj nested; do
		on linear --algorithm=$algorithm
		on atlas10k3-like,files=both --algorithm=$algorithm
		on ide300-like,cache=512K,page=8K,fs=group:8,files=in --algorithm=$algorithm
		on flash,fs=extent,cache=1M,flush=evict,files=both --algorithm=$algorithm
		for placement in track semiseq; do
			on atlas10k3-like --placement=$placement --algorithm=$algorithm
			on atlas10k3-like,files=both --placement=$placement --algorithm=$algorithm
			on atlas10k3-like --placement=$placement --algorithm=$algorithm --join-memory=300K -S 600K
		done
	done
}

@test "lines without partner from partitions along the path" {
	for type in "-v1" "-v2" "--type=full" "--type=semi"; do
		"$xjoin" "$type" -t'|' l r | sort >want
		[ -s want ]
		on atlas10k3-like,files=both --placement=semiseq --page-size=4K "$type"
		on atlas10k3-like,files=both --placement=semiseq --page-size=4K "$type" --algorithm=grace
	done
}

@test "a trace and all figures are the same each time" {
	for n in 1 2; do
		on atlas10k3-like,files=both,noise=20us --placement=semiseq --trace="t.$n"
		grep 'time_ns"\|elapsed_s\|seeks' r.json >"figures.$n"
	done
	cmp t.1 t.2
	cmp figures.1 figures.2
	grep -q '^R l ' t.1
	grep -q '^R r ' t.1
	grep -q '^W out ' t.1
}

@test "real files take no virtual time" {
	on atlas10k3-like,files=none --trace=t
	awk '$1 == "R" && ($2 == "l" || $2 == "r") { n++; if ($6 != $7) bad = 1 } END { exit bad || !n }' t
}

@test "how a pipe cuts the input does not show in virtual time" {
	for bytes in 777 4096 65536; do
		dd if=l bs=$bytes 2>/dev/null |
			"$xjoin" -S 700K -t'|' --volume=sim:atlas10k3-like --build=2 --stats=r.json - r | sort | cmp - want
		grep 'time_ns"\|elapsed_s' r.json >"cut.$bytes"
	done
	cmp cut.777 cut.4096
	cmp cut.777 cut.65536
}

@test "merged files lie on the machine as well" {
	sort -t'|' -k1,1 l >sl
	sort -t'|' -k1,1 r >sr
	"$xjoin" -t'|' --algorithm=merge --volume=sim:linear,files=both --stats=r.json --output=out sl sr
	sort out | cmp - want
	[ "$(number transfers)" -gt 300 ]
	[ "$(number io_time_ns)" -gt 500000000 ]
	"$xjoin" -t'|' --algorithm=merge --volume=sim:atlas10k3-like,files=in --stats=r.json --output=out sl sr
	[ "$(number cpu_time_ns)" -gt 1000000 ]
}

@test "partitions on a simulated file system are files of their own" {
	local whole

	on ide300-like,page=4K,fs=group:8 --algorithm=grace --page-size=4K
	# In groups of eight pages, except the last of each.
	awk -v r="$(number region_bytes_mean)" 'BEGIN { exit !(r > 29000 && r <= 32768) }'
	whole=$(number device_write_bytes)
	# A joined partition is dropped: with all of them in the cache nothing
	# is ever written.
	on ide300-like,page=4K,fs=group:8,cache=8M,flush=evict,files=both --algorithm=grace --page-size=4K
	awk -v w="$(number device_write_bytes)" -v o="$(number output_bytes)" -v s="$whole" \
		'BEGIN { exit !(w < o + s / 10) }'
}

@test "sh08.fig6.4, s2.4: partition writes hop along the path, of each drive: exact times of a small join" {
	"$xgen" records -n 60000 --seed=5 >l
	"$xgen" records -n 60000 --seed=6 | cat - l >r
	"$xjoin" l r | sort >want
	for array in '' ,array=raid0:2/track; do
		for placement in track semiseq; do
			"$xjoin" -S 1M --algorithm=grace --page-size=8K --placement=$placement --stats=r.json \
				--volume=sim:atlas10k3-like,window=1$array --output=out l r
			sort out | cmp - want
			echo "$placement$array $(number spilled_partitions) $(number seeks) $(number elapsed_s)"
		done
	done >got
	diff - got <<-END
		track 12 609 5.127686726
		semiseq 12 717 2.950974664
		track,array=raid0:2/track 12 629 3.270520545
		semiseq,array=raid0:2/track 12 720 2.428217337
	END
}

@test "wc06.tab10: a sort-hash join writes much of one partition in a row" {
	local m=ide300-like,page=4K,fs=group:8,cache=256K

	"$xgen" records -n 20000 --seed=5 >l
	"$xgen" records -n 40000 --seed=6 | cat - l >r
	"$xjoin" -t'|' l r | sort >want
	on $m --algorithm=grace --page-size=4K --join-memory=400K -S 2M
	grace=$(number region_bytes_mean)
	on $m --algorithm=shj --page-size=4K --join-memory=400K -S 2M
	# Formula (2): the number of pages of a partition written together, equal for both inputs.
	awk -v n="$(number spilled_partitions)" -v groups="$(number partition_groups)" \
		-v bytes="$(sed -n '/"spill": {/,/}/s/.*"write_bytes": \([0-9]*\).*/\1/p' r.json)" 'BEGIN {
			g = 2 * (100 - n) / n
			here = bytes / 4096 / groups
			exit !(n > 2 && here > 0.7 * g && here < 1.3 * g)
		}'
	awk -v g="$grace" -v s="$(number region_bytes_mean)" 'BEGIN { exit !(s > 1.5 * g) }'
}

@test "auto sorts partitions if formula (2) predicts a gain" {
	local m=ide300-like,page=4K,fs=group

	choice() { "$xjoin" --explain --stats=p.json -S 2M --page-size=4K --join-memory=256K "$@" l r
		sed -n 's/.*"algorithm": "\(.*\)".*/\1/p' p.json; }
	[ "$(choice --volume=sim:$m:8,cache=256K)" = shj ]
	[ "$(choice --volume=sim:$m:64,cache=256K)" = hybrid ] # contiguous anyway
	[ "$(choice --volume=sim:$m:8,cache=64M)" = hybrid ]	# all fits the cache
	[ "$(choice --volume=sim:$m:8)" = hybrid ]		# nothing gathers writes
	[ "$(choice)" = hybrid ]				# nothing is known of the device
	[ "$(choice --volume=sim:$m:8,cache=256K -S 64M --join-memory=32M)" = hybrid ]
	[ "$(choice --volume=sim:$m:8,cache=256K --algorithm=grace)" = grace ]
	on $m:8,cache=256K --page-size=4K --join-memory=256K -S 2M
	grep -q '"algorithm": "shj"' r.json
}

@test "invalid combinations are refused" {
	run -1 --separate-stderr "$xjoin" --volume=sim:none-such l r
	# shellcheck disable=SC2154 # run sets it
	[[ $stderr == *none-such* && $stderr == *atlas10k3-like* ]]
	run -1 --separate-stderr "$xjoin" --volume=sim:linear,sched=fastest l r
	[[ $stderr == *fastest* ]]
	run -1 --separate-stderr "$xjoin" --volume=sim:linear --placement=semiseq l r
	[[ $stderr == *"no tracks"* ]]
	run -1 --separate-stderr "$xjoin" --placement=semiseq l r
	[[ $stderr == *geometry* ]]
	run -1 --separate-stderr "$xjoin" --volume=sim:atlas10k3-like --placement=auto l r
	[[ $stderr == *"placement auto applies to sorts only"* ]]
	run -1 --separate-stderr "$xjoin" --volume=sim:atlas10k3-like --placement=auto --explain l r
	[[ $stderr == "xjoin: placement auto applies to sorts only" ]]
	run -1 --separate-stderr "$xjoin" --geometry=none-such.json l r
	[[ $stderr == *none-such.json* ]]
	run -1 --separate-stderr "$xjoin" --volume=block:/dev/none-such l r
	[[ $stderr == *overwrite* ]]
	run -1 --separate-stderr "$xjoin" --volume=block:/dev/none-such --overwrite -S 700K -t'|' l r
	[[ $stderr == *none-such* ]]
	run -1 --separate-stderr "$xjoin" --volume=floppy l r
	[[ $stderr == *floppy* ]]
	run -1 --separate-stderr "$xjoin" --parallel=0 l r
	run -1 --separate-stderr "$xjoin" --trace=none/such l r
	[[ $stderr == *none/such* ]]
}

@test "a device that fails ends the join, whatever waits to be written" {
	for nth in 1 5 40 80; do
		for placement in contiguous semiseq; do
			rm -f out
			run -1 --separate-stderr "$xjoin" -S 700K -t'|' --volume=sim:atlas10k3-like --algorithm=grace \
				--placement=$placement --engine=fault:NTH=$nth,SCOPE=PROCESS,ERROR=EIO:auto --output=out l r
			[[ $stderr == *"Input/output error"* ]]
			[ ! -e out ]
		done
	done
}

@test "--progress" {
	run -0 --separate-stderr "$xjoin" --progress=always -S 700K --output=out l r
	run -0 --separate-stderr "$xjoin" --progress=never -S 700K --output=out l r
	[ -z "$stderr" ]
	run -1 --separate-stderr "$xjoin" --progress=perhaps l r
	[[ $stderr == *perhaps* ]]
}
