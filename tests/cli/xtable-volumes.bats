#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# Tables along the tracks of several drives, each a file of its own: all commands give the text that
# they give for one file; what is refused; old and exchanged volumes.

# shellcheck source=tests/cli/lanes.bash
. "$BATS_TEST_DIRNAME/lanes.bash"

placement=semiseq
volume=sim:cheetah36es-like

# on_tracks TABLE VOLUMES [OPTION]...: loads the file a over these volumes.
on_tracks()
{
	local table=$1 volumes=$2
	shift 2
	"$xtable" load "$table" a -t'|' --placement=semiseq --volumes="$volumes" "$@"
}

@test "records come back from several files, also after changes" {
	inputs
	same --volume=$volume --volumes=v1
	same --volume=$volume --volumes=v1,v2 --cell=1K --depth-rows=2 --empty-lane
	same --volume=sim:tiny --volumes=v1,v2
	"$diskprobe" sim:tiny -o tracks.json >/dev/null
	same --geometry=tracks.json --volumes=v1,v2
}

# texts TABLE: the output of commands.
texts()
{
	local t=$1

	"$xtable" scan "$t"
	"$xtable" scan "$t" --columns c2,c5 --where 'c2 < 300'
	"$xtable" scan "$t" --agg 'count(),sum(c2),max(c5)'
	"$xtable" scan "$t" --pool=D -S 4M
	"$xtable" get "$t" 0 2999 17
	"$xtable" index "$t" c2 -o index
	"$xtable" get "$t" --by=c2 --index=index 7919 0
	"$xtable" check "$t"
	"$xtable" info "$t" | grep -v '^volumes: '
	"$xtable" explain "$t" -q 'scan c1,c3' -q 'get 10 *' -q 'update 5 c2' -q 'append 100'
}

