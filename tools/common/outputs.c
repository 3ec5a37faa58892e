/* SPDX-License-Identifier: MIT */
/*
 * Prevents a command from overwriting its inputs or other outputs.
 */
#include <stdlib.h>
#include <string.h>
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

void outputs_check_input(const struct sp_output_set *set, const char *path)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;

	if (sp_output_set_check_input(set, path, &err) < 0)
		output_die(&err);
}

/* Checks each part of a spec that can name a file: a model, a trace. */
static void spare_words(const struct sp_output_set *set, const char *spec)
{
	char *copy = must_copy(spec), *rest = NULL;

	for (char *word = strtok_r(copy, ",=", &rest); word; word = strtok_r(NULL, ",=", &rest))
		outputs_check_input(set, word);
	free(copy);
}

void outputs_check_volume(const struct sp_output_set *set, const char *text)
{
	const char *colon = text ? strchr(text, ':') : NULL;

	if (colon && !strncmp(text, "sim:", 4))
		spare_words(set, colon + 1);
	else if (colon && !strncmp(text, "block:", 6))
		outputs_check_input(set, colon + 1);
	else
		outputs_check_input(set, text);
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
