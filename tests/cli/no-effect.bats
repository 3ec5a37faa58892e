#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# no threads
#
# An option without effect is refused if another option is the cause, and named if an engine, the
# kernel or a limit is.  aiobench-no-effect.bats has those of aiobench.
. "$BATS_TEST_DIRNAME/suite.bash"

setup()
{
	# Builds with sanitizers have no shim.
	shim=$(realpath -e "$build/tests/shim/failcall.so") || shim=
	begin_test
}

# refused MESSAGE COMMAND...: the message is the first line on standard error, and nothing is done.
refused()
{
	local message=$1

	shift
	run --separate-stderr "$@" </dev/null
	# shellcheck disable=SC2154
	[[ ${stderr_lines[0]} == *"$message"* ]] || { echo "$*: $stderr" && false; }
	[ "$status" -ge 1 ]
	[ -z "$output" ]
}

# without OPTION REASON COMMAND...: the run ignores OPTION; one line and the report say so.
without()
{
	local option=$1 reason=$2

	shift 2
	run -0 --separate-stderr "$@" --stats=s.json </dev/null
	# shellcheck disable=SC2154
	[[ $stderr == *": warning: $option had no effect: $reason"* ]] || { echo "$*: $stderr" && false; }
	[ "$(grep -c -e "$option had no" <<<"$stderr")" -eq 1 ]
	grep -q "\"option\": \"$option\"" s.json
}

# silent COMMAND...: it says nothing, and its report has no such option.
silent()
{
	run -0 --separate-stderr "$@" --stats=s.json </dev/null
	[ -z "$stderr" ] || { echo "$*: $stderr" && false; }
	grep -q '"no_effect": \[\]' s.json
}

# nodirect COMMAND...: where no file can be opened for direct I/O.
nodirect()
{
	env FAILCALL_AT=1 FAILCALL_TIMES=0 FAILCALL_CALLS=direct FAILCALL_ERRNO=22 \
		LD_PRELOAD="$shim" "$@"
}

@test "xgen refuses options that the order of keys ignores" {
	for kind in lines records; do
		refused '--theta does not apply to --order=few' "$bin/xgen" $kind -n 3 --order=few --theta=2
		refused '--nearly does not apply to --order=zipf' "$bin/xgen" $kind -n 3 --order=zipf --nearly=0.2
		refused '--distinct does not apply to --order=uniform' "$bin/xgen" $kind -n 3 --distinct=9
		refused '--distinct does not apply to --order=sorted' "$bin/xgen" $kind -n 3 --order=sorted --distinct=9
	done
	run -0 "$bin/xgen" lines -n 3 --distinct=9 --theta=2 --order=zipf
	run -0 "$bin/xgen" lines -n 3 --nearly=0.5 --order=nearly
}

@test "diskprobe refuses what an answer or a probe does not heed" {
	local probe="a device to probe, not --geometry"

	"$bin/diskprobe" --quick -o g.json sim:tiny >/dev/null
	for option in --quick --full --measure-writes=0:1M --seed=3 --output=o --plot=p.svg --require --stats=s; do
		refused "${option%%=*} needs $probe" "$bin/diskprobe" --geometry=g.json "$option" adjacent 0
		refused "${option%%=*} needs $probe" "$bin/diskprobe" --geometry=g.json "$option" tracks 0
	done
	[ ! -e o ]
	[ ! -e s ]
	[ ! -e p.svg ]
	refused "--output needs $probe" "$bin/diskprobe" --geometry=g.json -o o --verify sim:tiny
	for option in --step=2 --conservatism=3 --write; do
		refused "${option%%=*} needs adjacent LBN" "$bin/diskprobe" --geometry=g.json "$option" tracks 0
		refused "${option%%=*} needs adjacent LBN" "$bin/diskprobe" "$option" sim:tiny
	done
	run -0 "$bin/diskprobe" --geometry=g.json --verify --seed=3 --stats=s sim:tiny
	[ -s s ]
	run -0 "$bin/diskprobe" --geometry=g.json adjacent 0 --step=2 --conservatism=3 --write
}

@test "xsort refuses options that another option makes void" {
	local plan=(--run-formation=load --run-size=64K --merge-policy=eager --fan-in=4 --merge-buffer=64K
		--readahead=double --recycle=all --spill-compression=lz4 --page-size=8K --direct --geometry=g
		--volume=sim:tiny --placement=track)

	seq 100 >in
	for option in "${plan[@]}"; do
		refused "options '${option%%=*}' and '-c' are incompatible" "$bin/xsort" -c "$option" in
		refused "options '${option%%=*}' and '-C' are incompatible" "$bin/xsort" -C "$option" in
		refused "options '${option%%=*}' and '--splitters' are incompatible" "$bin/xsort" --splitters=3 "$option" in
	done
	for option in --stats --stats=s --trace=s --progress=always; do
		refused " and '-c' are incompatible" "$bin/xsort" -c "$option" in
	done
	[ ! -e s ]
	for option in --spill-compression=zstd --recycle=0 --readahead=cluster --run-formation=replacement --direct; do
		refused " and '--compress-program' are incompatible" "$bin/xsort" --compress-program=gzip "$option" in
	done
	refused "options '-m' and '--run-formation' are incompatible" "$bin/xsort" -m --run-formation=load in in
	refused "options '-m' and '--run-size' are incompatible" "$bin/xsort" -m --run-size=64K in in
	refused "options '--resume' and '--recycle' are incompatible" "$bin/xsort" --resume=ck --recycle=all -o o in
	refused "options '--seed' and '--random-source' are incompatible" "$bin/xsort" -R --seed=3 --random-source=in in
	refused '--fan-in=9 is more than --batch-size=4 allows' "$bin/xsort" --fan-in=9 --batch-size=4 in
	run -0 "$bin/xsort" --fan-in=4 --batch-size=4 --recycle=none --compress-program=gzip in
	run -0 "$bin/xsort" -c --direct=auto --recycle=auto --spill-compression=none <(sort in)
}

