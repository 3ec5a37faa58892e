/* SPDX-License-Identifier: MIT */
/*
 * What the system tells of devices, rings, mounts and traces: any bytes are
 * read within their bounds, and what is accepted makes sense.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include "observe/watch.h"
#include "observe/watch_trace.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);
const char *const sp_fuzz_tokens[] = { "\nSqHead:\t",  "\nCqTail:\t", " 4294967295", " 0",
				       "\nID: ",       "field:",      " dev;",	     "\toffset:8;",
				       "\tsize:4;",    " - ext4 ",    "8:1 ",	     "shared:1",
				       "\x1e\0\0\0\1", "\x1d\0\0\0",  NULL };

struct bounds {
	const unsigned char *begin, *end;
	unsigned sum;
};

static void require(bool cond)
{
	if (!cond)
		abort();
}

/* Every byte is read. */
static void look(void *arg, uint64_t ns, const unsigned char *data, size_t bytes)
{
	struct bounds *b = arg;

	(void)ns;
	require(data >= b->begin && data <= b->end && bytes <= (size_t)(b->end - data));
	for (size_t i = 0; i < bytes; i++)
		b->sum += data[i];
}

static void texts(const char *text)
{
	struct sp__diskstat stat;
	struct sp__mount mount;
	char word[8];
	uint64_t n;
	unsigned id, offset;

	(void)sp__watch_parse_stat(text, &stat);
	(void)sp__watch_parse_inflight(text, &n);
	if (sp__watch_parse_fdinfo(text, &n))
		require(n <= INT32_MAX);
	(void)sp__traceformat_id(text, &id);
	(void)sp__traceformat_field(text, "dev", 4, &offset);
	if (sp__mountinfo_find(text, 0, makedev(8, 1), &mount))
		require(mount.major == 8 && mount.minor == 1 && *mount.type && *mount.source);
	sp__sys_chosen(text, word, sizeof(word));
	require(strlen(word) < sizeof(word));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	char *text = malloc(bytes + 1);
	unsigned char *page = malloc(bytes ? bytes : 1);
	struct bounds b;
	bool lost;

	require(text && page);
	memcpy(text, data, bytes);
	text[bytes] = '\0';
	texts(text);
	memcpy(page, data, bytes);
	b = (struct bounds){ .begin = page, .end = page + bytes };
	(void)sp__tracepage_parse(page, bytes, &lost, look, &b);
	free(text);
	free(page);
	return 0;
}
