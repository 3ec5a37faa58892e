/* SPDX-License-Identifier: MIT */
/*
 * Schemas in files of tables: one that is accepted is written as it was read, has columns that can
 * be, with a format of Arrow, and a layout.
 */
#include <stdlib.h>
#include <string.h>
#include "columns/arrow_formats.h"
#include "columns/schema.h"
#include "table/layout/layout.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static void require(bool cond)
{
	if (!cond)
		abort();
}

static void check(struct sp__schema *s, const uint8_t *data, size_t bytes)
{
	const struct sp__layout_opts o = { .form = &sp__layout_forms[data[bytes - 1] % 4],
					   .cell_bytes = 65536 };
	struct sp__coder c = { 0 };
	struct sp__table_layout l;
	char type[SP__VALUE_TYPE_TEXT], text[SP__ARROW_FORMAT_TEXT];

	sp__schema_code(&c, s);
	require(!sp__coder_end(&c) && c.at == bytes && !memcmp(c.data, data, bytes));
	free(c.data);
	for (uint32_t i = 0; i < s->n; i++) {
		struct sp__value_type back;
		struct sp__arrow_format f, arrow;
		size_t n = sp__value_type_print(&s->columns[i].type, type);

		require(n < sizeof(type) && !sp__value_type_parse(&back, type, n));
		require(sp__value_type_same(&back, &s->columns[i].type));
		sp__arrow_column_format(&s->columns[i], text, &f);
		require(sp__arrow_format(text, &arrow) && arrow.bytes == f.bytes);
		require(sp__schema_find(s, s->columns[i].name, strlen(s->columns[i].name)) >= 0);
	}
	if (!sp__layout_make(&l, s, &o, NULL))
		require(sp__layout_position(&l, l.page_cells - 1).group < l.ngroups);
	sp__layout_free(&l);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	for (unsigned arrow = 0; arrow < 2; arrow++) {
		struct sp__coder c = sp__coder_reader(data, bytes);
		struct sp__schema s = { .arrow = arrow };

		sp__schema_code(&c, &s);
		if (!sp__coder_end(&c))
			check(&s, data, bytes);
		sp__schema_free(&s);
	}
	return 0;
}
