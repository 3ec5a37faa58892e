/* SPDX-License-Identifier: MIT */
/*
 * Writes and reads superblocks: one function names the members in their order, for a coder that
 * writes or reads them.
 */
#include <stdlib.h>
#include <string.h>
#include "base/err.h"
#include "base/minmax.h"
#include "cube/file/superblock.h"
#include "place/zones.h"

static uint8_t *encode(const void *state, size_t *bytes)
{
	return sp__cube_superblock_encode(state, bytes);
}

static int decode(void *state, const uint8_t *data, size_t bytes, const char **reason)
{
	return sp__cube_superblock_decode(state, data, bytes, reason);
}

static void release(void *state)
{
	sp__cube_superblock_free(state);
}

static const struct sp__superblock_format format = {
	.magic = "SPCUBE\r\n",
	.min_version = SP__CUBE_VERSION,
	.max_version = SP__CUBE_VERSION_ROUNDS + SP__CUBE_VERSION_BUILT,
	.foreign = "is not a cube; mmap-cube create makes one",
	.other_version = "is a cube of another version of Spindle",
	.state_bytes = sizeof(struct sp__cube_superblock),
	.encode = encode,
	.decode = decode,
	.release = release,
};

static void fragment(struct sp__coder *c, unsigned n, struct sp__fragment *p)
{
	sp__code_u64(c, &p->table_block);
	sp__code_u64(c, &p->mapping.first_block);
	sp__code_max(c, &p->dim, n - 1);
	sp__code_u64(c, &p->first);
	for (unsigned i = 0; i < n; i++) {
		sp__code_u64(c, &p->placed[i]);
		sp__code_u64(c, &p->mapping.basic.k[i]);
	}
}

static void fragments(struct sp__coder *c, struct sp__cube_superblock *h)
{
	uint32_t n = (uint32_t)h->fragments.n;

	sp__code_max(c, &n, SP__FRAGMENTS_MAX);
	for (uint32_t i = 0; !c->failed && i < n; i++) {
		if (c->reading)
			sp__coder_lack(c, !sp__fragments_add(&h->fragments));
		if (!c->failed)
			fragment(c, h->shape.ndims, h->fragments.list[i]);
	}
}

/* Codes the number of volumes, and the names of all except the first. */
static void volumes(struct sp__coder *c, struct sp__cube_superblock *h)
{
	struct sp__basicgrid *b = &h->mapping.basic;
	uint32_t method = b->method;

	sp__code_max(c, &b->volumes, SP_CUBE_VOLUMES_MAX);
	sp__code_max(c, &method, SP_CUBE_ROUND_ROBIN);
	b->method = (enum sp_cube_decluster)method;
	c->failed |= !b->volumes;
	sp__code_u64(c, &b->volume_blocks);
	sp__code_u64(c, &h->id);
	for (unsigned i = 1; !c->failed && i < b->volumes; i++)
		sp__code_text(c, &h->volumes[i]);
}

static void pointset(struct sp__coder *c, struct sp__cube_pointset *p, bool built)
{
	sp__code_max(c, &p->fill, 1000);
	sp__code_max(c, &p->overflow, UINT32_MAX);
	sp__code_u64(c, &p->count);
	sp__code_u64(c, &p->cells);
	sp__code_u64(c, &p->directory_block);
	sp__code_u64(c, &p->nregions);
	sp__code_u64(c, &p->nleaves);
	sp__code_u64(c, &p->regions_sum);
	sp__code_u64(c, &p->leaves_sum);
	sp__code_u64(c, &p->outside_block);
	sp__code_u64(c, &p->leaf_block);
	sp__code_u64(c, &p->overflow_block);
	sp__code_u64(c, &p->overflow_cells);
	sp__code_u64(c, &p->full);
	sp__code_flag(c, &p->outside);
	if (!built)
		return;
	sp__code_max(c, &p->underflow, 1000);
	sp__code_u64(c, &p->built);
}

/* The members that only some versions have. */
struct extras {
	bool rounds; /* zones have rounds */
	bool log;    /* there is a log of puts */
	bool built;  /* points have an underflow bound and a generation of volumes */
};

static struct extras extras_of(const struct sp__cube_superblock *h)
{
	return (struct extras){ sp__multimap_rounds(&h->mapping.multimap), h->log_bytes > 0,
				h->points && (h->pointset.underflow > 0 ||
					      h->mapping.basic.volumes > 1) };
}

