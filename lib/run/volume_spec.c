/* SPDX-License-Identifier: MIT */
/*
 * Checks and opens the volume of a run.
 */
#include <stdio.h>
#include <string.h>
#include "base/err.h"
#include "dev/geometry.h"
#include "io/volume.h"
#include "run/volume_spec.h"
#include "sim/fsmap.h"
#include "sim/machine.h"

#define SIM "sim:"
#define BLOCK "block:"

static const char *after(const char *volume, const char *kind)
{
	size_t n = strlen(kind);

	return volume && !strncmp(volume, kind, n) ? volume + n : NULL;
}

const char *sp__volume_spec_machine_spec(const struct sp_run_opts *o)
{
	return after(o->volume, SIM);
}

bool sp__volume_spec_simulated(const struct sp_run_opts *o)
{
	return sp__volume_spec_machine_spec(o) != NULL;
}

const char *sp__volume_spec_block(const struct sp_run_opts *o)
{
	return after(o->volume, BLOCK);
}

int sp__volume_spec_check_geometry(const struct sp_geometry *geometry, uint64_t blocks,
				   uint32_t block_bytes, struct sp_errinfo *err)
{
	struct sp_geometry_info info;

	if (!geometry)
		return 0;
	sp_geometry_info(geometry, &info);
	if (info.blocks == blocks && info.block_bytes == block_bytes)
		return 0;
	return sp__errf(err, SP_ESYNTAX, "plan", info.device, -1,
			"the geometry has %llu blocks of %u bytes, the simulated device %llu of %u",
			(unsigned long long)info.blocks, info.block_bytes,
			(unsigned long long)blocks, block_bytes);
}

int sp__volume_spec_device(const struct sp_run_opts *o, struct sp__volume **device,
			   struct sp_errinfo *err)
{
	const char *text = sp__volume_spec_machine_spec(o);
	int rc = text ? sp__volume_device(device, text, err) : 0;

	return rc || !text ? rc
			   : sp__volume_spec_check_geometry(
				     o->geometry, (*device)->size_bytes / (*device)->block_bytes,
				     (*device)->block_bytes, err);
}

int sp_run_geometry(struct sp_geometry **g, const char *volume, struct sp_errinfo *err)
{
	const char *text = after(volume, SIM);
	struct sp__machine_spec spec;
	struct sp__model *m;
	int rc;

	*g = NULL;
	if (!text)
		return 0;
	rc = sp__machine_spec_parse(&spec, text, err);
	if (rc == 0)
		rc = sp__machine_spec_model(&m, &spec, err);
	if (rc)
		return rc;
	rc = sp__geometry_of(g, m, err);
	sp__model_free(m);
	return rc;
}

static int check_machine(const struct sp_run_opts *o, struct sp_errinfo *err)
{
	struct sp__machine_spec spec;
	int rc = sp__machine_spec_parse(&spec, sp__volume_spec_machine_spec(o), err);

	if (rc == 0 && o->placement != SP_PLACE_CONTIGUOUS && spec.fs != SP__FS_NONE)
		return sp__errf(err, SP_EUNSUP, "plan", NULL, -1,
				"runs can be placed by tracks only with fs=none");
	return rc;
}

int sp__volume_spec_check(const struct sp_run_opts *o, struct sp_errinfo *err)
{
	struct sp_geometry_info info;
	const char *v = o->volume;

	if (v && !after(v, SIM) && !after(v, BLOCK))
		return sp__errf(err, SP_ESYNTAX, "plan", v, -1,
				"a volume is block:DEVICE or sim:MODEL");
	if (o->placement == SP_PLACE_AUTO)
		return sp__errf(err, SP_EUNSUP, "plan", NULL, -1,
				"placement auto applies to sorts only");
	if (o->placement == SP_PLACE_MEMS)
		return sp__errf(err, SP_EUNSUP, "plan", NULL, -1,
				"placement mems applies to tables only");
	if (after(v, BLOCK) && !o->overwrite)
		return sp__errf(err, -EPERM, "plan", v, -1,
				"all data on the device may be lost: --overwrite allows that");
	if (o->compress_level > sp_packed_levels(o->compress_output))
		return sp__errf(err, SP_ESYNTAX, "plan", NULL, -1,
				"a level of compressed output is 0 to %u, not %u",
				sp_packed_levels(o->compress_output), o->compress_level);
	if (after(v, SIM) && (o->decompress || o->compress_output))
		return sp__errf(err, SP_EUNSUP, "plan", v, -1,
				"compressed inputs and outputs take no simulated time");
	if (after(v, SIM)) {
		int rc = check_machine(o, err);

		if (rc < 0)
			return rc;
	}
	if (o->placement == SP_PLACE_CONTIGUOUS)
		return 0;
	if (!v || !o->geometry)
		return sp__errf(err, SP_EUNSUP, "plan", v, -1,
				"runs can be placed only on a device of known geometry");
	sp_geometry_info(o->geometry, &info);
	if (!info.tracks)
		return sp__errf(err, SP_ESYNTAX, "plan", info.device, -1,
				"no tracks of the device are known, on which runs could be placed");
	return 0;
}

int sp__volume_spec_drives(struct sp__machine_spec *spec, const char *text, unsigned volumes,
			   const char *path, struct sp_errinfo *err)
{
	int rc = sp__machine_spec_parse(spec, text, err);

	if (!rc && volumes > 1 && (spec->fs != SP__FS_NONE || spec->array.level != SP__RAID_NONE))
		return sp__errf(err, SP_ESYNTAX, "open", path, -1,
				"each volume is a simulated drive of its own: no array, and no "
				"file system");
	if (!rc && volumes > 1)
		spec->array = (struct sp__raid_spec){ .level = SP__RAID_LINEAR, .drives = volumes };
	return rc;
}

uint64_t sp__volume_spec_drive_bytes(uint64_t device_bytes, unsigned volumes, uint32_t page_bytes)
{
	return device_bytes / volumes - device_bytes % page_bytes;
}

char *sp__volume_spec_array(const char *volume, unsigned drives)
{
	char *text;

	return asprintf(&text, "%s,array=linear:%u", volume, drives) < 0 ? NULL : text;
}
