#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# file_tags=slow
#
# Compares the predictions of xjoin --explain for simulated machines with the time of the joins: 20
# settings on three drives and on the linear device.
#
#	tests/cli/xjoin-predict.t [MODEL]...
#
# The ratios are printed as comments.  The prediction passes the expected requests through the same
# simulated machine, so it knows the drive by construction; the requests and their times can be
# wrong.  No constant was fitted.  The prediction was developed on linear and atlas10k3-like; repeated
# keys were added for flash.  The other drives, the file system, the page cache and the array were not
# used.  SP_TEST_FULL=1: on more of them.
# shellcheck source=tests/cli/predict.bash
. "$(dirname "$0")/predict.bash"
xjoin=$(program xjoin)
cd "$work" || exit 2
full=${SP_TEST_FULL:-}

# Files on the machine, options; both inputs: orders, lineitem, those sorted, orders again.
settings=(
	'none o l -S1M'
	'none o l -S2M'
	'none o l -S4M'
	'none o p -S2M'
	'none o l -S2M --build=2'
	'none o l -S3M --algorithm=grace'
	'none o l -S2M --algorithm=shj'
	'none o l -S4M --algorithm=shj --page-size=16K'
	'none o l -S4M --algorithm=nested'
	'in o l -S2M'
	'in o l -S2M --algorithm=shj'
	'out o l -S2M'
	'out o l -S4M --algorithm=grace'
	'both o l -S1M'
	'both o l -S3M'
	'both o l -S4M --algorithm=shj'
	'both o l -S64M'
	'in so sl -S2M --algorithm=merge'
	'out so sl -S4M --algorithm=merge'
	'both so sl -S2M --algorithm=merge'
)
others=('both o l -S1500K' 'none p o -S1M' 'in o l -S3M --algorithm=grace'
	'both o l -S8M --algorithm=shj' 'both so sl -S1M --algorithm=merge')

compare()
{
	# shellcheck disable=SC2086
	set -- "$1" $2
	set -- --volume="sim:$1,files=$2" -t'|' "${@:3}"
	"$xjoin" "$@" --explain --stats=plan && "$xjoin" "$@" --stats=report --output=result || exit 2
	both_times plan report
}
all_near() { [ "$(wc -l <"$1")" -eq "$2" ] && [ -z "$(off "$1" 15)" ]; }

"$xgen" orders --scale=0.02 --shuffle -o o && "$xgen" lineitem --scale=0.02 --shuffle -o l &&
	"$xgen" orders --scale=0.02 --shuffle --seed=2 -o p && sort -t'|' -k1,1 o >so &&
	sort -t'|' -k1,1 l >sl || exit 2
[ $# -gt 0 ] || set -- linear atlas10k3-like ${full:+barracuda4-like cheetah36es-like}
for model; do
	table "$model" "$model" "${settings[@]}"
	check "$model: 20 settings take as long as predicted, within 15 %" all_near "$model" 20
done
for model in serpentine flash mems-g2 atlas10k3-like,fs=group:8,cache=8M barracuda4-like,array=raid0:3 \
	${full:+nearline6t-like ide300-like ultrastar36lzx-like}; do
	table other "$model" "${others[@]}"
	cat other >>all
done
check "others, on other machines: so do they" all_near all $((full ? 40 : 25))
ended
