#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# file_tags=slow
#
# Compares the predictions of xsort --explain for simulated machines with the time of the sorts: 20
# settings on three drives and on the linear device.
#
#	tests/cli/xsort-predict.t [MODEL]...
#
# The ratios are printed as comments.  The prediction submits the expected requests to the same
# simulated machine, so the drive is known by construction; the requests and their times can be
# wrong.  No constant was fitted.  SP_TEST_FULL=1: on more models, and all drawn settings.
# shellcheck source=tests/cli/predict.bash
. "$(dirname "$0")/predict.bash"
xsort=$(program xsort)
cd "$work" || exit 2
full=${SP_TEST_FULL:-}

settings=(
	'none -S1M'
	'none -S2M'
	'none -S4M --readahead=cluster'
	'none -S1M --readahead=double'
	'none -S1M --readahead=none --page-size=16K'
	'none -S2M --readahead=forecast'
	'none -S2M --readahead=extended'
	'none -S1M --fan-in=4'
	'none -S1M --fan-in=6 --merge-policy=eager'
	'none -S1M --fan-in=4 --merge-policy=polyphase'
	'none -S1M --run-size=256K'
	'none -S2M --run-size=512K --fan-in=8 --readahead=cluster'
	'both -S1M'
	'both -S4M --readahead=double'
	'both -S1M --fan-in=5'
	'none -S1M --run-formation=replacement'
	'none -S2M --recycle=none --fan-in=4'
	'both -S2M --page-size=32K --readahead=equal'
)
placed=('none -S1M --placement=track' 'none -S2M --placement=semiseq')
plain=('in -S2M' 'both -S64M')
others=('both -S3M' 'none -S1500K --fan-in=5' 'in -S2M --readahead=double' 'both -S32M'
	'none -S1M --run-formation=load --page-size=8K')
arrays=('none -S1M' 'none -S4M --readahead=cluster' 'none -S1M --readahead=double'
	'none -S1M --run-formation=replacement' 'both -S3M' 'none -S1500K --fan-in=5'
	'in -S2M --readahead=double' 'both -S32M')

# compare MODEL SETTING, of input and record: see predict.bash.
compare()
{
	# shellcheck disable=SC2086
	set -- "$1" ${2%% *} "${2#* }"
	# shellcheck disable=SC2086
	set -- --volume="sim:$1,files=$2" --record-size="$record" --bkey=0:10 $3 "$input"
	"$xsort" "$@" --explain --stats=plan && "$xsort" "$@" --stats=report >result || exit 2
	both_times plan report
}
# most FILE N: at least N lines are within 15 %, and none is more than 40 % off.
most()
{
	[ $(($(wc -l <"$1") - $(off "$1" 15 | wc -l))) -ge "$2" ] && [ -z "$(off "$1" 40)" ]
}
# near FILE PERCENT N: at least N lines are within PERCENT %.
near() { [ -s "$1" ] && [ $(($(wc -l <"$1") - $(off "$1" "$2" | wc -l))) -ge "$3" ]; }
few_off() { [ "$(wc -l <"$1")" -eq 20 ] && [ "$(off "$1" 15 | wc -l)" -le 2 ]; }
none_far() { [ -s "$1" ] && [ -z "$(off "$1" 30)" ]; }

"$xgen" runs -n 262144 --runs=1 --record-size=64 --seed=1 -o in || exit 2
"$xgen" runs -n 100000 --runs=1 --record-size=100 --seed=2 -o records || exit 2
[ $# -gt 0 ] || set -- linear atlas10k3-like ${full:+barracuda4-like cheetah36es-like}
input=in record=64
for model; do
	if [ "$model" = linear ]; then
		table "$model" "$model" "${settings[@]}" "${plain[@]}"
	else
		table "$model" "$model" "${settings[@]}" "${placed[@]}"
	fi
	check "$model: 18 of 20 settings take as long as predicted, within 15 %" few_off "$model"
	check "$model: none is more than 30 % off" none_far "$model"
done
input=records record=100
for model in serpentine ide300-like mems-thesis ${full:+nearline6t-like ultrastar36lzx-like}; do
	table other "$model" "${others[@]}"
	cat other >>all
done
check "others, on other drives: none is more than 30 % off" none_far all
# Settings that were drawn at random, on all models; without SP_TEST_FULL each third one.
: >all
step=$((full ? 1 : 3))
while read -r model setting; do
	table drawn "$model" "$setting"
	cat drawn >>all
done < <(sed -n "$(((step + 2) / 2))~${step}p" "$here/xsort-predict.drawn")
check "drawn at random: $((84 / step)) of $((90 / step)) settings are predicted within 15 %" near all 15 $((84 / step))
check "drawn at random: $((87 / step)) of $((90 / step)) settings are predicted within 30 %" near all 30 $((87 / step))
# The bus takes three times as long as the medium.
sed 's/"bus_mb_s": 160/"bus_mb_s": 12/' "$here/../../lib/dev/models/cheetah36es-like.json" >slow.json
table slow ./slow.json "${others[@]}" 'none -S1M --run-formation=replacement'
check "a bus slower than the medium is predicted: none is more than 30 % off" none_far slow
: >all
input=in record=64
for model in linear,array=raid0:4 barracuda4-like,array=raid0:2 ${full:+linear,array=raid0:2 barracuda4-like,array=raid0:4}; do
	table array "$model" "${arrays[@]}"
	cat array >>all
done
share=$((full ? 1 : 2))
check "arrays: $((30 / share)) of $((32 / share)) settings are predicted within 15 %" most all $((30 / share))
: >all
for model in cheetah36es-like,array=raid0:2 ${full:+ultrastar36lzx-like,array=raid0:4}; do
	table array "$model" "${arrays[@]}"
	cat array >>all
done
check "arrays of other drives: $((14 / share)) of $((16 / share))" most all $((14 / share))
: >all
for model in atlas10k3-like,array=raid10:4 ${full:+barracuda4-like,array=raid10:4}; do
	table array "$model" "${arrays[@]}"
	cat array >>all
done
check "mirrored pairs: $((14 / share)) of $((16 / share))" most all $((14 / share))
ended
