#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# Outputs of every tool: through links, to FIFOs, and never over another file of the same command.
. "$BATS_TEST_DIRNAME/suite.bash"

setup()
{
	begin_test
	printf '2 b\n1 a\n' >i
	printf '1 a\n2 b\n' >other
	printf '# spindle-trace/1\nR i 0 4096 0 0 10 4096\n' >t
}

# spared MESSAGE FILE COMMAND...: it is refused with this message, and FILE stays.
spared()
{
	local message=$1 file=$2 before

	shift 2
	before=$(ls -i "$file"; cksum <"$file")
	run "$@"
	[[ $status = 2 || ($1 = "$xjoin" && $status = 1) ]] || { echo "# $*: status $status, $output"; return 1; }
	[ "$output" = "$(basename "$1"): $message" ] || { echo "# $*: $output"; return 1; }
	[ "$before" = "$(ls -i "$file"; cksum <"$file")" ] || { echo "# $*: $file is another"; return 1; }
}

@test "-o of queries appears when it is complete, and is not what is read" {
	local tool

	seq 99 >in
	ln in linked
	"$xindex" build -k1n -o index in
	"$xtable" load table in
	echo old >out
	"$xindex" range index --lo 5 --hi 8 -o out
	cmp out <(seq 5 7)
	"$xindex" lookup index 9 7 --output=out --offsets
	[ "$(wc -l <out)" = 2 ]
	run -1 "$xindex" lookup index 100 -o out
	[ ! -s out ]
	"$xtable" scan table --limit=3 -o out
	cmp out <(seq 3)
	"$xtable" get table 4 2 -o out
	cmp out <(printf '5\n3\n')
	[ "$("$xtable" scan table --limit=1 -o -)" = 1 ]
	run -2 "$xtable" get table x -o out
	cmp out <(printf '5\n3\n')
	for tool in "$xindex range index" "$xindex lookup index 5"; do
		spared "$PWD/in: --output would overwrite it" in $tool -o linked
		spared "$PWD/in: --stats would overwrite it" in $tool --stats=in
		spared "index: --output would overwrite it" index $tool -o index
	done
	spared "table: --output would overwrite it" table "$xtable" scan table -o table
	for tool in "$xtable scan table" "$xindex range index" "$xgen lines -n 1" "$bin/mmap-cube export c"; do
		run -2 $tool -o one --output=two
		[ "$output" = "$(basename "${tool%% *}"): multiple outputs specified" ]
		[ ! -e one ]
		[ ! -e two ]
	done
	run -2 "$xtable" scan table --discard -o out
	[ "$output" = "xtable: options '--output' and '--discard' are incompatible" ]
}

@test "reports, traces and pictures overwrite no input" {
	ln i hard
	ln -s i soft
	for name in i ./i hard soft; do
		spared "i: --trace would overwrite it" i "$xsort" --trace="$name" i
		spared "i: --stats would overwrite it" i "$xsort" --stats="$name" -o out other i
		spared "i: --trace would overwrite it" i "$xjoin" --trace="$name" other i
		spared "i: --stats would overwrite it" i "$xjoin" --output=out --stats="$name" i other
		spared "i: --stats would overwrite it" i "$blockseq" --stats="$name" i
		spared "i: --stats would overwrite it" i "$blockseq" --compare --stats="$name" t i
		spared "i: --output would overwrite it" i "$diskprobe" -o "$name" i
		spared "i: --stats would overwrite it" i "$diskprobe" --stats="$name" i
		spared "i: --stats would overwrite it" i "$aiobench" run --stats="$name" i
		spared "i: --trace would overwrite it" i "$aiobench" run --trace="$name" i
		spared "i: --status would overwrite it" i "$aiobench" run --status-interval=1 --status="$name" i
	done
	cp i i.png
	spared "i.png: --plot would overwrite it" i.png "$diskprobe" --plot=i.png i.png
	for command in run sweep mix; do
		spared "i.png: --plot would overwrite it" i.png "$aiobench" $command --plot=i.png i.png
	done
	for command in run sweep mix policy preflight watch; do
		spared "i: --stats would overwrite it" i "$aiobench" $command --stats=i i
	done
	spared "i: --stats would overwrite it" i "$aiobench" compare --stats=i i other
	spared "i: --stats would overwrite it" i "$aiobench" compare --stats=i --a=i --b=
	run -2 "$xsort" --stats=i -o out <i
	[ "$output" = "xsort: -: --stats would overwrite it" ]
	[ "$(wc -l <i)" = 2 ]
	[ ! -e out ]
}

