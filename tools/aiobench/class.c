/* SPDX-License-Identifier: MIT */
#include <stdbool.h>
#include <stdlib.h>
#include <stdnoreturn.h>
#include <string.h>
#include "choice.h"
#include "msg.h"
#include "aiobench.h"

/* fio's words; the mixed ones take the share of reads from elsewhere. */
void class_set_rw(struct sp_bench_class *c, const char *option, const char *word)
{
	enum { READ, WRITE, RW, RANDREAD, RANDWRITE, RANDRW };
	static const struct sp_word words[] = {
		{ "read", READ },
		{ "write", WRITE },
		{ "rw", RW },
		{ "readwrite", RW },
		{ "randread", RANDREAD },
		{ "randwrite", RANDWRITE },
		{ "randrw", RANDRW },
		{ NULL, 0 },
	};
	int v = choice_option(option, word, words, 2);

	c->pattern = v >= RANDREAD ? SP_BENCH_RANDOM : SP_BENCH_SEQUENTIAL;
	c->reads = v % 3 == READ ? 1 : v % 3 == WRITE ? 0 : 0.5;
}

void class_set_distribution(struct sp_bench_class *c, const char *option, const char *text)
{
	if (!strcmp(text, "random") || !strcmp(text, "rand")) {
		c->pattern = SP_BENCH_RANDOM;
	} else if (!strncmp(text, "zipf", 4) && (!text[4] || text[4] == ':')) {
		c->pattern = SP_BENCH_ZIPF;
		c->theta = text[4] ? number_value(option, text + 5, 0.01, 10) : 1.1;
	} else {
		die("invalid %s argument '%s': random or zipf:THETA", option, text);
	}
}

static void set_pattern(struct sp_bench_class *c, const char *text)
{
	if (!strcmp(text, "seq") || !strcmp(text, "sequential")) {
		c->pattern = SP_BENCH_SEQUENTIAL;
	} else if (!strncmp(text, "stride", 6) && (text[6] == ':')) {
		c->pattern = SP_BENCH_STRIDED;
		c->stride_bytes = bytes_value("--class pattern", text + 7);
	} else if (!strcmp(text, "random") || !strcmp(text, "rand") || !strncmp(text, "zipf", 4)) {
		class_set_distribution(c, "--class pattern", text);
	} else {
		die("invalid --class pattern '%s': seq, random, stride:SIZE or zipf:THETA", text);
	}
}

enum key { SHARE, DEPTH, RATE, PRIO, OP, SIZE, PATTERN, TARGET, MIX, OFFSET, RANGE };

static void set(struct sp_bench_class *c, enum key key, const char *value)
{
	switch (key) {
	case SHARE:
		c->share = percent_value("--class share", value);
		break;
	case DEPTH:
		c->depth = count_value("--class depth", value, SP_BENCH_DEPTH_MAX);
		break;
	case RATE:
		c->rate = number_value("--class rate", value, 1e-6, 1e9);
		break;
	case PRIO:
		c->prio = prio_value("--class prio", value);
		break;
	case OP:
		class_set_rw(c, "--class op", value);
		break;
	case SIZE:
		c->bytes = request_value("--class size", value);
		break;
	case PATTERN:
		set_pattern(c, value);
		break;
	case TARGET:
		c->target = count_value("--class target", value, SP_BENCH_TARGETS_MAX);
		break;
	case OFFSET:
		c->offset_bytes = bytes_value("--class offset", value);
		break;
	case RANGE:
		c->range_bytes = bytes_value("--class range", value);
		break;
	case MIX:
		c->reads = percent_value("--class rwmixread", value);
		break;
	}
}

void class_parse(struct sp_bench_class *c, char *text)
{
	static const struct sp_word keys[] = {
		{ "share", SHARE },	{ "depth", DEPTH },   { "rate", RATE },
		{ "prio", PRIO },	{ "op", OP },	      { "size", SIZE },
		{ "pattern", PATTERN }, { "target", TARGET }, { "rwmixread", MIX },
		{ "offset", OFFSET },	{ "range", RANGE },   { NULL, 0 },
	};
	char *rest = strchr(text, ':'), *word;

	c->name = text;
	c->share = -1;
	if (rest)
		*rest++ = '\0';
	if (!*text)
		die("invalid --class argument: a name, a colon and KEY=VALUE,...");
	while ((word = strsep(&rest, ",")) != NULL) {
		char *value = word;

		if (!*word && !rest)
			break;
		word = strsep(&value, "=");
		if (!value)
			die("--class %s: '%s' is not KEY=VALUE", text, word);
		set(c, (enum key)choice_option("--class", word, keys, 2), value);
	}
}
