# shellcheck shell=bash
# SPDX-License-Identifier: MIT
#
# What the suites of compressed files share: their input, and programs that pack and unpack.

setup_file()
{
	export LC_ALL=C
	cd "$BATS_FILE_TMPDIR" || return
	seq 100000 | awk '{ print ($1 * 7919) % 100003, $1 }' >in
	sort in >sorted
	for i in {1..4}; do cat in; done | sort >sorted4
}

setup()
{
	needs gzip zstd lz4 xz
	begin_test tmp
	cp "$BATS_FILE_TMPDIR"/{in,sorted} .
}

teardown()
{
	[ -z "$(ls tmp)" ]
}

pack() # FORMAT < BYTES > PACKED, by its quickest level
{
	"$1" -1c
}

unpack() # FORMAT < PACKED > BYTES
{
	"$1" -dc
}

# skippable BYTES: a frame that zstd and lz4 skip.
skippable()
{
	printf '\x5e\x2a\x4d\x18'
	printf '%08x' "$1" | sed 's/\(..\)\(..\)\(..\)\(..\)/\\x\4\\x\3\\x\2\\x\1/' | xargs -0 printf '%b'
	head -c "$1" /dev/zero
}
