#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
. "$BATS_TEST_DIRNAME/suite.bash"

# 40,000 records of 15 numbers, in 120 cells of 4 KiB an A-page.
setup_file()
{
	cd "$BATS_FILE_TMPDIR" || return
	"$xgen" -n 40000 r -o r.txt
	"$xtable" load r -t'|' r.txt
}

setup()
{
	needs jq
	begin_test
	cp "$BATS_FILE_TMPDIR"/r* .
}

@test "scans and gets give the same records through a pool" {
	for query in "scan r" "scan r --columns c2,c7" "scan r --where=c1<0.01 --columns=c3" \
		"scan r --agg=sum(c5),count()" "get r 0 39999 17 20000 17"; do
		"$xtable" $query >want
		[ -s want ]
		for manager in F S D; do
			"$xtable" $query --pool=$manager -S 16M --stats=s.json | cmp - want
			[ "$(jq .pool.misses s.json)" -gt 0 ]
		done
	done
}

@test "a pool of S reads the columns of the query, one of F all of them" {
	run -0 "$xtable" scan r --columns c2 --pool=S --stats=s.json
	narrow=$(jq .result.cells_read s.json)
	run -0 "$xtable" scan r --columns c2 --pool=F --stats=f.json
	[ "$(jq .result.cells_read f.json)" -eq $((15 * narrow)) ]
	[ "$(jq '.pool | .lookups == .hits + .misses and .full_fetches == .misses' f.json)" = true ]
}

# counts QUERY OPTION...: requests and bytes that it reads.
counts()
{
	"$xtable" $1 "${@:2}" --discard --stats=c.json
	jq -c '[.io.read_requests, .io.read_bytes]' c.json
}

@test "a get that misses reads what it reads without a pool" {
	for columns in c3 c1,c7 ''; do
		query="get r 17 20000 39000${columns:+ --columns=$columns}"
		want=$(counts "$query")
		for manager in F S D; do
			[ "$(counts "$query" --pool=$manager)" = "$want" ]
			[ "$(jq '.pool | .misses == 3 and .refused == 3 and .held_bytes == 0' c.json)" = true ]
		done
	done
}

@test "random gets read frames only for as many bytes as they read themselves" {
	for n in 1 20; do
		printf 'client 3\nget %s *\n' $n >w
		"$xtable" run r --workload=w --runtime=2s --pool=D --pool-size=2M \
			--volume=sim:cheetah36es-like --json >r.json
		# A record has a cell of 4 KiB in each of 15 columns.
		[ "$(jq '.io.read_bytes <= 2 * .result.records_read * 15 * 4096' r.json)" = true ]
		[ "$(jq '.io.read_requests <= 2 * .result.records_read * 15' r.json)" = true ]
	done
}

@test "a scan reads several frames ahead" {
	needs python3
	"$xtable" create t --no-data --schema=<(echo 'a i64 not null') --records=200000 --layout=csm --cell=4K \
		--volume=sim:cheetah36es-like
	"$xtable" scan t --discard --pool=D --pool-size=2M --frame=32K --trace=trace --stats=s.json
	[ "$(jq .pool.misses s.json)" = 49 ]
	python3 -c '
lines = [line.split() for line in open("trace") if line[0] == "R" and int(line.split()[3]) > 4096]
events = sorted([(int(f[5]), 1) for f in lines] + [(int(f[6]), -1) for f in lines])
outstanding = [sum(step for _, step in events[: i + 1]) for i in range(len(events))]
assert len(lines) == 49 and max(outstanding) >= 16, max(outstanding)'
}

@test "a frame along tracks is read by one request for each part of a track" {
	cut -d'|' -f1,2 r.txt | head -9000 >few.txt
	for volume in tiny serpentine; do
		"$xtable" load t -t'|' few.txt --cell=512 --records-per-page=63 --placement=semiseq --volume=sim:$volume \
			--overwrite
		"$xtable" scan t --stats=plain.json | cmp - few.txt
		for size in 7680 32K 256K; do
			"$xtable" scan t --pool=D --pool-size=1M --frame=$size --stats=pool.json | cmp - few.txt
		done
		# The last size has space for the table.
		[ "$(jq .io.read_requests pool.json)" = "$(jq .io.read_requests plain.json)" ]
	done
}

@test "updates through a pool give the same table, cell by cell or A-page by A-page" {
	cp r page && cp r plain
	"$xtable" update plain --set c3=0.5 --where 'c1 < 0.0001'
	"$xtable" update r --set c3=0.5 --where 'c1 < 0.0001' --pool=D --stats=r.json
	"$xtable" update page --set c3=0.5 --where 'c1 < 0.0001' --pool=D --update-unit=page --stats=p.json
	for table in r page; do
		cmp <("$xtable" scan plain) <("$xtable" scan $table)
		run -0 "$xtable" check $table
	done
	[ "$(jq .journal.cells p.json)" -gt $((15 * $(jq .journal.cells r.json))) ]
}

@test "a pool works in virtual time" {
	run -0 "$xtable" scan r --columns c2,c7
	want=$output
	run -0 "$xtable" scan r --columns c2,c7 --pool=D --volume=sim:cheetah36es-like --stats=s.json
	[ "$output" = "$want" ]
	[ "$(jq '.sim.requests > 0' s.json)" = true ]
}

@test "a change of A-pages journals those with new values alone" {
	"$xtable" load t -t'|' r.txt --placement=semiseq --volume=sim:cheetah36es-like
	cells=$("$xtable" info t --json | jq '[.column_groups[].cells] | add')
	"$xtable" update t --set c3=0.5 --pool=F --update-unit=page --stats=t.json 17 18
	"$xtable" check t
	[ "$(jq .journal.cells t.json)" -ge "$cells" ]
	[ "$(jq .journal.cells t.json)" -le $((cells + 1)) ] # and one of the directory
	run -2 "$xtable" scan t --pool=F --engine=sync
	[[ $output == *'simulated volumes need the engine "sim"'* ]]
}

@test "sizes that do not fit are named, with what to change" {
	run -2 "$xtable" scan r --pool-size=1M
	[[ $output == *"--pool-size needs --pool"* ]]
	run -2 "$xtable" update r --set c3=1 --update-unit=page 0
	[[ $output == *"--update-unit needs --pool"* ]]
	run -2 "$xtable" scan r --pool=F -S 4M --pool-size=4M
	[[ $output == *"increase -S, or decrease --pool-size"* ]]
	run -2 "$xtable" scan r --pool=F --pool-size=1M --frame=1M
	[[ $output == *"no space for a frame"* ]]
	run -2 "$xtable" scan r --pool=F --frame=64K
	[[ $output == *"an A-page of 491520 bytes does not fit into a frame of 65536 bytes"* ]]
	run -2 "$xtable" scan r --pool=X
	[[ $output == *"F"* && $output == *"D"* ]]
}

@test "changed A-pages stay in the pool for the reads of clients" {
	printf 'client 1\nupdate 1 c3; scan c2,c3\n' >w
	for unit in cells page; do
		cp r $unit
		"$xtable" run $unit --workload=w --runtime=2s --pool=F -S 256M --pool-size=64M --update-unit=$unit --json >$unit.json
		"$xtable" check $unit
	done
	[ "$(jq '.pool.misses > 2 and .pool.invalidated > 0' cells.json)" = true ]
	[ "$(jq '.pool.hits > 0 and .pool.invalidated == 0 and .pool.misses <= 2' page.json)" = true ] # 10 A-pages, 8 in a frame
}
