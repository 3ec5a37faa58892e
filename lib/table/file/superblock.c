/* SPDX-License-Identifier: MIT */
/*
 * Writes, reads and validates superblocks.  One function names the members in their order, for a
 * coder that writes or reads them.
 *
 * A valid checksum is not enough, since anyone can compute one: possible() checks the members, so
 * no number leads to an overflow, a division by zero, or an access outside of the file.
 */
#include <stdlib.h>
#include <string.h>
#include "base/err.h"
#include "base/minmax.h"
#include "cells/volumes.h"
#include "table/file/superblock.h"

static uint8_t *encode(const void *state, size_t *bytes)
{
	return sp__table_superblock_encode(state, bytes);
}

static int decode(void *state, const uint8_t *data, size_t bytes, const char **reason)
{
	return sp__table_superblock_decode(state, data, bytes, reason);
}

static void release(void *state)
{
	sp__table_superblock_free(state);
}

static const struct sp__superblock_format format = {
	.magic = SP__TABLE_MAGIC,
	.min_version = SP__TABLE_VERSION,
	.max_version = SP__TABLE_VERSION,
	.foreign = "is not a table; xtable load makes one",
	.other_version = "is a table of another version of Spindle",
	.state_bytes = sizeof(struct sp__table_superblock),
	.encode = encode,
	.decode = decode,
	.release = release,
};

static void code_group(struct sp__coder *c, struct sp__column_group *g)
{
	size_t n = g->ncolumns;

	sp__code_flag(c, &g->rows);
	sp__code_length(c, &n, &g->columns, sizeof(*g->columns), 8);
	g->ncolumns = (uint32_t)n;
	for (size_t i = 0; !c->failed && i < n; i++)
		sp__code_max(c, &g->columns[i], SP__COLUMNS_MAX - 1);
}

static void code_layout(struct sp__coder *c, struct sp__table_layout *l)
{
	size_t n = l->ngroups;

	sp__code_max(c, &l->cell_bytes, SP__TABLE_CELL_MAX);
	sp__code_max(c, &l->page_records, SP__PAGE_RECORDS_MAX);
	sp__code_max(c, &l->strip_max, UINT32_C(1) << 31);
	sp__code_length(c, &n, &l->groups, sizeof(*l->groups), 16);
	l->ngroups = (uint32_t)n;
	for (size_t i = 0; !c->failed && i < n; i++)
		code_group(c, &l->groups[i]);
}

static void code_stream(struct sp__coder *c, struct sp__table_stream *s)
{
	sp__code_u64(c, &s->first);
	sp__code_u64(c, &s->cells);
	sp__code_u64(c, &s->bytes);
}

#define FLAG_NO_DATA UINT64_C(1)
#define FLAG_SEMISEQ UINT64_C(2)
#define FLAG_MEMS UINT64_C(4)
#define FLAG_VOLUMES UINT64_C(8)
#define FLAG_ARROW UINT64_C(16)
#define FLAG_STATES UINT64_C(32)
#define KNOWN_FLAGS                                                                                \
	(FLAG_NO_DATA | FLAG_SEMISEQ | FLAG_MEMS | FLAG_VOLUMES | FLAG_ARROW | FLAG_STATES)

/* Codes the placement of lanes, without its parts, which the map has. */
static void code_lanemap(struct sp__coder *c, struct sp__table_superblock *s, uint64_t flag)
{
	if (c->reading)
		s->lanemap = calloc(1, sizeof(*s->lanemap));
	sp__coder_lack(c, !s->lanemap);
	if (!s->lanemap)
		return;
	s->layout.lanes = true;
	sp__code_flag(c, &s->layout.empty_lane);
	sp__lanemap_code(c, s->lanemap, flag == FLAG_MEMS ? SP_PLACE_MEMS : SP_PLACE_SEMISEQ);
	c->failed |=
		(uint64_t)s->lanemap->cell_blocks * s->lanemap->block_bytes != s->layout.cell_bytes;
}

/* Codes the names of the volumes after the first one: they are drives of the placement. */
static void code_volumes(struct sp__coder *c, struct sp__table_superblock *s)
{
	const uint32_t n = s->lanemap ? s->lanemap->volumes : 0;

	c->failed |= n < 2 || n > SP__LANEMAP_VOLUMES_MAX;
	for (uint32_t i = 1; !c->failed && i < n; i++) {
		sp__code_text(c, &s->volumes[i]);
		c->failed |= !s->volumes[i];
	}
}

/* Codes the numbers of appends. */
static void code_appends(struct sp__coder *c, struct sp__table_superblock *s)
{
	sp__code_u64(c, &s->first_records);
	sp__code_length(c, &s->nappends, &s->appends, sizeof(*s->appends), 8);
	for (size_t i = 0; !c->failed && i < s->nappends; i++)
		sp__code_u64(c, &s->appends[i]);
}

