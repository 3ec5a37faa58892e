/* SPDX-License-Identifier: MIT */
/*
 * Specifications of simulated machines: a refusal gives the reason and leaves
 * the result alone; what is accepted is within its limits, and small ones can
 * be opened and used.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "sim/fsmap.h"
#include "sim/machine.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);
const char *const sp_fuzz_tokens[] = {
	"linear",  "tiny",	 ",fs=group:3", ",fs=extent",  ",cache=64K",  ",cache=1M",
	",page=",  ",flush=",	 "evict",	"30/60/20/3s", ",readahead=", ",sched=deadline",
	",sched=", ",window=2/", "sptf",	",merge=no",   ",files=both", ",noise=20us/2%/1ms",
	",seed=",  "128K",	 "8K",		",policy=opt", ",future=",    "0.5ms",
	",array=", "linear:2",	 "raid0:3/",	"raid10:4",    NULL
};

static void require(bool cond)
{
	if (!cond)
		abort();
}

static void in_limits(const struct sp__machine_spec *s)
{
	require(*s->model && strlen(s->model) < sizeof(s->model));
	require(s->fs >= SP__FS_NONE && s->fs <= SP__FS_EXTENT && s->group_pages <= 1 << 20);
	require(s->page_bytes >= 512 && s->page_bytes <= 1 << 20);
	require(!(s->page_bytes & (s->page_bytes - 1)));
	require(!s->cache_bytes || s->cache_bytes / s->page_bytes - 1 < SP__PCACHE_PAGES_MAX);
	require(s->cache.async_percent <= 100 && s->cache.sync_percent <= 100);
	require(s->cache.down_percent <= s->cache.sync_percent);
	require(s->device.window <= 65536 && s->device.policy >= -1 && s->device.policy <= 1);
	require(s->merge_bytes >= 512 && s->merge_bytes <= 1 << 30 && s->writeback_pages);
	require(!s->device.age_ns || s->device.policy == SP__WINDOW_SPTF);
	require(s->array.level == SP__RAID_NONE ||
		(s->array.drives && s->array.drives <= SP__RAID_DRIVES_MAX &&
		 s->array.stripe_bytes && s->array.stripe_bytes <= 1 << 30));
	require(s->noise.tail >= 0 && s->noise.tail <= 1);
	require(*s->sched && memchr(s->sched, '\0', sizeof(s->sched)));
	require(memchr(s->future, '\0', sizeof(s->future)));
}

static void use(struct sp__machine *m)
{
	int f = sp__machine_file(m, SP__SIM_SPILL, 0);
	struct sp__simreq r[2] = { { .file = (unsigned)f, .write = true, .bytes = 20000 },
				   { .file = (unsigned)f, .offset = 5000, .bytes = 6000 } };
	struct sp__simreq *p[2] = { &r[0], &r[1] };
	unsigned n = 0;
	int rc;

	require(f >= 0);
	rc = sp__machine_submit(m, p, 2, false);
	for (struct sp__simreq *d; (d = sp__machine_reap(m, true));)
		for (; d; d = d->next)
			n++;
	require(n == (rc == 0 ? 2 : 0));
	sp__machine_sync(m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct sp__machine_spec spec = { .seed = 4711, .page_bytes = 4711 };
	struct sp_errinfo err = SP_ERRINFO_INIT;
	char *text = malloc(bytes + 1);
	struct sp__machine *m;
	int rc;

	require(text != NULL);
	memcpy(text, data, bytes);
	text[bytes] = '\0';
	rc = sp__machine_spec_parse(&spec, text, &err);
	require(rc == 0 || (rc == SP_ESYNTAX && err.code == rc && *err.text));
	require(rc == 0 || (spec.seed == 4711 && spec.page_bytes == 4711));
	if (rc == 0) {
		in_limits(&spec);
		/* Not what fuzzing finds lying about. */
		if (!strpbrk(spec.model, "/.") && !*spec.future &&
		    sp__machine_open(&m, &spec, &err) == 0) {
			use(m);
			sp__machine_close(m);
		}
	}
	free(text);
	return 0;
}