@test "an output is not another file that is read" {
	printf 'i\0' >list
	spared "list: --stats would overwrite it" list "$xsort" --files0-from=list --stats=list
	spared "i: --trace would overwrite it" i "$xsort" --files0-from=list --trace=i
	head -c 64K /dev/zero >random
	spared "random: --stats would overwrite it" random "$xsort" -R --random-source=random --stats=random i
	"$diskprobe" --quick sim:tiny -o g >/dev/null
	spared "g: --stats would overwrite it" g "$xsort" --geometry=g --stats=g i
	spared "g: --trace would overwrite it" g "$xjoin" --geometry=g --trace=g i other
	before=$(cksum <g)
	run -2 "$diskprobe" --geometry=g --stats=g tracks 1
	[ "${lines[0]}" = "diskprobe: --stats needs a device to probe, not --geometry" ]
	[ "$before" = "$(cksum <g)" ]
	spared "g: --output would overwrite it" g "$diskprobe" --resume=g -o g sim:tiny
	cp "$BATS_TEST_DIRNAME/../../lib/dev/models/tiny.json" model.json
	spared "model.json: --stats would overwrite it" model.json \
		"$xsort" --volume=sim:model.json,sched=look --stats=model.json i
	spared "model.json: --stats would overwrite it" model.json "$aiobench" run --stats=model.json sim:model.json
	spared "t: --trace would overwrite it" t "$aiobench" run --trace=t sim:model.json,cache=64K,policy=opt,future=t
	spared "t: --trace would overwrite it" t "$aiobench" replay --trace=t t sim:tiny
	printf '[a]\nfilename=i\nrw=randread\nsize=4k\n' >job
	spared "job: --stats would overwrite it" job "$aiobench" run --fio-job=job --stats=job
	spared "i: --stats would overwrite it" i "$aiobench" run --fio-job=job --stats=i
}

@test "no output is another one, also if neither exists" {
	: >x
	for name in x new; do
		rm -f new
		run -2 "$xsort" --stats=$name --trace=./$name i
		[ "$output" = "xsort: ./$name: --stats and --trace would both write it" ]
		run -2 "$xsort" -o $name --stats="$PWD/$name" i
		[ "$output" = "xsort: $PWD/$name: --output and --stats would both write it" ]
		run -1 "$xjoin" --output=$name --trace=$name i other
		[ "$output" = "xjoin: $name: --output and --trace would both write it" ]
		run -2 "$diskprobe" -o $name --stats=$name sim:tiny
		[ "$output" = "diskprobe: $name: --output and --stats would both write it" ]
		run -2 "$aiobench" run --runtime=1 --trace=$name --stats=$name sim:tiny
		[ "$output" = "aiobench: $name: --stats and --trace would both write it" ]
	done
	[ ! -s x ]
	[ ! -e new ]
	ln -s nowhere link
	run -2 "$xsort" --stats=link --trace=nowhere i
	[ "$output" = "xsort: nowhere: --stats and --trace would both write it" ]
	run -2 "$aiobench" run --create --size=4K --stats=new new
	[ "$output" = "aiobench: new: --stats would overwrite it" ]
	[ ! -e new ]
}

@test "standard output counts where the result goes there" {
	for command in "$xsort i" "$blockseq t" "$aiobench run --runtime=1 sim:tiny" "$diskprobe sim:tiny"; do
		echo kept >out
		# shellcheck disable=SC2086
		! $command --stats=out >>out 2>err || return
		grep -q ': out: standard output and --stats would both write it$' err
		[ "$(cat out)" = kept ]
	done
	run -1 bash -c '"$0" i other --trace=out >>out' "$xjoin"
	[ "$(cat out)" = kept ]
	"$xsort" -o sorted --stats=/dev/stdout i >>out
	[ "$(head -n 1 out)" = kept ]
	grep -q '"schema": "spindle.sort/1"' out
}

@test "the result may be an input" {
	"$xsort" -o i i
	cmp i other
	ln -s i soft
	"$xsort" -o soft --trace=trace i other
	[ -L soft ]
	[ "$(wc -l <i)" = 4 ]
	printf '3 c\n1 a\n' >i
	"$xjoin" --output=i i other
	[ "$(cat i)" = '1 a a' ]
}

# through COMMAND...: the file "fifo" stays one, and something comes out of it; the file that
# the link "soft" leads to is written.
through()
{
	local name

	rm -f fifo soft target
	mkfifo fifo
	timeout 60 cat fifo >came &
	"${@//NAME/fifo}" >/dev/null || return
	wait $!
	[ -p fifo ] && [ -s came ] || { echo "# $*: the FIFO"; return 1; }
	ln -s target soft
	for _ in new old; do
		"${@//NAME/soft}" >/dev/null || return
		[ -L soft ] && [ -s target ] || { echo "# $*: the link"; return 1; }
	done
}

@test "a FIFO is written to, a link followed" {
	through "$xsort" -o NAME i
	through "$xsort" --stats=NAME i
	through "$xsort" --trace=NAME i
	through "$xjoin" --output=NAME other other
	through "$xjoin" --stats=NAME other other
	through "$xjoin" --trace=NAME other other
	through "$blockseq" --stats=NAME t
	through "$xgen" lines -n 5 -o NAME
	through "$diskprobe" --quick -o NAME sim:tiny
	through "$diskprobe" --quick --stats=NAME sim:tiny
	through "$aiobench" run --io_size=40K --stats=NAME sim:tiny
	through "$aiobench" run --io_size=40K --trace=NAME sim:tiny
	through "$aiobench" run --runtime=2 --status-interval=1 --status=NAME sim:tiny
	through "$aiobench" preflight --stats=NAME i
}