/* flags: of what later versions add are not known. */
static void members(struct sp__coder *c, struct sp__table_superblock *s, uint64_t *flags)
{
	size_t n = s->ncolumns;
	uint64_t flag;

	sp__code_u64(c, flags);
	flag = *flags & (FLAG_SEMISEQ | FLAG_MEMS);
	c->failed |= flag == (FLAG_SEMISEQ | FLAG_MEMS);
	if (*flags & ~KNOWN_FLAGS)
		return;
	sp__code_u64(c, &s->id);
	sp__code_u64(c, &s->contents);
	/* Here, since a device does not tear the first sector. */
	if (*flags & (FLAG_VOLUMES | FLAG_STATES))
		sp__code_u64(c, &s->state);
	if (*flags & FLAG_VOLUMES)
		sp__code_u64(c, &s->marking);
	code_layout(c, &s->layout);
	sp__code_u64(c, &s->records);
	sp__code_u64(c, &s->deleted);
	sp__code_u64(c, &s->end);
	sp__code_u64(c, &s->tombstone_cells);
	code_stream(c, &s->schema);
	code_stream(c, &s->map);
	sp__code_u64(c, &s->journal.first);
	sp__code_u64(c, &s->journal.bytes);
	sp__code_text(c, &s->volume);
	sp__code_length(c, &n, &s->changed, sizeof(*s->changed), 8);
	s->ncolumns = (uint32_t)n;
	for (size_t i = 0; !c->failed && i < n; i++)
		sp__code_u64(c, &s->changed[i]);
	if (flag)
		code_lanemap(c, s, flag);
	if (*flags & FLAG_VOLUMES)
		code_volumes(c, s);
	if (*flags & FLAG_STATES)
		code_appends(c, s);
}

void sp__table_superblock_free(struct sp__table_superblock *s)
{
	free(s->volume);
	for (unsigned i = 0; i < SP__LANEMAP_VOLUMES_MAX; i++)
		free(s->volumes[i]);
	free(s->changed);
	free(s->appends);
	if (s->lanemap)
		sp__lanemap_free(s->lanemap);
	free(s->lanemap);
	sp__layout_free(&s->layout);
	*s = (struct sp__table_superblock){ 0 };
}

uint64_t sp__table_superblock_front(const struct sp__table_superblock *s)
{
	uint64_t bytes = 2 * (uint64_t)s->slots.slot_bytes;

	return (bytes + s->layout.cell_bytes - 1) / s->layout.cell_bytes;
}

/* True if the cells are in the file, and their payloads have the bytes. */
static bool stream_possible(const struct sp__table_superblock *s, const struct sp__table_stream *t)
{
	return t->first >= sp__table_superblock_front(s) && t->first <= s->end &&
	       t->cells <= s->end - t->first && t->bytes &&
	       t->bytes <= t->cells * (s->layout.cell_bytes - SP__CELL_TRAILER_BYTES);
}

static bool possible(const struct sp__table_superblock *s)
{
	const struct sp__table_layout *l = &s->layout;
	uint64_t columns = 0;

	for (uint32_t i = 0; i < l->ngroups; i++)
		columns += l->groups[i].ncolumns;
	for (uint32_t i = 0; i < s->ncolumns && !s->has_states; i++)
		if (s->changed[i] > s->slots.number)
			return false;
	return l->cell_bytes >= SP__TABLE_CELL_MIN && !(l->cell_bytes & (l->cell_bytes - 1)) &&
	       l->page_records && columns == s->ncolumns && columns &&
	       s->ncolumns <= SP__COLUMNS_MAX &&
	       s->end <= sp__min(SP__TABLE_CELLS_MAX / l->cell_bytes * SP__TABLE_CELL_MIN,
				 sp__table_volume_cells(s)) &&
	       stream_possible(s, &s->schema) && stream_possible(s, &s->map) &&
	       s->records <= SP__TABLE_RECORDS_MAX && s->deleted <= s->records &&
	       s->first_records <= s->records && s->nappends <= SP__TABLE_APPENDS_MAX &&
	       s->journal.bytes <= INT64_MAX / 4 &&
	       s->journal.first <= SP__TABLE_CELLS_MAX / l->cell_bytes * SP__TABLE_CELL_MIN &&
	       (!s->journal.bytes || s->journal.first >= sp__table_superblock_front(s)) &&
	       (!s->no_data || (s->volume && sp__table_own_volumes(s) == 1));
}

