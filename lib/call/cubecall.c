/* SPDX-License-Identifier: MIT */
/*
 * Makes, opens and loads cubes by arguments of mmap-cube(1).
 */
#include <stdlib.h>
#include <string.h>
#include <spindle/geometry.h>
#include <spindle/size.h>
#include "base/err.h"
#include "call/call.h"

#define QUERIES_MAX 64

struct cube_call {
	struct sp_call base; /* arguments */
	struct sp_run_opts *run;
	struct sp_cube_create_opts create;
	struct sp_cube_opts open;
	const char *geometry, *fill;
	const char *queries[QUERIES_MAX];
	size_t nqueries;
	struct sp_cube_workload workload;
};

static const struct sp__option create_options[] = {
	{ "dims", SP__OPT_DIMS, SP__OPT_ARG },
	{ "dtype", SP__OPT_DTYPE, SP__OPT_ARG },
	{ "tile", SP__OPT_TILE, SP__OPT_ARG },
	{ "fill", SP__OPT_FILL, SP__OPT_ARG },
	{ "mapping", SP__OPT_MAPPING, SP__OPT_ARG },
	{ "order", SP__OPT_ORDER, SP__OPT_ARG },
	{ "volumes", SP__OPT_VOLUMES, SP__OPT_ARG },
	{ "volume", SP__OPT_VOLUME, SP__OPT_ARG },
	{ "query", SP__OPT_QUERY, SP__OPT_ARG },
	{ "geometry", SP__OPT_GEOMETRY, SP__OPT_ARG },
	{ "seed", SP__OPT_SEED, SP__OPT_ARG },
	{ "overwrite", SP__OPT_OVERWRITE, SP__OPT_NONE },
	{ 0 },
};

static const struct sp__option open_options[] = {
	{ "buffer-size", 'S', SP__OPT_ARG },
	{ "parallel", SP__OPT_PARALLEL, SP__OPT_ARG },
	{ "verify", SP__OPT_VERIFY, SP__OPT_NONE },
	{ "wait", SP__OPT_WAIT, SP__OPT_MAYBE },
	{ 0 },
};

/* Parses a list of numbers.  Returns how many there are; 0: it is not such a list. */
static unsigned read_list(const char *text, char separator, uint64_t *values)
{
	unsigned n = 0;
	char *end;

	for (;; text = end + 1) {
		if (n == SP_CUBE_DIMS_MAX || *text < '0' || *text > '9')
			return 0;
		values[n] = strtoull(text, &end, 10);
		if (values[n++] == UINT64_MAX || (*end && *end != separator))
			return 0;
		if (!*end)
			return n;
	}
}

static int set_dims(struct sp_cube_shape *s, const char *text, struct sp_errinfo *err)
{
	s->ndims = read_list(text, 'x', s->dims);
	return s->ndims ? 0 : sp__invalid(err, text, "invalid --dims argument");
}

static int set_tile(struct sp_cube_shape *s, const char *text, struct sp_errinfo *err)
{
	uint64_t values[SP_CUBE_DIMS_MAX] = { 0 };
	unsigned n = read_list(text, 'x', values);

	for (unsigned i = 0; i < n; i++)
		s->tile[i] = values[i] > UINT32_MAX ? UINT32_MAX : (uint32_t)values[i];
	return n ? 0 : sp__invalid(err, text, "invalid --tile argument");
}

static int set_type(struct sp_cube_shape *s, const char *text, struct sp_errinfo *err)
{
	uint64_t bytes = 0;
	int type;

	if (!strncmp(text, "bytes:", 6) && !sp_size_parse(text + 6, 1, &bytes) &&
	    bytes <= UINT32_MAX) {
		s->type = SP_CUBE_BYTES;
		s->element_bytes = (uint32_t)bytes;
		return 0;
	}
	if (sp__option_choice(sp_cube_type_values(), "dtype", text, &type, err))
		return -EINVAL;
	if (type == SP_CUBE_BYTES)
		return sp__invalid(err, text, "invalid --dtype argument");
	s->type = (enum sp_cube_type)type;
	s->element_bytes = sp_cube_type_bytes(s->type);
	return 0;
}

static int set_mapping(struct sp_cube_create_opts *o, const char *text, struct sp_errinfo *err)
{
	int mapping;
	int rc = sp__option_choice(sp_cube_mapping_values(), "mapping", text, &mapping, err);

	if (!rc)
		o->mapping = (enum sp_cube_mapping)mapping;
	return rc;
}

static int set_order(struct sp_cube_create_opts *o, const char *text, struct sp_errinfo *err)
{
	uint64_t values[SP_CUBE_DIMS_MAX];
	unsigned n = read_list(text, ',', values);

	for (unsigned i = 0; i < n; i++)
		o->order[i] = values[i] < SP_CUBE_DIMS_MAX ? (unsigned)values[i] : SP_CUBE_DIMS_MAX;
	o->ordered = true;
	return n ? 0 : sp__invalid(err, text, "invalid --order argument");
}

static int set_volumes(struct sp_cube_create_opts *o, const char *text, struct sp_errinfo *err)
{
	uint64_t n = 0;
	int rc = sp__option_number(&n, text, 1, err);

	o->volumes = n > SP_CUBE_VOLUMES_MAX ? SP_CUBE_VOLUMES_MAX + 1 : (unsigned)n;
	return rc;
}

static int add_query(struct cube_call *c, const char *text, struct sp_errinfo *err)
{
	if (c->nqueries == QUERIES_MAX)
		return sp__invalid(err, text, "too many --query arguments");
	c->queries[c->nqueries++] = text;
	return 0;
}

