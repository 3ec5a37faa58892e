/* SPDX-License-Identifier: MIT */
/* Opens sorted files as cursors of a merge, as many at a time as descriptors and memory allow. */
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/err.h"
#include "base/utf8mark.h"
#include "flow/scan.h"
#include "io/engine.h"
#include "sort/merge/merging.h"

/* Descriptors of the spill store, which merging needs in addition to inputs and output. */
#define OTHER_DESCRIPTORS 2
/* Descriptors of a program that compresses runs, in addition. */
#define PROGRAM_DESCRIPTORS 12
/* The engine can have a descriptor for the queue of all inputs. */
#define QUEUES 1
/* Without --batch-size, as many files are merged at a time as have this much memory each. */
#define FAN_IN_BYTES (16u << 10)
#define FAN_IN_MIN 16
#define FAN_IN_MAX 1000
/* Chunks are read ahead if two of each input have at least this size; one can be smaller. */
#define AHEAD_BYTES (64u << 10)
#define DEPTH_MAX 256

static int get(void *ctx, size_t index, bool wait, const char **data, size_t *bytes)
{
	struct sp__inputs *in = ctx;
	struct sp__input *input = &in->list[index];
	/* The merging thread has no other work meanwhile. */
	int rc = sp__rstream_next(input->stream, data, bytes, true);

	(void)wait;
	if (!input->marked && sp__rstream_marked(input->stream)) {
		input->marked = true;
		in->bytes += SP__UTF8_MARK_BYTES;
	}
	if (rc == SP_READY)
		in->bytes += *bytes;
	return rc;
}

static int open_shared(struct sp__inputs *in, const struct sp__rstream_opts *o, unsigned n,
		       struct sp_errinfo *err)
{
	struct sp__queue_opts q = { .engine = o->engine,
				    .depth = sp__min(o->depth * n, DEPTH_MAX),
				    .device = o->device };

	in->chunks_bytes = n * o->depth * o->chunk_bytes;
	in->chunks = sp__pages_alloc(in->chunks_bytes, true);
	if (!in->chunks)
		return sp__err(err, -ENOMEM, "allocate", NULL, -1);
	return sp__queue_open(&in->queue, &q, err);
}

int sp__inputs_open(const struct sp__sort_shared *s, struct sp__inputs *in, unsigned n,
		    struct sp__cursor *cursors, struct sp_errinfo *err)
{
	size_t each = in->memory_bytes / n;
	struct sp__rstream_opts o = { .engine = s->opts.run.engine,
				      .direct = in->direct,
				      .depth = each < 2 * AHEAD_BYTES ? 1 : 2,
				      .whole = true,
				      .drop_mark = s->opts.format.kind == SP_REC_CSV,
				      .device = sp__env_reading(&s->env).device };
	int shared;

	o.chunk_bytes = sp__max(4096u, sp__min(each / o.depth, 1u << 20) & ~(size_t)4095);
	shared = open_shared(in, &o, n, err);
	if (shared < 0)
		return shared;
	o.queue = in->queue;
	for (unsigned i = 0; i < n; i++) {
		struct sp__input *input = &in->list[in->next];
		int rc;

		o.sim_file = in->sim_file + in->next;
		o.memory = in->chunks + i * o.depth * o.chunk_bytes;
		rc = sp__rstream_open(&input->stream, input->fd, input->name, &o, err);
		if (rc < 0)
			return rc;
		cursors[i].feed = (struct sp__feed){ .ctx = in,
						     .index = in->next++,
						     .get = get,
						     .name = input->name,
						     .read = &in->read };
	}
	return 0;
}

static void release(struct sp__input *input)
{
	if (input->fd >= 0)
		sp__input_close(input->name, input->fd);
	input->fd = -1;
}

/* Closes the last of n inputs that can be opened again, to leave descriptors for the store. */
static unsigned give_back(struct sp__input *list, unsigned n)
{
	unsigned left = n;
	struct stat st;

	while (left > 1 && n - left < OTHER_DESCRIPTORS && fstat(list[left - 1].fd, &st) == 0 &&
	       S_ISREG(st.st_mode) && list[left - 1].fd != STDIN_FILENO)
		release(&list[--left]);
	return left;
}

