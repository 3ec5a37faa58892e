/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <spindle/size.h>
#include "memory.h"
#include "msg.h"

uint64_t memory_asked(uint64_t bytes, bool warn)
{
	uint64_t limit;

	if (!bytes)
		return sp_memory_default();
	limit = sp_memory_group();
	if (warn && bytes > limit)
		msg("warning: -S asks for %" PRIu64
		    " bytes of memory, but the control group is limited to %" PRIu64,
		    bytes, limit);
	return bytes;
}
