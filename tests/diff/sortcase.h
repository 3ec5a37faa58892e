/* SPDX-License-Identifier: MIT */
/*
 * One sort that needs temporary space: what its settings are drawn from, and
 * its command line.
 */
#ifndef DIFF_SORTCASE_H
#define DIFF_SORTCASE_H

#include "input.h"
#include "pairs.h"
#include "peer.h"

/* From PARALLEL on a factor is an option of xsort alone, and has its name. */
enum {
	SOURCE,
	ORDER,
	LARGE,
	PLACE,
	KEY,
	REVERSE,
	KEEP,
	ENDS,
	RESULT,
	MEMORY,
	INPUT,
	PARALLEL,
	FACTORS = 22
};

static const struct pairs_factor sort_factors[] = {
	{ "source", { "file", "pipe", "files", "merge" } },
	{ "order", { "random", "duplicates", "ordered" } },
	{ "large", { "none", "S/32", "S/15", "S/8", "S/4", "S/2", "several" } },
	{ "place", { "first", "middle", "last" } },
	{ "key",
	  { "bytes", "numeric", "general", "human", "month", "version", "fold", "dictionary",
	    "several", "random", "csv", "locale", "locale-key", "locale-fold" } },
	{ "reverse", { "no", "key", "all" } },
	{ "keep", { "all", "stable", "unique", "count", "top" } },
	{ "ends", { "newline", "nul", "unended" } },
	{ "result", { "file", "pipe", "output", "input", "split" } },
	{ "memory", { "1M", "2M" } },
	{ "input", { "60%", "150%", "300%" } }, /* of the memory */
	{ "parallel", { "1", "2", "3", "5", "8", "16", "64" } },
	{ "run-formation", { "load", "replacement", "auto" } },
	{ "run-size", { "default", "64K" } },
	{ "merge-policy", { "lazy", "eager", "polyphase", "mms", "ppms", "auto" } },
	{ "fan-in", { "default", "2", "3", "7" } },
	{ "readahead", { "none", "double", "equal", "forecast", "extended", "cluster", "auto" } },
	{ "recycle", { "none", "all", "0", "1", "2", "auto" } },
	{ "spill-compression", { "none", "lz4", "zstd", "program" } },
	{ "engine", { "auto", "io_uring", "libaio", "sync" } },
	{ "page-size", { "default", "4K", "16K" } },
	{ "direct", { "auto", "always", "never" } },
	{ 0 },
};

static const struct pairs_excluded sort_excluded[] = {
	/* Polyphase merging does not keep the order of equal keys. */
	{ "merge-policy=polyphase", "keep=stable" },
	{ "merge-policy=polyphase", "keep=unique" },
	{ "merge-policy=polyphase", "keep=count" },
	{ "merge-policy=polyphase", "key=locale" },
	{ "merge-policy=polyphase", "key=locale-key" },
	{ "merge-policy=polyphase", "key=locale-fold" },
	{ "merge-policy=ppms", "keep=stable" },
	{ "merge-policy=ppms", "keep=unique" },
	{ "merge-policy=ppms", "keep=count" },
	{ "merge-policy=ppms", "key=locale" },
	{ "merge-policy=ppms", "key=locale-key" },
	{ "merge-policy=ppms", "key=locale-fold" },
	/* A CSV record ends with a newline. */
	{ "key=csv", "ends=nul" },
	/* A pipe is not an output. */
	{ "source=pipe", "result=input" },
	/* Refused. */
	{ "result=split", "key=random" },
	{ "result=split", "keep=top" },
	{ "source=merge", "run-formation=load" },
	{ "source=merge", "run-formation=replacement" },
	{ "source=merge", "run-size=64K" },
	{ "spill-compression=program", "run-formation=replacement" },
	{ "spill-compression=program", "readahead=double" },
	{ "spill-compression=program", "readahead=equal" },
	{ "spill-compression=program", "readahead=forecast" },
	{ "spill-compression=program", "readahead=extended" },
	{ "spill-compression=program", "readahead=cluster" },
	{ "spill-compression=program", "recycle=all" },
	{ "spill-compression=program", "recycle=0" },
	{ "spill-compression=program", "recycle=1" },
	{ "spill-compression=program", "recycle=2" },
	{ "spill-compression=program", "direct=always" },
	/* These take long and show nothing new: two processes for each run, much input. */
	{ "spill-compression=program", "run-size=64K" },
	{ 0 },
};

static const struct key_kind {
	const char *name, *locale, *options[3];
	enum word_kind word; /* in the second field */
} key_kinds[] = {
	{ "bytes", "C", { NULL }, WORD_LETTERS },
	{ "numeric", "C", { "-k2,2n" }, WORD_NUMBER },
	{ "general", "C", { "-k2,2g" }, WORD_GENERAL },
	{ "human", "C", { "-k2,2h" }, WORD_HUMAN },
	{ "month", "C", { "-k2,2M" }, WORD_MONTH },
	{ "version", "C", { "-k2,2V" }, WORD_VERSION },
	{ "fold", "C", { "-f" }, WORD_LETTERS },
	{ "dictionary", "C", { "-k2,2d" }, WORD_BLANK },
	{ "several", "C", { "-b", "-k3,3", "-k2,2n" }, WORD_NUMBER },
	{ "random", "C", { "--random-source=salt", "-k2,2R" }, WORD_LETTERS },
	{ "csv", "C", { "-k2,2" }, WORD_LETTERS },
	{ "locale", "en_US.UTF-8", { NULL }, WORD_NATIONAL },
	{ "locale-key", "en_US.UTF-8", { "-k2,2" }, WORD_NATIONAL },
	{ "locale-fold", "de_DE.UTF-8", { "-k2,2f" }, WORD_NATIONAL },
};

