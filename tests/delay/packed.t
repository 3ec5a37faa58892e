#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Compressed inputs and outputs: threads of their own unpack and pack, through rings of buffers.

# shellcheck source=tests/delay/lib.bash
. "$(dirname "$0")/lib.bash"

"$xgen" records --seed=7 --bytes=2M >many
sort many >want
"$xsort" -r --compress-output=zstd -o many.zst many

packed()
{
	from many.zst "$1" "$xsort" --decompress --compress-output=zstd -T tmp \
		--parallel="${threads[$1 % 3]}" -o out.zst 2>err &&
		"$xsort" --decompress -m out.zst >out 2>err
	same want $?
}

# Reading ends at the first disorder: the thread that unpacks stops.
abandoned()
{
	local status=0

	"$xsort" --decompress -C many.zst 2>err || status=$?
	[ "$status" = 1 ] || echo "status $status: $(head -c 200 err)"
}

seeds packed
seeds abandoned
tap_done