uint8_t *sp__table_superblock_encode(const struct sp__table_superblock *s, size_t *bytes)
{
	struct sp__table_superblock own = *s; /* members() can also write to it */
	struct sp__coder c = { 0 };
	uint64_t flags = s->no_data ? FLAG_NO_DATA : 0;

	if (s->lanemap)
		flags |= sp__lanemap_info(s->lanemap).placement == SP_PLACE_MEMS ? FLAG_MEMS
										 : FLAG_SEMISEQ;
	if (sp__table_own_volumes(s) > 1)
		flags |= FLAG_VOLUMES;
	if (s->arrow)
		flags |= FLAG_ARROW;
	if (s->has_states)
		flags |= FLAG_STATES;
	sp__superblock_begin(&c, &own.slots);
	members(&c, &own, &flags);
	return sp__superblock_finish(&c, &own.slots, &format, SP__TABLE_VERSION, bytes);
}

int sp__table_superblock_size(struct sp__table_superblock *s)
{
	uint64_t appends[SP__TABLE_APPENDS_MIN] = { 0 };
	struct sp__table_superblock changed = *s;
	size_t bytes = 0;
	uint8_t *data;

	changed.has_states = true;
	changed.appends = appends;
	changed.nappends = SP__TABLE_APPENDS_MIN;
	data = sp__table_superblock_encode(&changed, &bytes);

	free(data);
	if (!data)
		return -ENOMEM;
	return sp__superblocks_set_size(&s->slots, bytes) ? 0 : -EFBIG;
}

bool sp__table_has_records(const struct sp__table_superblock *s, uint64_t identity,
			   uint64_t records)
{
	const uint64_t table = sp__table_identity(s);

	if (identity == table)
		return records <= s->first_records;
	for (size_t i = s->nappends; i-- > 0;)
		if (identity == (table ^ sp__mix64(s->appends[i])))
			return records <= s->records;
	return false;
}

/* Adds the state to the numbers of appends.  Returns 0 or -ENOMEM. */
static int add_append(struct sp__table_superblock *s)
{
	uint64_t *list = realloc(s->appends, SP__TABLE_APPENDS_MAX * sizeof(*list));

	if (!list)
		return -ENOMEM;
	s->appends = list;
	if (s->nappends == SP__TABLE_APPENDS_MAX)
		memmove(list, list + 1, --s->nappends * sizeof(*list));
	list[s->nappends++] = s->state;
	return 0;
}

/* Forgets the oldest appends until the slot has space.  Returns 0, -ENOSPC or -ENOMEM. */
static int shorten_appends(struct sp__table_superblock *s, size_t min)
{
	for (;;) {
		size_t bytes = 0;
		uint8_t *data = sp__table_superblock_encode(s, &bytes);

		free(data);
		if (!data)
			return -ENOMEM;
		if (bytes <= s->slots.slot_bytes)
			return 0;
		if (s->nappends == min)
			return -ENOSPC;
		memmove(s->appends, s->appends + 1, --s->nappends * sizeof(*s->appends));
	}
}

int sp__table_superblock_draw(struct sp__table_superblock *s, bool appended)
{
	int rc = sp__state_draw(&s->state);

	s->has_states = true;
	if (!rc && appended)
		rc = add_append(s);
	return rc ? rc : shorten_appends(s, appended);
}

int sp__table_superblock_decode(struct sp__table_superblock *s, const uint8_t *data, size_t bytes,
				const char **reason)
{
	uint64_t version, flags = 0;
	struct sp__coder c;
	int rc;

	*s = (struct sp__table_superblock){ 0 };
	rc = sp__superblock_open(&c, &s->slots, &format, data, bytes, &version, reason);
	if (rc)
		return rc;
	members(&c, s, &flags);
	if (flags & ~KNOWN_FLAGS) {
		*reason = "is a table with features that this version of Spindle does not know";
		return SP_EFORMAT;
	}
	s->no_data = flags & FLAG_NO_DATA;
	s->arrow = flags & FLAG_ARROW;
	s->has_states = flags & FLAG_STATES;
	if (!s->has_states)
		s->first_records = s->records;
	rc = sp__coder_end(&c);
	if (!rc && !possible(s))
		rc = SP_ECORRUPT;
	if (rc)
		sp__table_superblock_free(s);
	return rc;
}

int sp__table_superblock_write(struct sp__table_superblock *s, int fd, const char *path,
			       struct sp_errinfo *err)
{
	return sp__superblocks_write(s, &format, fd, s->slots.slot_bytes, path, err);
}

void sp__table_superblock_repeat(struct sp__table_superblock *s, int fd)
{
	sp__superblocks_repeat(s, &format, fd, s->slots.slot_bytes);
}

int sp__table_superblock_read(struct sp__table_superblock *s, int fd, const char *path,
			      struct sp_errinfo *err)
{
	return sp__superblocks_read(s, &format, fd, path, err);
}
