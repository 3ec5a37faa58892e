/* SPDX-License-Identifier: MIT */
/* Tables and pools without a file, for tests of pools. */
#pragma once

#include <string.h>
#include <spindle/table.h>
#include "base/minmax.h"
#include "table/clotho/pool.h"
#include "table/layout/layout.h"
#include "tap.h"

static inline struct sp__table_layout layout_of(const uint32_t *bytes, uint32_t n,
						uint32_t page_records, uint64_t strip_bytes)
{
	struct sp__schema s = { 0 };
	struct sp__layout_opts o = { .form = &sp__layout_forms[SP_TABLE_CSM],
				     .cell_bytes = 512,
				     .page_records = page_records,
				     .strip_bytes = strip_bytes };
	struct sp__table_layout l;
	char name[16];

	for (uint32_t i = 0; i < n; i++) {
		struct sp__value_type type = { .kind = 'c', .bytes = bytes[i] };

		snprintf(name, sizeof(name), "c%u", i + 1);
		if (sp__schema_add(&s, name, strlen(name), &type))
			abort();
	}
	if (sp__layout_make(&l, &s, &o, NULL))
		abort();
	sp__schema_free(&s);
	return l;
}

/* The table R at B = 512: 15 column groups of one cell, 63 records an A-page. */
static inline struct sp__table_layout layout_of_r(void)
{
	static const uint32_t bytes[15] = { 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8 };

	return layout_of(bytes, 15, 63, 0);
}

static inline int fetch_nothing(struct sp__clotho_user *u, struct sp__clotho_frame *f,
				uint32_t group, uint64_t page, uint64_t pages, uint8_t *memory)
{
	(void)u;
	(void)f;
	(void)group;
	(void)page;
	(void)pages;
	(void)memory;
	return 0;
}

static inline struct sp_pool *open_pool(struct sp_pool_opts *o)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_pool *pool;

	if (sp_pool_open(&pool, o, &err)) {
		diag("%s", err.text);
		abort();
	}
	return pool;
}

static inline void attach(struct sp__clotho_user *u)
{
	const struct sp__clotho_key key = { 1, 2, 3, 4, 5 };

	if (sp__clotho_attach(u, &key, "table", NULL))
		abort();
}

/* The first k column groups. */
static inline struct sp__groupset first_groups(uint32_t k)
{
	return (struct sp__groupset){ { (UINT64_C(1) << k) - 1 } };
}

/* Looks up an A-page and releases it.  Returns the A-pages of its frame. */
static inline uint64_t look_up(struct sp__clotho_user *u, const struct sp__groupset *set,
			       uint64_t page)
{
	struct sp__clotho_pin pin = { 0 };
	uint64_t pages;

	if (sp__clotho_pin(u, set, page, &pin) != SP_READY)
		abort();
	pages = pin.frame->pages;
	sp__clotho_unpin(&pin);
	return pages;
}

/* A frame of 16 cells, one of them a header, which is in the frame's struct here. */
#define THESIS_FRAME (15 * 512)
