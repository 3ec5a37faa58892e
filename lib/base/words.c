/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <spindle/words.h>

const char *sp_word_name(const struct sp_word *words, int value)
{
	while (words->word && words->value != value)
		words++;
	return words->word;
}

int sp_word_parse(const struct sp_word *words, const char *text, int *value)
{
	const struct sp_word *found = NULL;
	size_t len = strlen(text);
	int rc = -EINVAL;

	for (; words->word; words++) {
		if (strncmp(words->word, text, len))
			continue;
		if (!found || !words->word[len])
			rc = 0;
		else if (words->value != found->value)
			rc = -ENOTUNIQ;
		found = words;
		if (!words->word[len])
			break;
	}
	if (!rc)
		*value = found->value;
	return rc;
}
