/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>
#include "choice.h"
#include "common_options.h"
#include "device.h"
#include "msg.h"
#include "number.h"

#define PAGE_UNIT 4096u
#define PAGE_MAX (16u << 20)

static void add_tmpdir(struct common_options *c, const char *dir)
{
	struct sp_run_opts *run = c->run;

	c->tmpdirs = must_alloc(c->tmpdirs, run->ntmpdirs + 1, sizeof(*c->tmpdirs));
	c->tmpdirs[run->ntmpdirs++] = dir;
	run->tmpdirs = c->tmpdirs;
}

static void set_page_size(struct common_options *c, const char *name, const char *text)
{
	uint64_t bytes = size_option(name, text, 1);

	if (!bytes || bytes % PAGE_UNIT || bytes > PAGE_MAX)
		die("%s must be a multiple of 4096 bytes and at most 16 MiB", name);
	c->run->page_bytes = (uint32_t)bytes;
}

const char *engine_option(const char *name, const char *text, int status)
{
	const char *engine;

	/* For tests: the library reads the rest, and refuses what it does not know. */
	if (!strncmp(text, "fault:", 6))
		return text;
	engine = sp_engine_name(choice_option(name, text, sp_engine_words(), status));
	return strcmp(engine, "auto") ? engine : NULL;
}

static void set_volume(struct common_options *c, const char *name, const char *text)
{
	const char *dir = device_directory(name, text);

	if (dir)
		add_tmpdir(c, dir);
	else
		c->run->volume = text;
}

static bool apply_device(struct common_options *c, int code, const char *name, const char *text,
			 int status)
{
	switch (code) {
	case COMMON_ENGINE:
		c->run->engine = engine_option(name, text, status);
		return true;
	case COMMON_DIRECT:
		c->run->direct = text ? choice_option(name, text, sp_direct_words(), status) : 1;
		return true;
	case COMMON_VOLUME:
		set_volume(c, name, text);
		return true;
	case COMMON_GEOMETRY:
		c->geometry = text;
		return true;
	case COMMON_PLACEMENT:
		c->run->placement =
			(enum sp_placement)choice_option(name, text, sp_placement_words(), status);
		return true;
	case COMMON_OVERWRITE:
		return c->run->overwrite = true;
	}
	return false;
}

bool common_options_apply(struct common_options *c, int code, const char *name, const char *text,
			  int status)
{
	switch (code) {
	case 'T':
		add_tmpdir(c, text);
		return true;
	case COMMON_PAGE_SIZE:
		set_page_size(c, name, text);
		return true;
	case COMMON_SEED:
		c->run->seed = number_option(name, text, 0);
		return c->seeded = true;
	case COMMON_EXPLAIN:
		return c->explain = true;
	case COMMON_STATS:
		c->stats = text ? text : "-";
		return true;
	case COMMON_TRACE:
		c->run->trace_path = text;
		return true;
	case COMMON_PROGRESS:
		c->progress = progress_option(name, text, status);
		return true;
	}
	return apply_device(c, code, name, text, status);
}

bool common_options_progress(const struct common_options *c, bool apart)
{
	return (apart || c->progress == PROGRESS_ALWAYS) && progress_wanted(c->progress, 1);
}

void common_options_finish(struct common_options *c)
{
	const char *dir = getenv("TMPDIR");

	if (!c->run->ntmpdirs)
		add_tmpdir(c, dir ? dir : "/tmp");
}
