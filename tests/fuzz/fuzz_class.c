/* SPDX-License-Identifier: MIT */
/*
 * Classes of requests as text: refused with a reason, or within their limits.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <spindle/bench.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);
const char *const sp_fuzz_tokens[] = {
	"a:",	"share=",  "30%",    "depth=",	   "4096",    "rate=",	  "0.5",     "prio=",
	"rt/3", "op=",	   "randrw", "size=",	   "1G",      "pattern=", "stride:", "zipf:",
	"zipf", "target=", "16",     "rwmixread=", "offset=", "range=",	  ",",	     NULL
};

static void require(bool cond)
{
	if (!cond)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct sp_bench_class c = { .share = -1, .reads = 1, .bytes = 512 };
	struct sp_errinfo err = SP_ERRINFO_INIT;
	char *text = malloc(bytes + 1);
	int rc;

	require(text != NULL);
	memcpy(text, data, bytes);
	text[bytes] = '\0';
	rc = sp_bench_class_parse(&c, text, &err);
	require(rc == 0 || (rc == SP_ESYNTAX && err.code == rc && *err.text));
	require(c.name == text && c.depth <= SP_BENCH_DEPTH_MAX &&
		c.target <= SP_BENCH_TARGETS_MAX);
	require(c.bytes > 0 && c.bytes <= 1u << 30 && c.reads >= 0 && c.reads <= 1);
	require(c.share <= 1 && c.rate >= 0 && c.rate <= 1e9);
	require(sp_bench_pattern_name((int)c.pattern));
	require(c.pattern != SP_BENCH_ZIPF || (c.theta >= 0.01 && c.theta <= 10));
	require(c.prio >> 13 <= SP_BENCH_IDLE && !(c.prio & 0x1ff8));
	free(text);
	return 0;
}
