/* SPDX-License-Identifier: MIT */
/*
 * Chooses compression by what files are.
 */
#include <stdlib.h>
#include <string.h>
#include "autopack.h"
#include "msg.h"
#include "packedwarn.h"

#define VARIABLE "SPINDLE_AUTO_COMPRESSION"

static bool requested(const struct common_options *c)
{
	const char *text = getenv(VARIABLE);

	if (text && *text && strcmp(text, "0") != 0 && strcmp(text, "1") != 0)
		die("%s=%s: valid are 0 and 1", VARIABLE, quote(text));
	return c->auto_compression || (text && *text == '1');
}

/* Warns about an output that is named as if it were compressed in a format that is not known. */
static void warn_foreign(const char *output)
{
	static const char *const suffixes[] = { ".bz2", ".lzma", ".lzo", ".br", ".Z" };
	const char *suffix = strrchr(output, '.');

	for (size_t i = 0; suffix && i < sizeof(suffixes) / sizeof(suffixes[0]); i++)
		if (!strcmp(suffix, suffixes[i]))
			msg("warning: %s: is written uncompressed: the formats are those of .gz, "
			    ".zst, .lz4 and .xz",
			    quote_file(output));
}

void autopack(struct common_options *c, const char *const *inputs, size_t n, const char *output)
{
	struct sp_run_opts *run = c->run;

	if (!requested(c))
		return;
	for (size_t i = 0; i < n && run->decompress == SP_PACKED_NONE; i++)
		if (packedwarn_possible(inputs[i]))
			run->decompress = SP_PACKED_AUTO;
	if (output && run->compress_output == SP_PACKED_NONE) {
		run->compress_output = sp_packed_by_suffix(output);
		warn_foreign(output);
	}
	common_options_need_format("--compress-output", run->compress_output);
}
