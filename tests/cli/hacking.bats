#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# bats file_tags=slow
#
# Builds the capability that HACKING.md shows, and runs it.
. "$BATS_TEST_DIRNAME/suite.bash"

# Each listing follows the name of its file.
extract()
{
	awk '/^`[a-z\/]+\.[ch]`:$/ { gsub(/[`:]/, ""); file = $0 }
		/^```$/ { file = writing = "" }
		writing { print > file }
		/^```c$/ && file { writing = 1 }' "$1"
}

@test "a made-up capability takes a folder, a header and a tool, and nothing else" {
	needs cc
	needs jq
	root=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
	[ -s "$build/lib/libspindle.a" ] || skip "the library has not been built here"
	mkdir -p lib/include/spindle lib/longest tools
	extract "$root/HACKING.md"
	cc -std=gnu17 -D_GNU_SOURCE -Wall -Wextra -Werror -Ilib/include -I"$root/lib/include" -I"$root/lib" \
		-c -o longest.o lib/longest/longest.c
	cc -std=gnu17 -D_GNU_SOURCE -Wall -Wextra -Werror -Ilib/include -I"$root/lib/include" -I"$root/tools/common" \
		-o longest tools/longest.c longest.o "$root"/tools/common/*.c "$build/lib/libspindle.a" \
		-luring -laio -ljansson -lxxhash -llz4 -lzstd -lz -llzma -lmd -lm
	seq 100000 >n
	run -0 --separate-stderr ./longest --trace=t n
	[ "$(jq -c '[.result.records, .result.longest_bytes]' <<<"$output")" = "[100000,7]" ]
	[ -z "$stderr" ]
	run -0 --separate-stderr ./longest --volume=sim:atlas10k3-like,files=in n
	[ "$(jq '.sim.requests > 0 and .result.elapsed_s > 0' <<<"$output")" = true ]
	run -2 --separate-stderr ./longest --volume=foo n
	run -2 --separate-stderr ./longest no-such-file
	[[ $stderr == *"no-such-file"* ]]
}
