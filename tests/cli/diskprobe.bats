#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
. "$BATS_TEST_DIRNAME/suite.bash"
load keys

@test "--help, --usage and --version are answered on standard output" {
	run -0 --separate-stderr "$diskprobe" --help
	[[ $output == *--measure-writes=OFFSET:LENGTH* && -z $stderr ]]
	run -0 "$diskprobe" --usage
	run -0 "$diskprobe" --version
	[[ $output == "diskprobe (Spindle) "* ]]
}

@test "a geometry to continue from is a file of the user" {
	local file
	printf '{}' >g
	run -2 "$diskprobe" --resume=g sim:atlas10k3-like
	[[ $output == *"g: schema"* ]]
	ln -s g link
	mkfifo pipe
	mkdir dir
	cp g open
	chmod 646 open
	for file in link:'is a link' pipe:'is not a regular file' dir:'is not a regular file' \
		open:'can be written by every user'; do
		run -2 timeout 20 "$diskprobe" --resume="${file%%:*}" sim:atlas10k3-like
		[[ $output == "diskprobe: ${file%%:*}: ${file#*:}: give a file of your own" ]]
	done
	run -2 "$diskprobe" --resume=none sim:atlas10k3-like
	[[ $output == *'none: No such file or directory' ]]
	[ "$(id -u)" = 0 ] || return 0
	chown 4321 g
	run -2 "$diskprobe" --resume=g sim:atlas10k3-like
	[[ $output == *'g: belongs to another user: give a file of your own' ]]
	chown 0 g
	chgrp 4321 g
	chmod 664 g
	run -2 "$diskprobe" --resume=g sim:atlas10k3-like
	[[ $output == *'g: can be written by a group: give a file of your own' ]]
}