#define PIECES_MAX 5
#define SPLITTERS 3

struct sort_case {
	const struct pairs *pairs;
	struct pairs_case pick;
	uint64_t seed;
	struct sp__rng rng;
	const struct key_kind *key;
	struct args order; /* for both programs */
	struct args files; /* for both; standard input is in<stdin_piece> */
	struct args xsort;
	size_t memory, bytes;
	unsigned pieces;
	int stdin_piece; /* -1: none */
	bool stdin_pipe, csv;
	uint64_t top; /* 0: all */
	char eol;
};

static const char *setting(const struct sort_case *c, unsigned factor)
{
	return pairs_value(c->pairs, &c->pick, factor);
}

static bool is(const struct sort_case *c, unsigned factor, const char *value)
{
	return !strcmp(setting(c, factor), value);
}

/* The command line. */

static void choose_order(struct sort_case *c)
{
	for (unsigned i = 0; i < 3 && c->key->options[i]; i++) {
		const char *option = c->key->options[i];

		add(&c->order, "%s%s", option,
		    is(c, REVERSE, "key") && !strncmp(option, "-k", 2) ? "r" : "");
	}
	if (is(c, REVERSE, "all") || (is(c, REVERSE, "key") && !c->key->options[0]))
		add(&c->order, "-r");
	if (c->eol == '\0')
		add(&c->order, "-z");
	if (is(c, KEEP, "stable"))
		add(&c->order, "-s");
}

static void choose_files(struct sort_case *c)
{
	static const unsigned pieces[] = { 1, 1, 3, PIECES_MAX };

	c->pieces = pieces[c->pick.value[SOURCE]];
	c->stdin_piece = -1;
	if (is(c, SOURCE, "pipe") || (is(c, SOURCE, "file") && is(c, RESULT, "file")))
		c->stdin_piece = 0;
	else if (is(c, SOURCE, "files"))
		c->stdin_piece = 1;
	c->stdin_pipe = !is(c, SOURCE, "file");
	if (is(c, SOURCE, "merge"))
		add(&c->files, "-m");
	for (unsigned i = 0; i < c->pieces; i++) {
		if ((int)i != c->stdin_piece)
			add(&c->files, "in%u", i);
		else if (c->pieces > 1)
			add(&c->files, "-");
	}
}

static void choose_xsort(struct sort_case *c)
{
	add(&c->xsort, "-Ttmp");
	add(&c->xsort, "-S%s", setting(c, MEMORY));
	if (c->csv)
		add(&c->xsort, "--csv");
	if (is(c, KEEP, "unique") || is(c, KEEP, "count"))
		add(&c->xsort, "-u");
	if (is(c, KEEP, "count"))
		add(&c->xsort, "--count");
	if (c->top)
		add(&c->xsort, "--limit=%llu", (unsigned long long)c->top);
	if (is(c, RESULT, "output"))
		add(&c->xsort, "-oout");
	if (is(c, RESULT, "input"))
		add(&c->xsort, "-oin0");
	if (is(c, RESULT, "split")) {
		add(&c->xsort, "--split=splitters");
		add(&c->xsort, "-opart%%d");
	}
	for (unsigned f = PARALLEL; f < FACTORS; f++) {
		if (is(c, f, "program"))
			add(&c->xsort, "--compress-program=gzip");
		else if (!is(c, f, "default"))
			add(&c->xsort, "--%s=%s", sort_factors[f].name, setting(c, f));
	}
}

/* All of a case but its input. */
static void choose(struct sort_case *c, struct pairs *p, uint64_t seed, uint64_t number)
{
	*c = (struct sort_case){ .pairs = p, .seed = sp__mix64(seed * 1000003 + number) };
	c->rng.state = c->seed;
	pairs_case(p, number, &c->pick);
	c->key = &key_kinds[c->pick.value[KEY]];
	if (strcmp(c->key->name, setting(c, KEY)))
		abort();
	c->csv = is(c, KEY, "csv");
	c->eol = is(c, ENDS, "nul") ? '\0' : '\n';
	c->memory = strtoul(setting(c, MEMORY), NULL, 10) << 20;
	c->bytes = c->memory / 100 * strtoul(setting(c, INPUT), NULL, 10);
	if (is(c, KEEP, "top"))
		c->top = 1 + (draw(&c->rng, 2) ? draw(&c->rng, 100) : draw(&c->rng, 100000));
	choose_order(c);
	choose_files(c);
	choose_xsort(c);
}

#endif