@test "every command gives the text that it gives for one file" {
	inputs
	for names in v1 v1,v2; do
		n=$((${#names} / 3 + 2))
		on_tracks one $n --overwrite --volume=$volume --seed=1
		on_tracks t $names --overwrite --volume=$volume --seed=1
		texts one >one.text
		texts t >t.text
		cmp one.text t.text
		for table in one t; do
			"$xtable" append $table b
			"$xtable" update $table --where 'c1 > 2500' --set=c2=5
			"$xtable" update $table 7 8 4000 --set='c5=a text of another length'
			"$xtable" delete $table 100 8999
		done
		texts one >one.text
		texts t >t.text
		cmp one.text t.text
		"$xtable" convert t plain --overwrite
		"$xtable" scan plain | cmp - <("$xtable" scan one)
		"$xtable" info t | grep -qx "volumes: the table, ${names/,/, }"
	done
	"$xtable" info t --json | tr -d ' \n' | grep -q '"volume_names":\["v1","v2"\]'
	"$xtable" info one --json | tr -d ' \n' | grep -q '"volume_names":\[\]'
}

@test "each file has the cells of its drive, and requests go to it, by all engines" {
	inputs
	"$diskprobe" sim:tiny -o tracks.json >/dev/null
	on_tracks t v1,v2 --geometry=tracks.json
	for engine in io_uring libaio sync; do
		"$xtable" scan t --engine=$engine --trace=trace | cmp - a
		[ "$(awk '/^R/ { print $2 }' trace | sort -u | tr '\n' ' ')" = 't v1 v2 ' ]
		"$xtable" scan t --engine=$engine --direct=always | cmp - a
		"$xtable" update t --where 'c1 > 2500' --set=c2=5 --engine=$engine
		"$xtable" scan t | cmp - <(awk -F'|' -v OFS='|' '$1 > 2500 { $2 = 5 } 1' a)
		"$xtable" update t --where 'c1 > 2500' --set=c2=6 --engine=$engine
		on_tracks t v1,v2 --geometry=tracks.json --overwrite --engine=$engine
	done
	# No file has what another one lacks: without its cells the records are lost.
	for file in v1 v2; do
		cp $file kept
		dd if=/dev/zero of=$file bs=4096 seek=1 count=$(($(stat -c %s $file) / 4096 - 1)) conv=notrunc status=none
		run -1 "$xtable" check t
		[[ $output == *" values cannot be read"* ]]
		run -2 "$xtable" scan t
		[[ $output == *"xtable: $file: cell "* ]]
		cp kept $file
	done
	"$xtable" check t
}

@test "a simulated table takes the time of one in a single file" {
	inputs
	on_tracks one 3 --volume=$volume
	on_tracks t v1,v2 --volume=$volume
	for command in scan 'scan --columns c2' 'get --keys=keys'; do
		seq 0 97 2999 >keys
		# shellcheck disable=SC2086
		[ "$(seconds $command t)" = "$(seconds $command one)" ]
	done
	printf 'client 3\nget 1 t.c1 uniform; update 1 t.c2 uniform\n' >mix
	"$xtable" run --workload=mix t --runtime=1s
	"$xtable" check t
}

@test "names begin at the folder of the table, which can be moved" {
	inputs
	mkdir a.d b.d
	on_tracks a.d/t "x,../b.d/y,$PWD/z" --volume=$volume
	[ -e a.d/x ]
	[ -e b.d/y ]
	[ -e z ]
	mv a.d moved
	"$xtable" scan moved/t | cmp - a
	"$xtable" check moved/t
}

@test "a volume that is missing, of another table, exchanged, damaged or too short is refused" {
	inputs
	on_tracks t v1,v2 --volume=$volume
	on_tracks u w1,w2 --volume=$volume
	cp v1 kept
	rm v1
	missing='^xtable: v1: is missing: it is volume 1 of t; put it back under this name$'
	for command in 'scan t' 'check t' 'info t' 'get t 5' 'update t 5 --set=c2=1' 'delete t 5' 'append t b' \
		'convert t n' 'explain t -q scan' 'index t c2 -o n'; do
		# shellcheck disable=SC2086
		refuse "$missing" $command
	done
	cp w1 v1
	refuse '^xtable: v1: is a volume of another table' scan t
	cp v2 v1
	refuse '^xtable: v1: is volume 2 of the table, not volume 1' scan t
	cp a v1
	refuse '^xtable: v1: is not a volume of a table' scan t
	cp t v1
	refuse '^xtable: v1: is not a volume of a table' scan t
	cp kept v1
	printf x | dd of=v1 bs=1 seek=41 conv=notrunc status=none
	refuse '^xtable: v1: its header is damaged' scan t
	cp kept v1
	truncate -s 8192 v1
	refuse '^xtable: v1: it was truncated: it has 8192 bytes, not [1-9]' scan t
	rm v1
	mkdir v1
	refuse '^xtable: v1: is neither a plain file nor a block device' scan t
	rmdir v1
	cp kept v1
	refuse 'drives of .* bytes, and this one has .*: convert it to other drives' \
		scan t --volume=sim:atlas10k3-like
	refuse '^xtable: v1: is not a table' scan v1
	refuse '^xtable: v1: is the table itself' append t v1
	"$xtable" scan t | cmp - a
}

@test "a copy of a volume from before a change is refused, and a copy of the first file" {
	inputs
	on_tracks t v1,v2 --volume=$volume
	cp t t.old
	cp v2 v2.old
	"$xtable" update t 5 --set=c2=1
	cp v2 v2.new
	cp t t.new
	cp v2.old v2
	refuse '^xtable: v2: has another state of the table than t: one of them is an older copy' scan t
	cp v2.new v2
	cp t.old t
	refuse '^xtable: v1: has another state of the table than t: one of them is an older copy' scan t
	cp t.new t
	"$xtable" check t
}

@test "a volume of a copy that was changed as often is refused" {
	inputs
	on_tracks t v1,v2 --volume=$volume
	for change in 'update 5 --set=c2=1' 'append a' 'delete 7'; do
		for v in t v1 v2; do cp $v $v.old; done
		# shellcheck disable=SC2086 # a command and its operands
		set -- $change
		"$xtable" "$1" t "${@:2}"
		for v in t v1 v2; do cp $v $v.one; cp $v.old $v; done
		"$xtable" "$1" t "${@:2}"
		for v in t v1 v2; do
			cp $v $v.two
			cp $v.one $v
			refuse 'has another state of the table than t: one of them is an older copy' check t
			refuse 'has another state of the table than t: one of them is an older copy' delete t 0
			cp $v.two $v
		done
		"$xtable" check t
	done
}

@test "volumes that cannot be created are refused, and nothing is left" {
	inputs
	cp a b1
	new="load t a -t| --placement=semiseq --volume=$volume"
	# shellcheck disable=SC2086
	{
		refuse '^xtable: v: is named for two volumes of the table: name each one once' $new --volumes=v,v
		refuse '^xtable: ./v: is named for two volumes of the table' $new --volumes=w,v,./v
		refuse '^xtable: t: is named for two volumes of the table' $new --volumes=v,t
		refuse '^xtable: b1: exists; --overwrite allows to replace it' $new --volumes=v,b1
		refuse '^xtable: b: --volumes would overwrite it$' load t a b --overwrite --volumes=v,b
		refuse '^xtable: none/v: ' $new --volumes=v,none/v
		refuse 'is neither a plain file nor a block device' $new --volumes=v,/dev/null
		refuse '^xtable: invalid --volumes argument' $new --volumes=v,
		refuse 'valid is a number up to 64, or names of 1 to 63 volumes' $new --volumes=65
		refuse 'need the placement semiseq' load t a --volumes=v
		refuse 'has no known tracks' load t a --volumes=v --placement=semiseq
		refuse 'a table without data is one file: give the number of volumes, not their names' create t --no-data \
			--schema=<(echo a i64) --records=10 --placement=semiseq --volume=$volume --volumes=v
	}
	cmp a b1
	[ ! -e t ]
	[ ! -e v ]
	[ ! -e w ]
	# An old table stays if the new one cannot be loaded.
	# shellcheck disable=SC2086
	$xtable $new --volumes=v,w
	seq -f '%.0f|1|2' 250000 >many
	refuse 'no space for record' load t many -t'|' --placement=semiseq --volume=sim:tiny --volumes=v,w --overwrite
	"$xtable" scan t | cmp - a
	run -2 flock w "$xtable" load x a -t'|' --placement=semiseq --volume=$volume --volumes=w --overwrite
	[ "$output" = 'xtable: w: another program is using it' ]
	[ ! -e x ]
	run -2 flock w "$xtable" update t 1 --set=c2=5
	[ "$output" = 'xtable: w: another program is using it' ]
	"$xtable" scan t | cmp - a
}

@test "no output overwrites a volume of a table that is used" {
	inputs
	on_tracks t v1,v2 --volume=$volume
	on_tracks u u1 --volume=$volume
	printf 'client 1\nget 1 t.c1\n' >mix
	for command in 'scan t' 'get t 5' 'update t 5 --set=c2=1' 'delete t 5' 'append t b' 'index t c2' 'check t' \
		'convert t n' 'explain t -q scan' 'run u t --workload=mix'; do
		# shellcheck disable=SC2086
		{
			refuse '^xtable: v2: --stats would overwrite it' $command --stats=v2
			[ "${command%% *}" = explain ] || refuse '^xtable: v2: --trace would overwrite it' $command --trace=./v2
		}
	done
	refuse '^xtable: v1: --output would overwrite it' index t c2 -o v1
	refuse '^xtable: v1: OUT would overwrite it' convert t v1 --overwrite
	refuse '^xtable: v1: --volumes would overwrite it' convert t n --overwrite --placement=semiseq --to-volume=$volume --volumes=v1
	run -2 sh -c '"$0" scan t >>v1' "$xtable"
	"$xtable" scan t | cmp - a
	on_tracks t t.c2.index --volume=$volume --overwrite
	refuse '^xtable: t.c2.index: the index would overwrite it' index t c2
	"$xtable" scan t | cmp - a
}

@test "auto that chooses one device leaves the names of volumes alone" {
	seq 1200 | awk -v OFS='|' '{ print $1, $1 * 3 }' >a
	printf 'scan c1\n' >w
	"$xtable" load t a -t'|' --layout=auto --workload=w --placement=auto --volumes=v1 --volume=sim:flash
	"$xtable" info t --json | grep -q '"placement": "contiguous"'
	[ ! -e v1 ]
	"$xtable" scan t | cmp - a
}
