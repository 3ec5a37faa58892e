/* SPDX-License-Identifier: MIT */
/* Keeps records in one run of temporary space (spool.h). */
#include "base/err.h"
#include "base/mem.h"
#include "base/minmax.h"
#include "sort/spool.h"

#define SMALL_PAGE 4096u
#define LARGE_PAGE (64u << 10)
#define DEPTH 16

static int no_memory(struct sp__env *env)
{
	return sp__err(env->err, -ENOMEM, "allocate", NULL, -1);
}

int sp__spool_open(struct sp__spool *s, struct sp__env *env, size_t memory_bytes)
{
	struct sp__spill_opts o = sp__env_spilling(env);
	int rc;

	*s = (struct sp__spool){ .memory_bytes = sp__max(memory_bytes & ~(size_t)(SMALL_PAGE - 1),
							 2 * (size_t)SMALL_PAGE) };
	o.page_bytes = s->memory_bytes >= SP__WRITER_CHUNKS * LARGE_PAGE ? LARGE_PAGE : SMALL_PAGE;
	o.direct = env->opts->direct > 0 ? SP__DIRECT_AUTO : SP__DIRECT_NEVER;
	o.recycle_level = -1;
	o.depth = DEPTH;
	o.budget = &env->budget;
	s->memory = sp__pages_alloc(s->memory_bytes, false);
	if (!s->memory)
		return no_memory(env);
	sp__budget_charge(&env->budget, s->memory_bytes);
	rc = sp__spill_open(&s->spill, &o);
	if (rc < 0)
		return rc;
	if (sp__run_new(&s->run, &env->budget) < 0)
		return no_memory(env);
	s->writing = true;
	return sp__runwriter_open(&s->writer, s->spill, s->run, s->memory, s->memory_bytes, NULL,
				  NULL);
}

static int end_writing(struct sp__spool *s)
{
	int rc = s->writing ? sp__runwriter_finish(&s->writer) : 0;

	if (s->writing)
		sp__runwriter_close(&s->writer);
	s->writing = false;
	return rc;
}

static void end_reading(struct sp__spool *s)
{
	if (s->reading)
		sp__runread_close(&s->reader);
	s->reading = false;
}

void sp__spool_close(struct sp__spool *s, struct sp__env *env)
{
	end_reading(s);
	if (s->writing)
		sp__runwriter_close(&s->writer);
	sp__run_free(s->run);
	sp__spill_close(s->spill);
	if (s->memory)
		sp__budget_credit(&env->budget, s->memory_bytes);
	sp__pages_free(s->memory, s->memory_bytes);
	*s = (struct sp__spool){ 0 };
}

int sp__spool_put(struct sp__spool *s, const char *data, size_t bytes)
{
	s->bytes += bytes;
	return sp__runwriter_put(&s->writer, data, bytes);
}

int sp__spool_read(struct sp__spool *s, const struct sp_recfmt *format)
{
	int rc = end_writing(s);

	end_reading(s);
	if (rc < 0)
		return rc;
	sp__runread_open(&s->reader, s->spill, s->run, format, false, s->memory, s->memory_bytes);
	s->reading = true;
	return 0;
}

int sp__spool_next(struct sp__spool *s, struct sp_batch *batch)
{
	return sp__runread_next(&s->reader, batch);
}
