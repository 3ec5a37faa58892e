/* SPDX-License-Identifier: MIT */
/*
 * Divides the memory of a run.
 */
#include "base/host.h"
#include "base/minmax.h"
#include "pack/pack.h"
#include "run/memory.h"
#include "run/volume_spec.h"

#define FLOOR_BYTES (UINT64_C(512) << 10)
#define DEFAULT_BYTES (UINT64_C(1) << 30)

/*
 * The shares of compression, and their minimum, the need of small members.  The windows of zstd, of
 * xz and of LZ4's blocks at the usual levels have 2 to 9 MB.
 */
#define PACKING_SHARE 16
#define MIN_BYTES (UINT64_C(1) << 20)
/* Many threads have a frame each (pack/pack.h) if this share is enough; there are at least two. */
#define FRAMES_SHARE 4
#define FRAMES_MIN 2

static uint64_t given(uint64_t memory_bytes)
{
	return memory_bytes ? sp__max(memory_bytes, FLOOR_BYTES) : DEFAULT_BYTES;
}

uint64_t sp__unpacking_memory(const struct sp_run_opts *o, uint64_t memory_bytes)
{
	return o->decompress ? sp__max(given(memory_bytes) / SP__UNPACKING_SHARE, MIN_BYTES) : 0;
}

uint64_t sp__packing_memory(const struct sp_run_opts *o, uint64_t memory_bytes)
{
	const uint64_t share = sp__max(given(memory_bytes) / PACKING_SHARE, MIN_BYTES);
	const uint64_t frame = sp__pack_memory(o->compress_output, o->compress_level);
	const unsigned threads = sp__volume_spec_simulated(o) ? 1 : sp__threads(o->parallel);
	uint64_t frames =
		sp__min(sp__max(threads, FRAMES_MIN) * frame, given(memory_bytes) / FRAMES_SHARE);

	/* The length of frames must not depend on the number of threads. */
	if (share < SP__PACK_LITTLE)
		frames = sp__min(frames, SP__PACK_LITTLE - 1);
	return o->compress_output ? sp__max(share, frames) : 0;
}

uint64_t sp__working_memory(const struct sp_run_opts *o, uint64_t memory_bytes)
{
	uint64_t all = given(memory_bytes), taken = sp__unpacking_memory(o, memory_bytes) +
						    sp__packing_memory(o, memory_bytes);

	return sp__max(all - sp__min(all, taken), FLOOR_BYTES);
}

/* A chunk is W / 64: 16 KiB to 1 MiB. */
struct sp__buffers sp__buffers(uint64_t working_bytes)
{
	uint64_t chunk = working_bytes / 64;
	bool large = working_bytes >= UINT64_C(128) << 20;

	chunk = chunk < (16u << 10) ? 16u << 10 : chunk > (1u << 20) ? 1u << 20 : chunk;
	chunk &= chunk < (128u << 10) ? ~UINT64_C(4095) : ~UINT64_C(65535);
	return (struct sp__buffers){ .chunk_bytes = (uint32_t)chunk,
				     .reads = 3,
				     .writes = large ? 3 : 2 };
}

unsigned sp__threads(unsigned parallel)
{
	return parallel ? parallel : sp__host_processors("");
}