int sp__inputs_acquire(struct sp__inputs *in, struct sp_errinfo *err)
{
	struct sp__input *list = in->list + in->next;
	unsigned max = sp__min(in->n - in->next, in->fan_in), n = 0;
	struct sp_errinfo refusal = SP_ERRINFO_INIT;

	while (n < max &&
	       (list[n].fd >= 0 || (list[n].fd = sp__input_open(list[n].name, &refusal)) >= 0))
		n++;
	if (n == max)
		return (int)n;
	if (!n || (refusal.code != -EMFILE && refusal.code != -ENFILE)) {
		*err = refusal;
		return refusal.code;
	}
	n = give_back(list, n);
	in->fan_in = sp__max(n, 2);
	in->direct = SP__DIRECT_NEVER;
	return (int)n;
}

void sp__inputs_free(struct sp__inputs *in)
{
	for (unsigned i = 0; in->list && i < in->n; i++)
		release(&in->list[i]);
	free(in->list);
}

void sp__inputs_close(struct sp__inputs *in)
{
	struct sp__io_counters c;

	if (in->queue)
		sp__io_add(&in->done, sp__queue_counters(in->queue));
	sp__queue_close(in->queue);
	for (unsigned i = 0; i < in->next; i++) {
		struct sp__input *input = &in->list[i];

		if (!input->stream)
			continue;
		sp__rstream_counters(input->stream, &c);
		sp__io_add(&in->done, &c);
		sp__rstream_close(input->stream);
		input->stream = NULL;
		release(input);
	}
	sp__pages_free(in->chunks, in->chunks_bytes);
	in->queue = NULL;
	in->chunks = NULL;
}

/* If descriptors are scarce, there are no queues, unless the engine was given. */
static unsigned others_of(const struct sp__sort_shared *s)
{
	bool queues = !sp__fds_scarce() || !sp__engine_is_auto(s->opts.run.engine);

	return OTHER_DESCRIPTORS + (queues ? QUEUES : 0) +
	       (s->opts.compress_program ? PROGRAM_DESCRIPTORS : 0);
}

static unsigned fan_in(const struct sp__inputs *in, const struct sp__sort_shared *s)
{
	size_t some = sp__max(sp__min(in->memory_bytes / FAN_IN_BYTES, FAN_IN_MAX), FAN_IN_MIN);
	size_t max = s->opts.batch_size ? s->opts.batch_size : some;
	unsigned others = others_of(s), free_fds;

	if (s->opts.fan_in)
		max = sp__min(max, s->opts.fan_in);
	free_fds = sp__fds_free((unsigned)max + others);
	max = sp__min(max, free_fds - sp__min(free_fds, others));
	return (unsigned)sp__max(max, 2);
}

/*
 * Returns how files are read.  Direct reads take a second descriptor per input.  If there are too
 * few, all files are read through the page cache, so that as many can be merged at a time.
 */
static enum sp__direct direct(const struct sp__inputs *in)
{
	unsigned need = 2 * sp__min(in->n, in->fan_in) + OTHER_DESCRIPTORS + QUEUES;

	return sp__fds_free(need) < need ? SP__DIRECT_NEVER : SP__DIRECT_AUTO;
}

int sp__inputs_list(struct sp__inputs *in, const struct sp__sort_shared *s,
		    const struct sp_sort_io *io, unsigned sim_file)
{
	in->n = (unsigned)io->ninputs;
	in->memory_bytes = s->plan.memory_bytes / 3;
	in->fan_in = fan_in(in, s);
	in->direct = direct(in);
	in->sim_file = sim_file;
	in->list = calloc(in->n ? in->n : 1, sizeof(*in->list));
	if (!in->list)
		return sp__err(s->env.err, -ENOMEM, "allocate", NULL, -1);
	in->files = true;
	for (unsigned i = 0; i < in->n; i++) {
		struct sp__input *input = &in->list[i];
		bool file;

		input->name = io->inputs[i];
		input->fd = -1;
		in->total_bytes += sp__inputs_bytes(&input->name, 1, SP_PACKED_NONE, &file);
		in->files = in->files && file;
	}
	return 0;
}