@test "where a link leads nowhere, a sort that fails makes nothing there" {
	ln -s nowhere link
	run -2 bash -c "seq 300000 | '$xsort' -S 1M --engine=fault:SCOPE=PROCESS,KIND=WRITE,ERROR=EIO:auto -o link"
	run -2 "$xsort" -o link missing
	[ ! -e nowhere ]
	"$xsort" -o link i
	[ -L link ]
	[ "$(cat nowhere)" = $'1 a\n2 b' ]
}

@test "pictures are drawn through links too" {
	needs gnuplot
	for name in x.png x.svg; do
		ln -s "real.$name" $name
		"$aiobench" run --io_size=40K --plot=$name sim:tiny >/dev/null
		[ -L $name ]
		[ -s real.$name ]
	done
	"$aiobench" run --io_size=40K --plot=y.png sim:tiny >/dev/null
	[ "$(head -c 4 y.png | tail -c 3)" = PNG ]
}

@test "a device is written to and stays" {
	full=/dev/full
	if [ "$(id -u)" -eq 0 ]; then # who could replace the real one
		full=$PWD/full
		mknod full c 1 7 || skip "no device can be made here"
	fi
	(: >"$full") 2>/dev/null || skip "$full cannot be opened here"
	run -2 "$diskprobe" --quick -o "$full" sim:tiny
	[[ $output == *"diskprobe: $full: No space left on device" ]]
	run -2 "$xsort" --stats="$full" i
	[[ $output == *"write failed: $full: No space left on device" ]]
	run -2 "$aiobench" run --io_size=40K --trace="$full" sim:tiny
	run -2 "$xgen" lines -n 5 -o "$full"
	[ -c "$full" ]
}

@test "a failing command leaves old reports and plots unchanged" {
	for f in report pic.png; do echo old >$f; done
	run -2 "$xsort" --stats=report nowhere
	run -1 "$xjoin" --stats=report i nowhere
	run -2 "$blockseq" --stats=report i
	run -2 "$diskprobe" --stats=report nowhere
	run -2 "$aiobench" run --stats=report --plot=pic.png nowhere
	[ "$(cat report pic.png)" = "old
old" ]
	run -2 env PATH=/nonexistent "$aiobench" run --io_size=40K --plot=pic.png sim:tiny
	[ "$(cat pic.png)" = old ]
	[ "$(ls)" = "i
other
pic.png
report
t" ]
}

# mounted COMMAND...: it runs where m is a mount point of its own, which rename() cannot replace.
mounted()
{
	unshare -Ur -m bash -c 'mount --bind m m && exec "$@"' - "$@"
}

@test "a mount point is written in place, and decided before the work" {
	: >m
	needs unshare
	mounted true || skip "no mounts in a user namespace here"
	seq 20000 | sort -R --random-source=<(yes) >numbers
	seq 20000 | sort >other
	cp numbers m
	mounted "$xsort" -n -o m m
	seq 20000 | cmp - m
	seq 1 2 20000 >m
	seq 2 2 20000 >even
	mounted "$xsort" -n -m -o m m even
	seq 20000 | cmp - m
	mounted "$xsort" --stats=m -o /dev/null numbers
	grep -q spindle.sort m
	mounted "$xsort" -S 1M --trace=m -o /dev/null numbers
	grep -q spindle-trace m
	mounted "$xgen" lines -n 10 -o m
	[ "$(wc -l <m)" = 10 ]
	mounted "$xindex" build -o m other
	"$xindex" check m
	mounted "$diskprobe" --quick sim:tiny -o m >report
	grep -q zones m
	mounted "$xjoin" --output=m numbers other
	[ "$(sort m | cmp - other)" = "" ]
	cp other m
	run -1 mounted "$xjoin" --output=m m numbers
	[ "$output" = "xjoin: m: an input cannot be written in place" ]
	cmp m other
	run -2 mounted "$xsort" --resume=ck -o m numbers
	[ "$output" = "xsort: m: can only be written in place, after the work: name another output" ]
	cmp m other
}

@test "a sticky folder with another user's file is written in place" {
	[ "$(id -u)" = 0 ] || skip "needs two users"
	needs setpriv
	chmod 755 "$BATS_TEST_TMPDIR"
	mkdir -m 1777 sticky
	seq 100 | shuf >sticky/o
	chmod 666 sticky/o
	chmod a+x . .. ../.. 2>/dev/null || true
	setpriv --reuid=65534 --clear-groups test -x "$xsort" -a -w sticky/o || skip "no way there for another user"
	setpriv --reuid=65534 --clear-groups "$xsort" -n -o sticky/o sticky/o
	seq 100 | cmp - sticky/o
}
