#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Run formation and merging, from files and pipes, with records longer than a slot.

# shellcheck source=tests/delay/lib.bash
. "$(dirname "$0")/lib.bash"

# keyed BYTES SEED: lines with few keys in front, so that many are equal.
keyed() { "$xgen" records --seed="$2" --bytes="$1" | tr ' ' _ | sed 's/^..\(.\)\(.\)/\1 \2/'; }
# long BYTES LETTER: one line.
long() { head -c "$1" /dev/zero | tr '\0' "$2" && echo; }

# One that may fit until its long line comes, and one that is larger than the memory.
{ keyed 350K 3 && long 500000 H && keyed 350K 4; } >few
{ keyed 1500K 3 && long 400000 H && keyed 1500K 4 && long 150000 G && long 700000 A && keyed 500K 5; } >many
inputs=(few many few)

keys=('' '-k2,2' '-s -k1,1' '-s' '-k2,2g -s' '-u -k1,1' '-f' '-r')
forms=(load load replacement)
policies=(lazy eager)
spills=(none lz4)

locale_of() { [ "$1" = 3 ] && echo en_US.UTF-8 || echo C; }
for k in "${!keys[@]}"; do
	for input in few many; do
		# shellcheck disable=SC2086 # options are words
		LC_ALL=$(locale_of "$k") sort --parallel=1 ${keys[k]} $input >"want-$input$k" || exit 2
	done
done

a_sort()
{
	local n=$1 k=$(($1 % 8)) input=${inputs[$1 / 8 % 3]}

	# shellcheck disable=SC2086
	LC_ALL=$(locale_of "$k") from "$input" "$((n / 4))" "$xsort" -S 2M -T tmp --parallel="${threads[n % 3]}" \
		--run-formation="${forms[n / 3 % 3]}" --merge-policy="${policies[n / 5 % 2]}" \
		--spill-compression="${spills[n / 7 % 2]}" ${keys[k]} >out 2>err
	same "want-$input$k" $?
}

# The input may still fit when a line comes that is longer than a run, and keys are dear.
"$xgen" lines --seed=6 --bytes=1M >half
{ cat half && long 1500000 H && cat half; } >long
LC_ALL=en_US.UTF-8 sort -s long >want-long
a_long_line()
{
	LC_ALL=en_US.UTF-8 from long $((1 + $1 % 2)) "$xsort" -s -S 6M -T tmp --parallel="${threads[$1 % 3]}" >out 2>err
	same want-long $?
}

seeds a_sort
seeds a_long_line
tap_done
