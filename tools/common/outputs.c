/* SPDX-License-Identifier: MIT */
/*
 * Prevents a command from overwriting its inputs or other outputs.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "msg.h"
#include "outputs.h"

void output_die(const struct sp_errinfo *err)
{
	const char *reason = err->text[0] ? err->text : sp_strerror(err->code);
	const char *subject = quote_file(err->path);

	if (err->code <= SP_EFORMAT)
		die("%s: %s", subject, reason);
	die("%s failed: %s: %s", err->op, subject, reason);
}

void outputs_add(struct sp_output_set *set, const char *path, const char *option,
		 bool input_allowed)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;

	if (sp_output_set_add(set, path, option, input_allowed, &err) < 0)
		output_die(&err);
}

void outputs_add_stdout(struct sp_output_set *set, bool input_allowed)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;

	if (sp_output_set_add_stdout(set, input_allowed, &err) < 0)
		output_die(&err);
}

void outputs_add_stats(struct sp_output_set *set, const char *path)
{
	if (path && strcmp(path, "-") != 0)
		outputs_add(set, path, "--stats", false);
}

/* True if reading the path consumes standard input. */
static bool is_standard_input(const char *path)
{
	struct stat st, in;

	if (!strcmp(path, "-") || !strcmp(path, "/dev/stdin"))
		return true;
	return fstat(STDIN_FILENO, &in) == 0 && (S_ISFIFO(in.st_mode) || S_ISSOCK(in.st_mode)) &&
	       stat(path, &st) == 0 && st.st_dev == in.st_dev && st.st_ino == in.st_ino;
}

void outputs_claim_input(const char *path)
{
	static const char *claimed;

	if (!path || !is_standard_input(path))
		return;
	if (claimed && claimed != path)
		die("%s: standard input can be read only once: name a file for one of the inputs",
		    quote_file(path));
	claimed = path;
}

static void check_spared(const struct sp_output_set *set, const char *path)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;

	if (sp_output_set_check_input(set, path, &err) < 0)
		output_die(&err);
}

void outputs_check_input(const struct sp_output_set *set, const char *path)
{
	outputs_claim_input(path);
	check_spared(set, path);
}

void outputs_check_inputs(const struct sp_output_set *set, const char *const *paths, size_t n)
{
	bool claimed = false;

	for (size_t i = 0; i < n; i++) {
		if (!claimed)
			outputs_claim_input(paths[i]);
		claimed |= is_standard_input(paths[i]);
		check_spared(set, paths[i]);
	}
}

/* Checks an input that "-" does not make standard input. */
static void check_file(const struct sp_output_set *set, const char *path)
{
	if (path && strcmp(path, "-") != 0)
		outputs_check_input(set, path);
}

/* Checks each part of a spec that can name a file: a model, a trace. */
static void spare_words(const struct sp_output_set *set, const char *spec)
{
	char *copy = must_copy(spec), *rest = NULL;

	for (char *word = strtok_r(copy, ",=", &rest); word; word = strtok_r(NULL, ",=", &rest))
		check_file(set, word);
	free(copy);
}

void outputs_check_volume(const struct sp_output_set *set, const char *text)
{
	const char *colon = text ? strchr(text, ':') : NULL;

	if (colon && !strncmp(text, "sim:", 4))
		spare_words(set, colon + 1);
	else if (colon && !strncmp(text, "block:", 6))
		check_file(set, colon + 1);
	else
		check_file(set, text);
}

void outputs_common(struct sp_output_set *set, const struct common_options *c, const char *output)
{
	if (output)
		outputs_add(set, output, "--output", true);
	else
		outputs_add_stdout(set, true);
	outputs_add_stats(set, c->stats);
	outputs_add(set, c->run->trace_path, "--trace", false);
	outputs_add(set, c->run->trace_tasks_path, "--trace-tasks", false);
	outputs_add(set, c->plot, "--plot", false);
	outputs_check_input(set, c->geometry);
	outputs_check_volume(set, c->run->volume);
}
