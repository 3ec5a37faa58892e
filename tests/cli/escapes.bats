#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# bats file_tags=slow
#
# No tool sends names to a terminal unescaped: neither a user's name of a file nor one inside a file
# of another user.
. "$BATS_TEST_DIRNAME/suite.bash"

setup()
{
	begin_test
	export LC_ALL=C.UTF-8
	# The title of the window; a line of its own; a byte that is not UTF-8; CSI in one character.
	bad=$'t\e]0;x\ab\nnl\xff\xc2\x9bz'
}

# said [STATUS] COMMAND...: what the command prints, and JSON too, has nothing for a terminal.
said()
{
	local want=0 status=0 lang

	[[ $1 != [0-9] ]] || { want=$1; shift; }
	for lang in C.UTF-8 C; do
		status=0
		LC_ALL=$lang "$@" >said.out 2>&1 || status=$?
		if [ "$status" -ne "$want" ] || LC_ALL=C grep -qP '[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|^nl' said.out ||
			! iconv -f UTF-8 said.out >/dev/null; then
			echo "status $status of ${*@Q}:"
			cat -v said.out
			return 1
		fi
	done
}

@test "xsort quotes the names of its files" {
	seq 9 >"$bad"
	said "$bin/xsort" --stats --details --trace="$bad.trace" -S 1M "$bad" -o "$bad.out"
	said "$bin/xsort" --explain --details "$bad"
	said 2 "$bin/xsort" "$bad/none"
	said 2 "$bin/xsort" -T "$bad" -S 600K "$bad.none"
	said 2 "$bin/xsort" -k "$bad" "$bad"
	said 2 "$bin/xsort" --volume="$bad" "$bad"
	said 2 "$bin/xsort" --engine="$bad" "$bad"
	said 2 "$bin/xsort" --geometry="$bad" "$bad"
	said 2 "$bin/xsort" "--csv" --header -k "$bad:n" "$bad"
	printf '2\n1\n' >"$bad"
	said 1 "$bin/xsort" -c "$bad"
	said 2 env "SPINDLE_MODELS=$bad" "$bin/xsort" --volume="sim:$bad" "$bad"
}

@test "xjoin quotes the names of its files, and prints a record as it is" {
	printf 'b 1\na 2\n' >"$bad"
	said "$bin/xjoin" --stats --details --algorithm=hybrid "$bad" "$bad"
	said "$bin/xjoin" --explain --stats --details "$bad" "$bad"
	said 1 "$bin/xjoin" "$bad" "$bad.none"
	said 1 "$bin/xjoin" --algorithm=merge --check-order "$bad" "$bad"
	said 1 "$bin/xjoin" --index1="$bad" "$bad" "$bad"
	printf 'b\xff 1\na 2\n' >data
	run -1 "$bin/xjoin" --algorithm=merge --check-order "$bad" data
	printf 'a 2\nb\xff 1\na 2\n' >data
	run -1 "$bin/xsort" -c data
	[ "$output" = 'xsort: data:3: disorder: a 2' ]
}

@test "xindex quotes the names of its files, and a key inside an index" {
	seq 9 >"$bad"
	said "$bin/xindex" build -k1 -o "$bad.idx" "$bad"
	said "$bin/xindex" stat "$bad.idx"
	said "$bin/xindex" check "$bad.idx"
	said 2 "$bin/xindex" stat "$bad"
	said 2 "$bin/xindex" stat "$bad.none"
	seq 10 >"$bad"
	said 2 "$bin/xindex" lookup "$bad.idx" 5
	printf '1\x1b2\n' >data
	said "$bin/xindex" build -t $'\e' -k1,1 -o data.idx data
	said "$bin/xindex" stat data.idx
}

@test "blockseq quotes the names inside a trace" {
	# Traces escape what would end a name; the rest of it can be anything.
	printf '# spindle-trace/1\n' >"$bad"
	seq 9 >data
	cp data "$bad.in"
	"$bin/xsort" -S 1M --trace=trace "$bad.in" >/dev/null
	cp trace "$bad"
	sed 's/\\33/\x1b/; s/\\033/\x1b/; s/\\x1b/\x1b/' trace >raw
	printf '%s\n' "$(head -n 3 raw)" >short
	for file in "$bad" raw; do
		said "$bin/blockseq" "$file"
		said "$bin/blockseq" --stats "$file"
		said "$bin/blockseq" --refine=file --cache=8 "$file"
	done
	said 1 "$bin/blockseq" --compare raw short
	said 1 "$bin/blockseq" --compare short "$bad"
	said 2 "$bin/blockseq" "$bad.in"
}