/* Applies an option of the placement.  Returns 1: another option. */
static int apply_placement(struct cube_call *c, int code, const char *arg, struct sp_errinfo *err)
{
	switch (code) {
	case SP__OPT_MAPPING:
		return set_mapping(&c->create, arg, err);
	case SP__OPT_ORDER:
		return set_order(&c->create, arg, err);
	case SP__OPT_VOLUMES:
		return set_volumes(&c->create, arg, err);
	case SP__OPT_VOLUME:
		c->create.run.volume = arg;
		return 0;
	case SP__OPT_QUERY:
		return add_query(c, arg, err);
	case SP__OPT_GEOMETRY:
		c->geometry = arg;
		return 0;
	case SP__OPT_SEED:
		return sp__option_number(&c->workload.seed, arg, 0, err);
	default:
		return 1;
	}
}

static int apply(void *to, int code, const char *arg, struct sp_errinfo *err)
{
	struct cube_call *c = to;
	int rc = apply_placement(c, code, arg, err);

	if (rc <= 0)
		return rc;
	switch (code) {
	case SP__OPT_DIMS:
		return set_dims(&c->create.shape, arg, err);
	case SP__OPT_DTYPE:
		return set_type(&c->create.shape, arg, err);
	case SP__OPT_TILE:
		return set_tile(&c->create.shape, arg, err);
	case SP__OPT_FILL:
		c->fill = arg;
		return 0;
	case SP__OPT_OVERWRITE:
		c->create.run.overwrite = true;
		return 0;
	case SP__OPT_VERIFY:
		c->open.verify = true;
		return 0;
	default:
		return sp__option_resource(&c->base, c->run, code, arg, err);
	}
}

/* Parses the fill value; the caller frees it. */
static int read_fill(const struct cube_call *c, void **fill, struct sp_errinfo *err)
{
	const struct sp_cube_shape *s = &c->create.shape;
	struct sp_errinfo cause = SP_ERRINFO_INIT;

	*fill = NULL;
	if (!c->fill)
		return 0;
	*fill = calloc(1, s->element_bytes + sizeof(double));
	if (!*fill)
		return sp__err(err, -ENOMEM, "malloc", NULL, -1);
	if (!sp_cube_value_parse(s, c->fill, *fill))
		return 0;
	(void)sp__invalid(&cause, c->fill, "invalid --fill argument");
	return sp__call_wrong(err, &cause);
}

static int create(struct cube_call *c, const char *path, struct sp_errinfo *err)
{
	struct sp_geometry *g = NULL;
	void *fill;
	int rc = read_fill(c, &fill, err);

	if (!rc && c->geometry)
		rc = sp_geometry_load(&g, c->geometry, err);
	for (size_t i = 0; !rc && i < c->nqueries; i++)
		rc = sp_cube_workload_add(&c->workload, c->queries[i], &c->create.shape, err);
	c->create.fill = fill;
	c->create.run.geometry = g;
	c->create.workload = &c->workload;
	if (!rc)
		rc = sp_cube_create(path, &c->create, err);
	sp_cube_workload_free(&c->workload);
	sp_geometry_free(g);
	free(fill);
	return rc;
}

int sp_call_cube_create(const char *path, const char *const *args, size_t nargs, bool awaits_load,
			struct sp_errinfo *err)
{
	struct cube_call c = { .create = SP_CUBE_CREATE_OPTS_INIT };
	int rc;

	c.create.awaits_load = awaits_load;
	c.run = &c.create.run;
	c.create.shape.type = SP_CUBE_F32;
	c.create.shape.element_bytes = sp_cube_type_bytes(SP_CUBE_F32);
	rc = sp__call_read(&c.base, create_options, apply, &c, args, nargs, err);
	if (!rc)
		rc = create(&c, path, err);
	sp__call_release(&c.base);
	return rc;
}

int sp_call_cube_open(struct sp_cube **cube, const char *path, const char *const *args,
		      size_t nargs, bool write, struct sp_errinfo *err)
{
	struct cube_call c = { .open = { .run = SP_RUN_OPTS_INIT, .write = write } };
	int rc;

	*cube = NULL;
	c.run = &c.open.run;
	rc = sp__call_read(&c.base, open_options, apply, &c, args, nargs, err);
	if (!rc && !c.run->memory_bytes)
		c.run->memory_bytes = sp_memory_default();
	if (!rc)
		rc = sp_cube_open(cube, path, &c.open, err);
	sp__call_release(&c.base);
	return rc;
}

void sp_call_cube_facts(const struct sp_cube *cube, struct sp_call_cube_facts *facts)
{
	struct sp_cube_info info;

	sp_cube_info(cube, &info);
	*facts = (struct sp_call_cube_facts){
		.ndims = info.shape.ndims,
		.type = info.shape.type,
		.element_bytes = info.shape.element_bytes,
		.points = info.points,
		.mapping = sp_cube_mapping_name((int)info.mapping),
	};
	memcpy(facts->dims, info.shape.dims, sizeof(facts->dims));
}

int sp_call_cube_load(struct sp_cube *cube, const char *input, bool c_order, struct sp_errinfo *err)
{
	struct sp_cube_load_opts opts = { .format = SP_CUBE_RAW, .ordered = c_order };
	struct sp_cube_stats stats;
	struct sp_cube_info info;

	sp_cube_info(cube, &info);
	for (unsigned i = 0; i < info.shape.ndims; i++)
		opts.order[i] = info.shape.ndims - 1 - i;
	return sp_cube_load(cube, input, &opts, &stats, err);
}
