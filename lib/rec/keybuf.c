/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>
#include "base/mem.h"
#include "rec/key.h"

int sp__keybuf_grow(struct sp__keybuf *buf, size_t more)
{
	size_t want;
	unsigned char *data;

	if (__builtin_add_overflow(buf->bytes, more, &want))
		return -ENOMEM;
	if (want < SIZE_MAX / 2)
		want += want / 2 + 64;
	data = sp__block_resize(buf->data, buf->capacity, want);
	if (!data)
		return -ENOMEM;
	buf->data = data;
	buf->capacity = want;
	return 0;
}

void sp__keybuf_release_scratch(struct sp__keybuf *buf)
{
	if (!buf->scratch)
		return;
	sp__keybuf_release(buf->scratch);
	free(buf->scratch);
	buf->scratch = NULL;
}

void sp__keybuf_release(struct sp__keybuf *buf)
{
	sp__keybuf_release_scratch(buf);
	(void)sp__block_resize(buf->data, buf->capacity, 0);
	*buf = (struct sp__keybuf){ 0 };
}
