/* SPDX-License-Identifier: MIT */
/*
 * Heads and nodes of indexes: what is not refused, with a checksum that is right, can be used
 * without leaving the page, and a header is written as it was read.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "base/hash.h"
#include "index/indexheader.h"
#include "index/indexkey.h"

#define PAGE 512
#define NUMBER 7

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static void require(bool cond)
{
	if (!cond)
		abort();
}

static void put_checksum(uint8_t *at, const uint8_t *data, size_t bytes)
{
	uint64_t sum = sp__checksum(data, bytes);

	for (unsigned i = 0; i < 8; i++)
		at[i] = (uint8_t)(sum >> 8 * i);
}

static void try_head(const uint8_t *data, size_t bytes)
{
	static struct sp__index_header h, again;
	static uint8_t copy[SP__INDEX_HEADER_MAX];
	struct sp__indexkey key;
	const char *reason = NULL;
	int rc = sp__index_header_decode(&h, data, bytes, &reason);

	if (rc) {
		require(reason && (rc == SP_EFORMAT || rc == SP_ECORRUPT));
		return;
	}
	require(h.header_bytes <= bytes && h.root < h.end_page && h.last_leaf < h.end_page);
	sp__index_header_encode(&h, copy);
	require(!sp__index_header_decode(&again, copy, h.header_bytes, &reason));
	require(again.root == h.root && again.records == h.records && !strcmp(again.key, h.key) &&
		!strcmp(again.source, h.source) && again.separator == h.separator);
	(void)!sp__indexkey_init(&key, h.key, &h.format, h.separator, NULL);
	sp__indexkey_free(&key);
}

static void try_node(const uint8_t *page)
{
	struct sp__node n;
	uint8_t key[PAGE];

	if (sp__node_open(&n, page, PAGE, NUMBER))
		return;
	require(n.prefix + n.prefix_bytes <= page + PAGE);
	for (unsigned i = 0; i < n.count; i++) {
		struct sp__nodeentry e = sp__node_entry(&n, i);

		require(e.rest >= page && e.rest + e.rest_bytes < page + PAGE);
		memcpy(key, n.prefix, n.prefix_bytes);
		memcpy(key + n.prefix_bytes, e.rest, e.rest_bytes);
		require(sp__node_compare(&n, i, key, n.prefix_bytes + e.rest_bytes) == 0);
		require(sp__node_below(&n, key, n.prefix_bytes + e.rest_bytes, true) <= n.count);
		if (n.level)
			(void)sp__node_child(&n, key, n.prefix_bytes + e.rest_bytes);
	}
	require(n.count <= sp__node_entries_max(PAGE));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	static uint8_t copy[SP__INDEX_HEADER_MAX];

	if (bytes > sizeof(copy))
		return 0;
	memset(copy, 0, sizeof(copy));
	if (bytes)
		memcpy(copy, data, bytes);
	try_head(copy, bytes);
	/* The input as a header, and as a node, with the right checksum. */
	memcpy(copy, "SPINDEX\n\1\0\0\0\0\0\0", 16);
	if (bytes >= PAGE && bytes % PAGE == 0) {
		copy[24] = (uint8_t)bytes;
		copy[25] = (uint8_t)(bytes >> 8);
		put_checksum(copy + 16, copy + 24, bytes - 24);
		try_head(copy, bytes);
	}
	memset(copy, 0, PAGE);
	if (bytes)
		memcpy(copy, data, bytes < PAGE ? bytes : PAGE);
	memset(copy + 8, 0, 8);
	copy[8] = NUMBER;
	put_checksum(copy, copy + 8, PAGE - 8);
	try_node(copy);
	return 0;
}
