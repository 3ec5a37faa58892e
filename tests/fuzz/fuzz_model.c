/* SPDX-License-Identifier: MIT */
/*
 * Model files: what is refused is refused with a reason, and what is accepted
 * can be opened and serves its first and last block.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "dev/device.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);
const char *const sp_fuzz_tokens[] = { "\"spt\": [3, 4]",
				       "\"slips\": [[0, 0, 1]]",
				       "\"rpm\"",
				       "\"hybrid-serpentine\"",
				       "\"segments\": 2",
				       "\"kind\": \"mems\"",
				       "\"rows\": 4",
				       "1e9",
				       NULL };

static void require(bool cond)
{
	if (!cond)
		abort();
}

static void serve(const struct sp__model *m, struct sp__device *d, uint64_t lbn, uint64_t now)
{
	struct sp__subreq p[SP__DEV_SUBREQS_MAX];
	struct sp__service s;
	uint32_t blocks = 1;

	require(m->ops->split(m, d->state, 0, false, lbn, &blocks, p, SP__DEV_SUBREQS_MAX) == 1);
	require(p[0].lane < m->lanes);
	m->ops->serve(m, d->state, now, p, &s);
	require(s.done_ns >= now && s.done_ns < now + UINT64_C(60000000000));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp__device d;
	struct sp__model *m;
	char *text = malloc(bytes + 1);
	int rc;

	require(text != NULL);
	memcpy(text, data, bytes);
	rc = sp__model_parse(&m, "fuzz", text, bytes, &err);
	free(text);
	require(rc == 0 || ((rc == SP_EFORMAT || rc == -ENOMEM) && err.code == rc && !m));
	require(rc != SP_EFORMAT || *err.text);
	if (rc)
		return 0;
	require(m->blocks && !sp__device_open(&d, m));
	serve(m, &d, 0, 12345);
	serve(m, &d, m->blocks - 1, UINT64_C(1000000000000));
	sp__device_close(&d);
	sp__model_free(m);
	return 0;
}
