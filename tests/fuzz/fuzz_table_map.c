/* SPDX-License-Identifier: MIT */
/*
 * Maps of tables: one that is accepted has each cell of the file in one area or in none, finds it
 * there, and is written as it was read.  The first two bytes are the end of the file.
 */
#include <stdlib.h>
#include <string.h>
#include "table/file/map.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static void require(bool cond)
{
	if (!cond)
		abort();
}

static void check(struct sp__table_map *m, const uint8_t *data, size_t bytes)
{
	struct sp__coder c = { 0 };
	uint64_t n[SP__AREAS] = { 0 }, number, first;
	enum sp__table_area area;

	for (uint64_t cell = 0; cell < m->end; cell++) {
		bool found = sp__map_find(m, cell, &area, &number);

		require(found == (cell >= 2));
		if (!found)
			continue;
		require(number < sp__map_cells(m, area) && sp__map_cell(m, area, number) == cell);
		n[area]++;
	}
	for (unsigned a = 0; a < SP__AREAS; a++)
		require(n[a] == sp__map_cells(m, (enum sp__table_area)a));
	sp__map_code(&c, m);
	require(!sp__coder_end(&c) && c.at == bytes && !memcmp(c.data, data, bytes));
	free(c.data);
	require(!sp__map_take(m, 3, &first) && first >= 2 && first + 3 <= m->end);
	(void)!sp__map_release_text(m, data[0], data[1]);
	require(!sp__map_settle(m));
	sp__map_trim(m, 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct sp__table_map m = { 0 };
	struct sp__coder c;

	if (bytes < 2)
		return 0;
	m.end = data[0] | (uint64_t)data[1] << 8;
	c = sp__coder_reader(data + 2, bytes - 2);
	sp__map_code(&c, &m);
	if (!sp__coder_end(&c) && sp__map_possible(&m, 2, NULL, 0) == 1)
		check(&m, data + 2, bytes - 2);
	sp__map_free(&m);
	return 0;
}