@test "a model is probed; its geometry answers for tracks and adjacent blocks" {
	needs jq
	run -0 "$diskprobe" sim:atlas10k3-like,noise=20us/2%/1ms -o g.json
	[[ $output == *"rotating: 10000.0 rpm"*"12 zones, layout cylinder"* ]]
	[ "$(jq -r '.schema, .verdict' g.json | tr '\n' ' ')" = "spindle.geometry/1 rotating " ]
	run -0 "$diskprobe" --geometry=g.json tracks 0 14817600
	[[ ${lines[0]} == "0 track 0 first 0 blocks 686 angle 0.00" ]]
	[[ ${lines[1]} == "14817600 track 21600 first 14817600 blocks 672 "* ]]
	run -0 "$diskprobe" --geometry=g.json adjacent 0 --step=8
	near=${output##* }
	[ "$near" -ge 5488 ]
	[ "$near" -lt 6174 ]
	run -0 "$diskprobe" --geometry=g.json adjacent 0 --step=8 --conservatism=10
	[ "${output##* }" -gt "$near" ]
	run -2 "$diskprobe" --geometry=g.json adjacent 0 --step=1000
	[[ $output == *"1000 tracks are beyond the reach of "* ]]
	run -2 "$diskprobe" --geometry=g.json tracks 143316000
	[[ $output == *"143316000: out of range"* ]]
}

@test "the same seed finds the same" {
	"$diskprobe" sim:tiny,noise=20us,seed=4 --seed=4 -o a.json > a
	"$diskprobe" sim:tiny,noise=20us,seed=4 --seed=4 -o b.json > b
	cmp a b
	cmp a.json b.json
}

@test "subcommands probe a device where no geometry is given" {
	run -0 "$diskprobe" sim:tiny tracks 500
	[[ $output == "500 track "*" first 492 blocks 19 "* ]]
}

@test "a geometry predicts the device it came from, and no other" {
	needs jq
	"$diskprobe" sim:atlas10k3-like,noise=20us -o g.json > /dev/null
	run -0 "$diskprobe" --geometry=g.json --verify --stats=v.json sim:atlas10k3-like,noise=20us,seed=5
	[ "$(jq '.result.pairs == 1000 and .result.revolutions_right_share > 0.97' v.json)" = true ]
	run -2 "$diskprobe" --geometry=g.json --verify sim:tiny
	[[ $output == *"the geometry is not one of this device"* ]]
}

@test "flash has no tracks, which --require answers with 1" {
	run -0 "$diskprobe" sim:flash
	[[ $output == *"not-rotating: best concentration 0."*"100 % of random reads below 1 ms"* ]]
	[[ $output == *"knee depth"* ]]
	run -1 "$diskprobe" --require sim:flash
	run -0 "$diskprobe" --require sim:tiny
	run -0 "$diskprobe" --verify sim:flash
	[[ $output == *"diskprobe: sim:flash: --verify had no effect: no tracks were found"* ]]
}

@test "MEMS storage has no tracks either" {
	needs jq
	run -1 "$diskprobe" --require sim:mems-thesis -o g.json
	[[ $output == *"not-rotating: best concentration 0."* ]]
	[ "$(jq '.zones == [] and .latency_s < 0.0011 and .transfer_s_per_mb < 0.02' g.json)" = true ]
	"$diskprobe" --quick sim:mems-g2 >/dev/null
}

@test "a file of this machine is probed in seconds, and no tracks are made up" {
	needs jq
	head -c 8M /dev/urandom > f
	if ! dd if=f of=/dev/null bs=4096 count=1 iflag=direct 2> /dev/null; then
		skip "no O_DIRECT here"
	fi
	run -0 timeout 60 "$diskprobe" f -o g.json
	[ "$(jq '.zones | length' g.json)" = 0 ]
}

@test "the keys of reports are those that are promised" {
	"$diskprobe" sim:tiny,noise=20us --stats=s.json > /dev/null
	has_keys s.json rotation zones[] seeks[] adjacency checks
	"$diskprobe" sim:flash --stats=s.json -o flash.json > /dev/null
	has_keys s.json load
	fits_schema flash.json
	"$diskprobe" sim:tiny -o g.json > /dev/null
	fits_schema g.json
	"$diskprobe" --geometry=g.json --verify --stats=s.json sim:tiny > /dev/null
	has_keys s.json
}

@test "the geometry may go to standard output, alone" {
	needs jq
	run -0 --separate-stderr "$diskprobe" sim:tiny -o -
	[ "$(jq -r .schema <<<"$output")" = spindle.geometry/1 ]
}

@test "wrong use is refused" {
	run -2 "$diskprobe"
	[[ $output == *"missing device"* ]]
	run -2 "$diskprobe" sim:nosuch
	[[ $output == *"no such model"*tiny* ]]
	run -2 "$diskprobe" sim:tiny,noise=loud
	run -2 "$diskprobe" --measure-writes=1M sim:tiny
	[[ $output == *"'1M': valid is OFFSET:LENGTH, such as 1G:64M" ]]
	run -2 "$diskprobe" --measure-writes=1MB:2M sim:tiny
	[[ $output == *"argument '1MB': valid sizes are such as 512b, 4K, "* ]]
	run -2 "$diskprobe" .
	[[ $output == *"Is a directory"* ]]
	run -2 "$diskprobe" nosuch
	[[ $output == *"No such file or directory"* ]]
	run -2 "$diskprobe" /dev/null
	[[ $output == *"neither a block device nor a regular file"* ]]
	run -2 "$diskprobe" --measure-writes=5 sim:tiny
	[[ $output == *"OFFSET:LENGTH"* ]]
	run -2 "$diskprobe" --plot=x.jpg sim:tiny
	run -2 "$diskprobe" --geometry=g.json sim:tiny
	run -2 "$diskprobe" sim:tiny tracks
	[[ $output == *"missing LBN"* ]]
	run -2 "$diskprobe" sim:tiny extra
	echo "{}" > bad.json
	run -2 "$diskprobe" --geometry=bad.json tracks 0
	[[ $output == *bad.json* ]]
	head -c 100000 /dev/zero > small
	run -2 "$diskprobe" small
	[[ $output == *"too small"* || $output == *"page cache"* ]]
}

@test "a signal ends a probe, which keeps its results so far" {
	needs jq
	head -c 64M /dev/zero > f
	for seconds in 0.7 3 10; do # a slow machine may know nothing after 0.7
		"$diskprobe" f -o g.json > /dev/null 2> err &
		pid=$!
		sleep $seconds
		kill -TERM $pid
		status=0
		wait $pid || status=$?
		[ ! -s g.json ] || break
	done
	[ "$status" -eq 143 ]
	grep -q stopped err
	[ "$(jq -r .partial g.json)" = true ]
}

@test "without gnuplot nothing is probed for a picture" {
	mkdir empty
	run -2 env PATH="$PWD/empty" "$diskprobe" sim:tiny --plot=t.svg -o g.json
	[ "$output" = "diskprobe: --plot needs gnuplot, in Debian the package gnuplot-nox: No such file or directory" ]
	[ ! -e g.json ]
}

@test "a device in use, such as one that is mounted, is not overwritten" {
	[ "$(id -u)" -eq 0 ] || skip "a loop device needs root"
	needs losetup python3
	[ -w /dev/loop-control ] || skip "there are no loop devices here"
	head -c 8M /dev/urandom >image
	dev=$(losetup -f --show image) || skip "no loop device is free"
	sum=$(sha256sum <image)
	# As a mounted file system holds it.
	mkfifo held
	python3 -c 'import os, sys, time
os.open(sys.argv[1], os.O_RDONLY | os.O_EXCL)
print(flush=True)
time.sleep(300)' "$dev" >held 3>&- &
	read -r <held
	run "$diskprobe" --quick --measure-writes=0:4M "$dev"
	kill $!
	after=$(sha256sum <image)
	losetup -d "$dev"
	[ "$status" = 2 ]
	[ "$output" = "diskprobe: $dev: is in use: mounted, or part of another device" ]
	[ "$sum" = "$after" ]
}

@test "the result is plotted" {
	needs gnuplot
	"$diskprobe" sim:tiny --plot=t.svg > /dev/null
	grep -q "<svg" t.svg
	"$diskprobe" sim:flash --plot=f.png > /dev/null
	[ "$(head -c 4 f.png | tail -c 3)" = PNG ]
}
