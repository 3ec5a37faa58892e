/* SPDX-License-Identifier: MIT */
/*
 * The head as bytes: the magic, then little-endian numbers of 8 bytes, then the two texts, each
 * with its final 0, and zeros up to the end of the page.  One function says which number is
 * where; it is called to write them and to read them.
 */
#include <string.h>
#include "base/hash.h"
#include "base/minmax.h"
#include "index/indexhead.h"

#define MAGIC "SPINDEX\n"

/* The checksum is that of all that follows it. */
enum { AT_MAGIC, AT_VERSION, AT_CHECKSUM, AT_HEAD_BYTES, AT_PAGE_BYTES, AT_MORE };
#define NUMBERS (AT_MORE + 16)
#define TEXTS_AT (8 * NUMBERS)

_Static_assert(TEXTS_AT == SP__INDEX_NUMBERS_BYTES, "texts follow the numbers");

static void put(uint8_t *data, unsigned i, uint64_t v)
{
	for (unsigned k = 0; k < 8; k++)
		data[8 * i + k] = (uint8_t)(v >> 8 * k);
}

static uint64_t get(const uint8_t *data, unsigned i)
{
	uint64_t v = 0;

	for (unsigned k = 8; k-- > 0;)
		v = v << 8 | data[8 * i + k];
	return v;
}

struct numbers {
	uint64_t end_page, root, last_leaf, levels, records, keys, kind, eol, csv_separator,
		fixed_bytes, separator, header_records, locale, source_bytes, source_checksum,
		source_mtime_ns;
};

_Static_assert(sizeof(struct numbers) == 8 * (NUMBERS - AT_MORE), "each number has a place");

static uint64_t texts_bytes(const struct sp__index_head *h)
{
	return strlen(h->key) + strlen(h->source) + 2;
}

void sp__index_head_size(struct sp__index_head *h)
{
	uint64_t bytes = TEXTS_AT + texts_bytes(h);

	h->head_bytes = (uint32_t)((bytes + h->page_bytes - 1) / h->page_bytes * h->page_bytes);
}

void sp__index_head_encode(const struct sp__index_head *h, uint8_t *data)
{
	struct numbers n = {
		.end_page = h->end_page,
		.root = h->root,
		.last_leaf = h->last_leaf,
		.levels = h->levels,
		.records = h->records,
		.keys = h->keys,
		.kind = h->format.kind,
		.eol = (uint8_t)h->format.eol,
		.csv_separator = (uint8_t)h->format.separator,
		.fixed_bytes = h->format.fixed_bytes,
		.separator = (uint64_t)(h->separator + 1),
		.header_records = h->header_records,
		.locale = h->locale,
		.source_bytes = h->source_state.bytes,
		.source_checksum = h->source_checksum,
		.source_mtime_ns = (uint64_t)sp__file_state_time(&h->source_state),
	};
	uint64_t list[NUMBERS - AT_MORE];

	memcpy(list, &n, sizeof(n));
	memset(data, 0, h->head_bytes);
	memcpy(data, MAGIC, 8);
	put(data, AT_VERSION, SP__INDEX_VERSION);
	put(data, AT_HEAD_BYTES, h->head_bytes);
	put(data, AT_PAGE_BYTES, h->page_bytes);
	for (unsigned i = AT_MORE; i < NUMBERS; i++)
		put(data, i, list[i - AT_MORE]);
	strcpy((char *)data + TEXTS_AT, h->key);
	strcpy((char *)data + TEXTS_AT + strlen(h->key) + 1, h->source);
	put(data, AT_CHECKSUM,
	    sp__checksum(data + 8 * AT_HEAD_BYTES, h->head_bytes - 8 * AT_HEAD_BYTES));
}

/* Takes a text; NULL: it is too long, or has no end. */
static const uint8_t *take_text(char *text, const uint8_t *at, const uint8_t *end)
{
	const uint8_t *nul = memchr(at, 0, (size_t)(end - at));

	if (!nul || nul - at >= SP__INDEX_TEXT_MAX)
		return NULL;
	memcpy(text, at, (size_t)(nul - at) + 1);
	return nul + 1;
}

/* Is this a head that could have been written? */
static bool possible(const struct sp__index_head *h)
{
	uint64_t first = h->head_bytes / h->page_bytes;

	return h->format.kind <= SP_REC_FIXED && h->separator >= -1 && h->separator <= 255 &&
	       (h->format.kind != SP_REC_FIXED || h->format.fixed_bytes) && h->levels &&
	       h->levels <= SP__NODE_LEVELS && h->root >= first && h->root < h->end_page &&
	       h->last_leaf >= first && h->last_leaf <= h->root &&
	       h->end_page <= INT64_MAX / h->page_bytes && h->keys <= h->records &&
	       h->source_state.bytes <= INT64_MAX && h->source[0];
}

static void take_numbers(struct sp__index_head *h, const uint8_t *data)
{
	uint64_t list[NUMBERS - AT_MORE];
	struct numbers n;

	for (unsigned i = AT_MORE; i < NUMBERS; i++)
		list[i - AT_MORE] = get(data, i);
	memcpy(&n, list, sizeof(n));
	h->end_page = n.end_page;
	h->root = n.root;
	h->last_leaf = n.last_leaf;
	h->levels = (unsigned)sp__min(n.levels, UINT32_MAX);
	h->records = n.records;
	h->keys = n.keys;
	h->format.kind = (enum sp_recfmt_kind)sp__min(n.kind, INT32_MAX);
	h->format.eol = (char)n.eol;
	h->format.separator = (char)n.csv_separator;
	h->format.fixed_bytes = n.fixed_bytes;
	h->separator = (int)sp__min(n.separator, 1000) - 1;
	h->header_records = n.header_records;
	h->locale = n.locale;
	h->source_state = (struct sp__file_state){ .bytes = n.source_bytes };
	sp__file_state_set_time(&h->source_state, (int64_t)n.source_mtime_ns);
	h->source_checksum = n.source_checksum;
}

int sp__index_head_decode(struct sp__index_head *h, const uint8_t *data, size_t bytes,
			  const char **reason)
{
	const uint8_t *at, *end;
	uint64_t page, head;

	*reason = "is not an index";
	if (bytes < TEXTS_AT || memcmp(data, MAGIC, 8) != 0)
		return SP_EFORMAT;
	*reason = "is an index of another version of Spindle";
	if (get(data, AT_VERSION) != SP__INDEX_VERSION)
		return SP_EFORMAT;
	*reason = "the head is damaged";
	head = get(data, AT_HEAD_BYTES);
	page = get(data, AT_PAGE_BYTES);
	if (page < SP__NODE_MIN || page > SP__NODE_MAX || (page & (page - 1)) || head < TEXTS_AT ||
	    head > bytes || head % page ||
	    get(data, AT_CHECKSUM) !=
		    sp__checksum(data + 8 * AT_HEAD_BYTES, head - 8 * AT_HEAD_BYTES))
		return SP_ECORRUPT;
	h->head_bytes = (uint32_t)head;
	h->page_bytes = (uint32_t)page;
	take_numbers(h, data);
	end = data + head;
	at = take_text(h->key, data + TEXTS_AT, end);
	at = at ? take_text(h->source, at, end) : NULL;
	return at && possible(h) ? 0 : SP_ECORRUPT;
}
