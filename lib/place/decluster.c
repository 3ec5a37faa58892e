/* SPDX-License-Identifier: MIT */
/*
 * Declusters basic cubes over volumes, and splits a linear mapping into one part per volume.
 */
#include "base/enum.h"
#include "base/minmax.h"
#include "place/decluster.h"

#define CUBES_MAX 4096 /* result of a split */

SP__ENUM_TABLE(sp_cube_decluster, { "disk-modulo", SP_CUBE_DISK_MODULO },
	       { "round-robin", SP_CUBE_ROUND_ROBIN })

/* Chooses the dimension of rows whose rounding up adds the smallest share. */
static void choose_row(struct sp__basicgrid *b)
{
	double min = b->volumes + 1;

	if (b->together) {
		b->row_local = sp__div_up(b->cubes[0], b->volumes);
		return;
	}
	if (b->volumes < 2 || b->method != SP_CUBE_DISK_MODULO)
		return;
	for (unsigned i = 0; i < b->n; i++) {
		uint64_t local = sp__div_up(b->cubes[i], b->volumes);
		double part = (double)local * b->volumes / (double)b->cubes[i];

		if (part < min) {
			min = part;
			b->row = i;
			b->row_local = local;
		}
	}
}

int sp__basicgrid_init(struct sp__basicgrid *b, const struct sp__grid *grid)
{
	b->n = grid->n;
	b->volumes = (unsigned)sp__max(b->volumes, 1);
	b->ncubes = 1;
	for (unsigned i = 0; i < b->n; i++) {
		if (!b->k[i] || b->k[i] > grid->size[i])
			return SP_EUNSUP;
		b->cubes[i] = sp__div_up(grid->size[i], b->k[i]);
		b->ncubes *= b->cubes[i];
	}
	b->row = 0;
	b->row_local = 0;
	choose_row(b);
	b->local = b->row_local ? b->ncubes / b->cubes[b->row] * b->row_local
				: sp__div_up(b->ncubes, b->volumes);
	return 0;
}

/* Returns the length of a part along a dimension; of a power of two it is one, too, for curves. */
static uint64_t share_of(uint64_t size, unsigned volumes)
{
	uint64_t k = sp__div_up(size, sp__min(size, volumes));

	while (!(size & (size - 1)) && k & (k - 1))
		k += k & -k;
	return sp__balanced(size, k);
}

void sp__basicgrid_split(struct sp__basicgrid *b, const struct sp__grid *grid)
{
	uint64_t cubes = 1;

	for (unsigned i = grid->n; i-- > 0;) {
		uint64_t k = share_of(grid->size[i], b->volumes ? b->volumes : 1);
		uint64_t parts = sp__div_up(grid->size[i], k);

		b->k[i] = grid->size[i];
		if (parts <= CUBES_MAX / cubes && (i || cubes < b->volumes)) {
			b->k[i] = k;
			cubes *= parts;
		}
	}
}

uint64_t sp__basicgrid_local(const struct sp__basicgrid *b, const uint64_t *at, unsigned *volume)
{
	bool modulo = b->row_local;
	uint64_t number = 0, sum = 0;

	for (unsigned i = b->n; i-- > 0;) {
		sum += at[i];
		if (!modulo || i != b->row)
			number = number * b->cubes[i] + at[i];
	}
	*volume = 0;
	if (b->volumes < 2 && !modulo)
		return number;
	*volume = (unsigned)((modulo ? sum : number) % b->volumes);
	if (b->together)
		return at[0] / b->volumes * (b->local / b->row_local) + number;
	return modulo ? number * b->row_local + at[b->row] / b->volumes : number / b->volumes;
}

bool sp__basicgrid_cube(const struct sp__basicgrid *b, unsigned volume, uint64_t local,
			uint64_t *at)
{
	bool modulo = b->row_local;
	uint64_t number = modulo	   ? local / b->row_local
			  : b->volumes > 1 ? local * b->volumes + volume
					   : local;
	uint64_t sum = 0, in_row = modulo ? local % b->row_local : 0;

	if (b->together) {
		in_row = local / (b->local / b->row_local);
		number = local % (b->local / b->row_local);
	}
	if (volume >= b->volumes || local >= b->local || number >= b->ncubes)
		return false;
	for (unsigned i = 0; i < b->n; i++) {
		if (modulo && i == b->row)
			continue;
		at[i] = number % b->cubes[i];
		number /= b->cubes[i];
		sum += at[i];
	}
	if (!modulo)
		return true;
	at[b->row] = in_row * b->volumes + (volume + b->volumes - sum % b->volumes) % b->volumes;
	return at[b->row] < b->cubes[b->row];
}

bool sp__basicgrid_clip(const struct sp__basicgrid *b, const uint64_t *at, uint64_t before,
			const struct sp_cube_box *box, struct sp_cube_box *part)
{
	bool any = true;

	for (unsigned i = 0; any && i < b->n; i++) {
		uint64_t begin = (at[i] - (i ? 0 : before)) * b->k[i];

		any = sp__box_clip(box, i, begin, (at[i] + 1) * b->k[i], part);
	}
	return any;
}
