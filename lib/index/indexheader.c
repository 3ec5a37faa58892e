/* SPDX-License-Identifier: MIT */
/*
 * Writes and reads the header of an index.
 *
 * Form: the magic, then little-endian numbers of 8 bytes, then two texts, each with its final 0,
 * and zeros up to the end of the last page.  The checksum covers all bytes that follow it.
 *
 * A valid checksum is not enough, since anyone can compute one: possible() checks the members.
 */
#include <string.h>
#include "base/coder.h"
#include "base/hash.h"
#include "index/indexheader.h"

#define MAGIC "SPINDEX\n"
#define SUM_AT 16
#define SUM_END (SUM_AT + 8)

struct prefix {
	char magic[8];
	uint64_t version, sum;
};

static void code_prefix(struct sp__coder *c, struct prefix *p)
{
	sp__code_bytes(c, p->magic, sizeof(p->magic));
	sp__code_u64(c, &p->version);
	sp__code_u64(c, &p->sum);
}

/* Behind the kinds of formats: lines of JSON, with all checked. */
enum { KIND_JSON = SP_REC_FIXED + 1, KIND_JSON_STRICT };

static void code_format(struct sp__coder *c, struct sp_recfmt *f)
{
	uint32_t kind = !f->json ? f->kind : f->strict ? KIND_JSON_STRICT : KIND_JSON;
	uint32_t eol = (uint8_t)f->eol, separator = (uint8_t)f->separator;
	uint64_t fixed_bytes = f->fixed_bytes;

	sp__code_max(c, &kind, KIND_JSON_STRICT);
	sp__code_max(c, &eol, UINT8_MAX);
	sp__code_max(c, &separator, UINT8_MAX);
	sp__code_u64(c, &fixed_bytes);
	f->json = kind >= KIND_JSON;
	f->strict = kind == KIND_JSON_STRICT;
	f->kind = f->json ? SP_REC_LINE : (enum sp_recfmt_kind)kind;
	f->eol = (char)eol;
	f->separator = (char)separator;
	f->fixed_bytes = fixed_bytes;
}

static void code_source(struct sp__coder *c, struct sp__index_header *h)
{
	uint64_t time = (uint64_t)sp__file_state_time(&h->source_state);

	sp__code_u64(c, &h->source_state.bytes);
	sp__code_u64(c, &h->source_checksum);
	sp__code_u64(c, &time);
	sp__file_state_set_time(&h->source_state, (int64_t)time);
}

static void code_table(struct sp__coder *c, struct sp__index_header *h)
{
	sp__code_u64(c, &h->table_id);
	sp__code_u64(c, &h->column_changed);
	sp__code_u64(c, &h->table_records);
}

static void code_text(struct sp__coder *c, char text[SP__INDEX_TEXT_MAX])
{
	size_t n = strlen(text) + 1;

	if (c->reading && !c->failed) {
		n = strnlen((const char *)c->from + c->at, c->bytes - c->at) + 1;
		c->failed = n > SP__INDEX_TEXT_MAX;
	}
	sp__code_bytes(c, text, n);
}

/* Codes all members, in the order of the file. */
static void code_members(struct sp__coder *c, struct sp__index_header *h)
{
	uint32_t separator = (uint32_t)(h->separator + 1);

	sp__code_max(c, &h->header_bytes, UINT32_MAX);
	sp__code_max(c, &h->page_bytes, SP__NODE_MAX);
	sp__code_u64(c, &h->end_page);
	sp__code_u64(c, &h->root);
	sp__code_u64(c, &h->last_leaf);
	sp__code_max(c, &h->levels, SP__NODE_LEVELS);
	sp__code_u64(c, &h->records);
	sp__code_u64(c, &h->keys);
	code_format(c, &h->format);
	sp__code_max(c, &separator, UINT8_MAX + 1);
	h->separator = (int)separator - 1;
	sp__code_u64(c, &h->header_records);
	sp__code_u64(c, &h->locale);
	code_source(c, h);
	if (h->of_table)
		code_table(c, h);
	code_text(c, h->key);
	code_text(c, h->source);
}

static uint32_t numbers_bytes(const struct sp__index_header *h)
{
	return SP__INDEX_NUMBERS_BYTES + (h->of_table ? SP__INDEX_TABLE_BYTES : 0);
}

void sp__index_header_size(struct sp__index_header *h)
{
	uint64_t bytes = numbers_bytes(h) + strlen(h->key) + strlen(h->source) + 2;

	h->header_bytes = (uint32_t)((bytes + h->page_bytes - 1) / h->page_bytes * h->page_bytes);
}

static uint64_t sum_of(const struct sp__index_header *h, const uint8_t *data)
{
	return sp__checksum(data + SUM_END, h->header_bytes - SUM_END);
}

void sp__index_header_encode(struct sp__index_header *h, uint8_t *data)
{
	struct sp__coder c = { .data = data, .bytes = h->header_bytes };
	struct prefix p = { MAGIC, h->of_table ? SP__INDEX_TABLE_VERSION : SP__INDEX_VERSION, 0 };

	memset(data, 0, h->header_bytes);
	code_prefix(&c, &p);
	code_members(&c, h);
	p.sum = sum_of(h, data);
	c.at = SUM_AT;
	sp__code_u64(&c, &p.sum);
}

/* True if a build can have written this header; bytes: of the file, as far as they were read. */
static bool possible(const struct sp__index_header *h, size_t bytes)
{
	const uint64_t page = h->page_bytes, first = page ? h->header_bytes / page : 0;

	return page >= SP__NODE_MIN && !(page & (page - 1)) &&
	       h->header_bytes >= numbers_bytes(h) && h->header_bytes <= bytes &&
	       h->header_bytes % page == 0 &&
	       (h->format.kind != SP_REC_FIXED || h->format.fixed_bytes) && h->levels &&
	       h->root >= first && h->root < h->end_page && h->last_leaf >= first &&
	       h->last_leaf <= h->root && h->end_page <= INT64_MAX / page &&
	       h->keys <= h->records && h->source_state.bytes <= INT64_MAX && h->source[0] &&
	       (!h->of_table || (h->key[0] && h->records <= h->table_records));
}

int sp__index_header_decode(struct sp__index_header *h, const uint8_t *data, size_t bytes,
			    const char **reason)
{
	struct sp__coder c = sp__coder_reader(data, bytes);
	struct prefix p = { 0 };

	code_prefix(&c, &p);
	*reason = "is not an index; xindex build makes one";
	if (bytes < SP__INDEX_NUMBERS_BYTES || memcmp(p.magic, MAGIC, sizeof(p.magic)) != 0)
		return SP_EFORMAT;
	*reason = "is an index of another version of Spindle";
	if (p.version != SP__INDEX_VERSION && p.version != SP__INDEX_TABLE_VERSION)
		return SP_EFORMAT;
	*reason = "the header is damaged";
	*h = (struct sp__index_header){ .of_table = p.version == SP__INDEX_TABLE_VERSION };
	code_members(&c, h);
	if (c.failed || !possible(h, bytes) || c.at > h->header_bytes || p.sum != sum_of(h, data))
		return SP_ECORRUPT;
	return 0;
}
