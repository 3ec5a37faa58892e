/* SPDX-License-Identifier: MIT */
/*
 * What a caller of the public functions holds.
 */
#pragma once

#include <spindle/index.h>
#include "index/indexfile.h"

struct sp_index {
	struct sp_index_opts opts;
	struct sp__env env;
	bool env_open;
	struct sp__index file;
};