@test "xsort names what had no effect, and sort does not" {
	seq 100000 >in
	without --seed 'without -R nothing is random' "$bin/xsort" --seed=3 in
	without --direct=always 'a simulated volume' "$bin/xsort" -S 600K --direct --volume=sim:tiny in
	[ -z "$shim" ] || without --direct=always "no direct I/O for $PWD" nodirect "$bin/xsort" -S 600K --direct -T "$PWD" in
	without --placement 'runs of replacement selection have different' "$bin/xsort" -S 600K --volume=sim:atlas10k3-like \
		--placement=semiseq --run-formation=replacement in
	silent nodirect "$bin/xsort" -S 600K -T "$PWD" in
	silent nodirect "$bin/xsort" -S 600K --direct=auto -T "$PWD" in
	silent nodirect "$bin/xsort" -S 600K --direct=never -T "$PWD" in
	silent "$bin/xsort" -R --seed=3 in
	ln -s "$(realpath "$bin/xsort")" sort
	run -0 --separate-stderr ./sort --seed=3 in
	[ -z "$stderr" ]
}

@test "xjoin refuses what its algorithm does not use, and names what auto did not" {
	seq 100000 499999 >a
	seq 300000 499999 >b
	for option in --build=1 --join-memory=1M --seed=3; do
		refused "options '${option%%=*}' and '--algorithm=merge' are incompatible" "$bin/xjoin" \
			--algorithm=merge "$option" a b
		refused "options '${option%%=*}' and '--check-order' are incompatible" "$bin/xjoin" \
			--check-order "$option" a b
		refused "options '${option%%=*}' and '--algorithm=inl' are incompatible" "$bin/xjoin" \
			--algorithm=inl --index1=i "$option" a b
		without "${option%%=*}" 'the files were joined by merge' "$bin/xjoin" "$option" a b
		silent "$bin/xjoin" --algorithm=hybrid "$option" a b
	done
	without --max-outstanding 'the files were joined by ' "$bin/xjoin" --max-outstanding=9 a b
	without --parallel 'a simulated machine has one thread' "$bin/xjoin" --parallel=2 --volume=sim:tiny a b
	without --direct=always 'a simulated volume' "$bin/xjoin" --direct --volume=sim:tiny a b
	"$bin/xgen" lines --bytes=2M >l
	[ -z "$shim" ] || without --direct=always 'no direct I/O for l' nodirect "$bin/xjoin" --direct --algorithm=merge --nocheck-order l b
	silent nodirect "$bin/xjoin" --algorithm=hybrid l b
	silent "$bin/xjoin" a b
}

@test "xindex and mmap-cube name direct I/O that cannot be" {
	local sim=--volume=sim:tiny,files=both

	seq 5 >in
	without --direct=always 'a simulated volume' "$bin/xindex" build -k1 -o i --direct "$sim" in
	without --direct=always 'a simulated volume' "$bin/xindex" lookup --direct "$sim" i 3
	[ -z "$shim" ] || without --direct=always 'no direct I/O for i' nodirect "$bin/xindex" lookup --direct i 3
	[ -z "$shim" ] || without --direct=always 'no direct I/O for i' nodirect "$bin/xindex" check --direct i
	silent nodirect "$bin/xindex" lookup i 3
	"$bin/mmap-cube" create c --dims 16x16x4 --volume sim:tiny 2>/dev/null
	head -c 4096 /dev/zero >raw
	without --direct=always 'a simulated volume' "$bin/mmap-cube" load --direct c raw
	silent "$bin/mmap-cube" load c raw
}

@test "mmap-cube refuses what other options make void" {
	make=("$bin/mmap-cube" create new.cube --dims 16x16x4)
	for option in --cell=8192 --fill-factor=0.5 --overflow=0.1; do
		refused "mmap-cube: ${option%=*} applies to --points only" "${make[@]}" $option
	done
	refused '--conservatism applies to --mapping=multimap and auto only' "${make[@]}" --mapping=naive --conservatism=5
	refused '--waste applies to --mapping=auto only' "${make[@]}" --mapping=multimap --waste=5
	refused '--positions needs --workload or --query' "${make[@]}" --positions=5
	refused '--seed needs --workload or --query' "${make[@]}" --seed=5
	refused '--decluster needs --volumes' "${make[@]}" --decluster=round-robin
	refused '--decluster needs --volumes' "${make[@]}" --decluster=round-robin --volumes=1
	[ ! -e new.cube ]
	"$bin/mmap-cube" create c --dims 16x16x4 --volume sim:tiny --waste=30 --conservatism=10 -q 'beam 1' --positions=3 --seed=2 2>/dev/null
	head -c 4096 /dev/zero >raw
	refused '--depth is always 1 with --engine=sync' "$bin/mmap-cube" load --depth=4 --engine=sync c raw
	"$bin/mmap-cube" create d --dims 16x16x4 2>/dev/null
	"$bin/mmap-cube" load --depth=1 --engine=sync d raw
	refused '--output and --discard are incompatible' "$bin/mmap-cube" range c --discard -o out
	refused '--format and --discard are incompatible' "$bin/mmap-cube" beam c --dim 1 --at 0,0,0 --discard --format=csv
	[ ! -e out ]
}