static void members(struct sp__coder *c, struct sp__cube_superblock *h, struct extras extras)
{
	struct sp__multimap *mm = &h->mapping.multimap;
	uint32_t kind = h->mapping.kind, type = h->shape.type;
	uint32_t state = h->complete ? 1 : h->loading;

	sp__code_flag(c, &h->no_data);
	sp__code_max(c, &state, SP__LOADING_SUMS);
	h->complete = state == 1;
	h->loading = state == 1 ? SP__LOADING_NONE : (enum sp__cube_loading)state;
	sp__code_max(c, &h->shape.ndims, SP_CUBE_DIMS_MAX);
	c->failed |= !h->shape.ndims;
	sp__code_max(c, &type, SP_CUBE_F64);
	sp__code_max(c, &h->shape.element_bytes, SP_CUBE_ELEMENT_MAX);
	sp__code_max(c, &h->block_bytes, SP__BLOCK_MAX);
	sp__code_max(c, &h->cell_blocks, SP__CELL_MAX / SP__BLOCK_MIN);
	sp__code_max(c, &h->extent_cells, UINT32_MAX);
	sp__code_u64(c, &h->loaded);
	sp__code_max(c, &kind, SP_CUBE_GRAY);
	sp__code_u64(c, &mm->reach);
	h->shape.type = (enum sp_cube_type)type;
	h->mapping.kind = (enum sp_cube_mapping)kind;
	volumes(c, h);
	h->mapping.cell_blocks = h->cell_blocks;
	for (unsigned i = 0; !c->failed && i < h->shape.ndims; i++) {
		sp__code_u64(c, &h->shape.dims[i]);
		sp__code_max(c, &h->shape.tile[i], UINT32_MAX);
		sp__code_max(c, &h->mapping.order[i], h->shape.ndims - 1);
		sp__code_max(c, &h->load_order[i], h->shape.ndims - 1);
		c->failed |= !h->shape.dims[i] || !h->shape.tile[i];
	}
	sp__cubezones_code(c, mm, extras.rounds);
	for (unsigned i = 0; mm->nzones && i < SP__CUBE_HOPS; i++)
		sp__code_max(c, &mm->hops[i], UINT32_MAX);
	for (unsigned i = 0; extras.rounds && i < SP__CUBE_HOPS; i++)
		sp__code_max(c, &mm->within[i], UINT32_MAX);
	fragments(c, h);
	if (c->reading && !c->failed) {
		h->fill = calloc(1, h->shape.element_bytes + 1);
		sp__coder_lack(c, !h->fill);
	}
	c->failed |= !h->fill;
	sp__code_bytes(c, h->fill, h->shape.element_bytes);
	sp__code_text(c, &h->volume);
	sp__code_text(c, &h->device);
	sp__code_length(c, &h->nattributes, &h->attributes, sizeof(*h->attributes), 16);
	for (size_t i = 0; !c->failed && i < h->nattributes; i++) {
		sp__code_text(c, &h->attributes[i].key);
		sp__code_text(c, &h->attributes[i].value);
		c->failed |= !h->attributes[i].key || !h->attributes[i].value;
	}
	sp__code_flag(c, &h->points);
	if (h->points)
		pointset(c, &h->pointset, extras.built);
	if (extras.log) {
		sp__code_u64(c, &h->log_offset);
		sp__code_u64(c, &h->log_bytes);
	}
	if (!extras.log && !extras.built)
		return;
	sp__code_u64(c, &h->generation);
	sp__code_u64(c, &h->marking);
}

void sp__cube_superblock_free(struct sp__cube_superblock *h)
{
	for (size_t i = 0; h->attributes && i < h->nattributes; i++) {
		free(h->attributes[i].key);
		free(h->attributes[i].value);
	}
	free(h->attributes);
	for (unsigned i = 0; i < SP_CUBE_VOLUMES_MAX; i++)
		free(h->volumes[i]);
	free(h->fill);
	free(h->volume);
	free(h->device);
	sp__fragments_free(&h->fragments);
	sp__multimap_free(&h->mapping.multimap);
	*h = (struct sp__cube_superblock){ 0 };
}

uint8_t *sp__cube_superblock_encode(const struct sp__cube_superblock *h, size_t *bytes)
{
	struct sp__cube_superblock own = *h; /* members() can also write to it */
	struct extras extras = extras_of(h);
	uint64_t version = extras.rounds ? SP__CUBE_VERSION_ROUNDS : SP__CUBE_VERSION;
	struct sp__coder c = { 0 };

	sp__superblock_begin(&c, &h->slots);
	members(&c, &own, extras);
	version += extras.log ? SP__CUBE_VERSION_LOG : extras.built ? SP__CUBE_VERSION_BUILT : 0;
	return sp__superblock_finish(&c, &h->slots, &format, version, bytes);
}

int sp__cube_superblock_decode(struct sp__cube_superblock *h, const uint8_t *data, size_t bytes,
			       const char **reason)
{
	struct extras extras, own;
	uint64_t version;
	struct sp__coder c;
	int rc;

	*h = (struct sp__cube_superblock){ 0 };
	rc = sp__superblock_open(&c, &h->slots, &format, data, bytes, &version, reason);
	if (rc)
		return rc;
	version -= SP__CUBE_VERSION;
	extras =
		(struct extras){ version & (SP__CUBE_VERSION_ROUNDS - SP__CUBE_VERSION),
				 version & SP__CUBE_VERSION_LOG, version & SP__CUBE_VERSION_BUILT };
	members(&c, h, extras);
	own = extras_of(h);
	c.failed |= memcmp(&extras, &own, sizeof(own)) != 0;
	rc = sp__coder_end(&c);
	if (!rc && !sp__cube_superblock_possible(h))
		rc = SP_ECORRUPT;
	if (rc)
		sp__cube_superblock_free(h);
	return rc;
}

/* Returns the maximum size of a superblock: the log can be at the end of the second slot. */
static uint64_t max_bytes(const struct sp__cube_superblock *h)
{
	uint32_t slot = h->slots.slot_bytes;

	return h->log_bytes ? sp__min(slot, h->log_offset - slot) : slot;
}

int sp__cube_superblock_write(struct sp__cube_superblock *h, int fd, const char *path,
			      struct sp_errinfo *err)
{
	return sp__superblocks_write(h, &format, fd, max_bytes(h), path, err);
}

int sp__cube_superblock_read(struct sp__cube_superblock *h, int fd, const char *path,
			     struct sp_errinfo *err)
{
	int rc = sp__superblocks_read(h, &format, fd, path, err);

	if (rc)
		return rc;
	rc = sp__cube_superblock_settle(h);
	if (!rc)
		return 0;
	sp__cube_superblock_free(h);
	return sp__errf(err, SP_ECORRUPT, "open", path, -1, "the superblock is damaged");
}
