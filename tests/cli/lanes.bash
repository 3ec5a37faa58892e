# SPDX-License-Identifier: MIT
#
# For tests of tables whose lanes have places on a simulated device; placement is the option.
# shellcheck disable=SC2154 # the test sets placement, and bats what a command printed

# shellcheck source=tests/cli/suite.bash
. "$BATS_TEST_DIRNAME/suite.bash"

# Records with numbers, words, texts of all lengths and nulls.
records()
{
	awk -v from="$1" -v to="$2" 'BEGIN { srand(from); for (i = from; i < to; i++) {
		text = ""; n = int(rand() * 40)
		for (j = 0; j < n; j++) text = text sprintf("%c", 97 + int(rand() * 26))
		printf "%d|%d|%.2f|w%d|%s|%s\n", i, (i * 7919) % 10007, i / 4, i % 5,
			i % 9 ? text : "", i % 11 ? i * 3 : "" } }'
}

inputs()
{
	records 0 3000 >a
	records 3000 9000 >b
	cat a b >ab
	awk -F'|' -v OFS='|' 'NR == 3000 || NR == 5001 { $3 = "0.50"; $5 = "changed" }
		NR != 101 && NR != 9000' ab >changed
}

# same OPTION...: a table with the placement gives the records that went in.
same()
{
	"$xtable" load t a -t'|' --overwrite --placement="$placement" "$@"
	"$xtable" append t b
	"$xtable" scan t | cmp - ab
	"$xtable" scan t --parallel=3 --columns c2,c5 | cmp - <(cut -d'|' -f 2,5 ab)
	"$xtable" get t 0 2999 8999 3000 4711 | cmp - <(for i in 1 3000 9000 3001 4712; do
		sed -n "${i}p" ab; done)
	"$xtable" update t 2999 5000 --set=c3=0.50 --set=c5=changed
	"$xtable" delete t 100 8999
	"$xtable" scan t | cmp - changed
	"$xtable" scan t --where 'c2 < 300' -S 1M |
		cmp - <(awk -F'|' '$2 < 300' changed)
	"$xtable" check t
	"$xtable" convert t plain --overwrite
	"$xtable" scan plain | cmp - changed
	"$xtable" convert plain t2 --overwrite --placement="$placement" "$@"
	"$xtable" scan t2 | cmp - changed
	"$xtable" index t2 c2 -o t2.index
	"$xtable" get t2 --by=c2 --index=t2.index 7919 | cmp - <(awk -F'|' '$2 == 7919' changed)
}

# seconds COMMAND TABLE...: prints the virtual time of a command.
seconds()
{
	"$xtable" "$@" --discard --stats=stats >out
	sed -n 's/.*"elapsed_s": \([0-9.e-]*\).*/\1/p' stats | head -1
}

# refuse TEXT COMMAND...: the command ends with status 2 and one message that has the text.
refuse()
{
	local text=$1
	shift
	run --separate-stderr "$xtable" "$@"
	[ "$status" -eq 2 ]
	[ -z "$output" ]
	# shellcheck disable=SC2154 # run sets it
	grep -q "$text" <<<"$stderr" && [ "$(wc -l <<<"$stderr")" -eq 1 ]
}
