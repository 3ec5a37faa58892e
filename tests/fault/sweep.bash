# shellcheck shell=bash
# SPDX-License-Identifier: MIT
#
# Each call of a kind fails, one at a time.  The test has begin.bash and
# "once COMMAND", which runs a command behind the words of wrap, sets status, and says what is
# wrong.
# shellcheck disable=SC2154 # status, work: as above

# sweep COMMAND CALLS STEPS [NAME]: about STEPS of the calls fail, spread evenly.
sweep()
{
	local command=$1 calls=$2 name=${4:+, $4} n i what bad='' runs=0 reported=0

	rm -f count
	wrap=(counts "$calls")
	what=$(once "$command")
	[ -z "$what" ] || bad="without a fault: $what"$'\n'
	n=$(tail -n 1 count 2>/dev/null || echo 0)
	for i in $(awk -v n="$n" -v most="$3" 'BEGIN {
			most = most < n ? most : n
			for (i = 0; i < most; i++) print 1 + (most > 1 ? int(i * (n - 1) / (most - 1)) : 0) }'); do
		wrap=(fails "$i" "$calls")
		once "$command" >wrong
		runs=$((runs + 1)) reported=$((reported + (status == 2)))
		[ ! -s wrong ] || bad+="$calls $i of $n: $(cat wrong)"$'\n'
	done
	wrap=()
	swept=$((${swept:-0} + reported))
	tap_empty "$command, $calls$name: each fault is reported ($reported of $runs), or harmless" "$bad"
}

# all_swept: some of the faults of all sweeps were reported: there was a shim, and it was asked.
all_swept() { tap "faults had effects (${swept:-0} were reported)" [ "${swept:-0}" -gt 0 ]; }