@test "aiobench quotes its targets, its classes and what reports of others say" {
	head -c 256K /dev/zero >"$bad"
	said "$bin/aiobench" run --runtime=0.05 "$bad"
	said "$bin/aiobench" run --runtime=0.05 --stats="$bad.json" "$bad"
	said cat "$bad.json"
	said "$bin/aiobench" run --runtime=0.05 --class="$bad:prio=be/1" "$bad" --stats
	said "$bin/aiobench" compare "$bad.json" "$bad.json"
	said "$bin/aiobench" preflight "$bad"
	said "$bin/aiobench" sweep --runtime=1 --depth=2 "$bad"
	said "$bin/aiobench" policy --load=scan --submission=conservative --bs=4K --extent=4 --runtime=0.05 "$bad"
	said "$bin/aiobench" mix --runtime=1 --shares=50 "$bad"
	said 2 "$bin/aiobench" run "$bad.none"
	said 2 "$bin/aiobench" run --fio-job="$bad" "$bad"
	said 2 "$bin/aiobench" compare "$bad" "$bad.json"
	said 2 "$bin/aiobench" watch "$bad"
}

@test "aiobench watch quotes the name that a process has chosen" {
	head -c 256K /dev/zero >data
	cp "$bin/aiobench" "$bad"
	LD_LIBRARY_PATH="$bin/../lib" "./$bad" run --runtime=5 --engine=io_uring data >/dev/null 2>&1 &
	pid=$!
	for _ in {1..50}; do
		! "$bin/aiobench" watch --runtime=0.1 "$pid" >/dev/null 2>&1 || break
		sleep 0.05
	done
	"$bin/aiobench" watch --runtime=0.1 "$pid" >/dev/null 2>&1 ||
		skip "a process cannot be watched here"
	said "$bin/aiobench" watch --runtime=0.1 "$pid"
	said "$bin/aiobench" watch --runtime=0.1 --stats "$pid"
	kill "$pid"
}

@test "mmap-cube quotes the names of its files" {
	"$bin/mmap-cube" create --dims=8x8 --dtype=u32 --attribute="$bad=$bad" "$bad" >out 2>&1
	said cat out
	said "$bin/mmap-cube" info "$bad"
	said 2 "$bin/mmap-cube" create --dims=8x8 --dtype=u32 "$bad"
	said 2 "$bin/mmap-cube" info "$bad.none"
	said 2 "$bin/mmap-cube" map --block=999999999 "$bad"
	said 2 "$bin/mmap-cube" explain "$bad"
	said 2 "$bin/mmap-cube" get "$bad" "$bad"
	said "$bin/mmap-cube" check "$bad"
}

@test "diskprobe quotes its device, and its geometry is JSON" {
	head -c 256K /dev/zero >"$bad"
	said "$bin/diskprobe" --quick -o "$bad.json" "$bad"
	said cat "$bad.json"
	said 2 "$bin/diskprobe" --quick "$bad.none"
	said 2 "$bin/diskprobe" --quick "sim:$bad"
}

@test "xgen quotes its files" {
	said 2 "$bin/xgen" lines -n 9 -o "$bad/none"
	said 2 "$bin/xgen" lines -n "$bad"
	said 2 "$bin/xgen" "$bad"
}

@test "vdisk quotes its operands" {
	[ -x "$bin/vdisk" ] || skip "this build lacks vdisk"
	said 2 "$bin/vdisk" "$bad" "$bad.none"
	mkdir "$bad"
	said 2 "$bin/vdisk" "$bad" "$bad"
}

@test "a name in a picture is text, never a command" {
	needs gnuplot
	name="x'; system('touch pwned'); \`touch pwned\` @name %s \\"
	head -c 256K /dev/zero >"$name"
	head -c 256K /dev/zero >"$bad"
	for target in "$name" "$bad"; do
		"$bin/aiobench" run --runtime=0.05 --class="a'b\`touch pwned\`" --class=b \
			--plot=run.svg "$target" >/dev/null
		iconv -f UTF-8 run.svg >/dev/null
		grep -q '</svg>' run.svg
	done
	[ ! -e pwned ]
}
