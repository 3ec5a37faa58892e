#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# The JSON Schemas of reports and the list of their keys, which the build makes from the tables of
# lib/report.
. "$BATS_TEST_DIRNAME/suite.bash"
load keys

# Keys do not change once released.  A new one: cp build/schemas/keys tests/golden/report.keys
@test "the keys of all reports are those of the golden list" {
	diff "$BATS_TEST_DIRNAME/../golden/report.keys" "$build/schemas/keys"
}

@test "all schemas are valid, and one that is not is found" {
	needs jq
	fits_schema
	cp -r "$build/schemas" .
	jq '.properties.tool.type = "word"' schemas/spindle.sort-1.json >bad
	mv bad schemas/spindle.sort-1.json
	SP_BUILD=$PWD run -1 fits_schema
	[[ ${#lines[@]} = 1 && $output == "spindle.sort-1.json: $.properties.tool.type: "* ]]
}

report()
{
	echo "W v 0 4096 0 1 2 4096" >t
	"$blockseq" --cache=1 --stats=s.json t
}

@test "a document that is not as its schema says is refused" {
	needs jq
	report
	fits_schema s.json
	jq '.total.requests = null' s.json >unknown.json
	fits_schema unknown.json
	n=0
	while read -r key change; do
		n=$((n + 1))
		jq "$change" s.json >bad$n.json
		echo "bad$n.json: .*$key" >>expected
	done <<'END'
more .more = 1
more .total.more = 1
more .volumes[0].more = 1
version del(.version)
tool .tool = "xsort"
trace .trace = 1
requests .total.requests = "1"
requests .total.requests = 1.5
requests .total.requests = -1
refined .refined = "none of them"
refined .refined = null
volumes .volumes = {}
volumes .volumes[0] = 1
nothing .schema = "spindle.nothing/1"
END
	run -1 fits_schema bad*.json
	while read -r complaint; do
		grep -q "^$complaint" <<<"$output" || { echo "no $complaint in: $output"; return 1; }
	done <expected
	[ "$(wc -l <expected)" = 14 ]
}

@test "a document that lacks a key of the golden list, or has another order, is found" {
	needs jq
	report
	has_keys s.json volumes[] cache
	for change in 'del(.total.requests)' 'del(.volumes[0].name)' '.volumes = []' '.cache = null' \
		'.trace as $t | del(.trace) | .trace = $t'; do
		jq "$change" s.json >bad.json
		run -1 same_keys bad.json volumes[] cache
	done
	run -1 same_keys s.json cache
	run -1 same_keys s.json volumes[]
	jq '.cache = null' s.json >without.json
	same_keys without.json volumes[]
}
