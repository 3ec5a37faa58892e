/* SPDX-License-Identifier: MIT */
/*
 * Defines the stubs of libmd.
 */
#include <sys/types.h>
#include <md5.h>
#include "stubs/stubs.h"

#define LIST(S, S_FREE, S_OPTIONAL)                                                                \
	S(void, MD5Init, (MD5_CTX * context), (context))                                           \
	S(void, MD5Update, (MD5_CTX * context, const uint8_t *data, size_t bytes),                 \
	  (context, data, bytes))                                                                  \
	S(void, MD5Final, (uint8_t digest[MD5_DIGEST_LENGTH], MD5_CTX * context), (digest, context))

SP__STUBS(md, "libmd0 (Debian) or libmd (Fedora)", LIST);
