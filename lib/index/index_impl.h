/* SPDX-License-Identifier: MIT */
/*
 * Declares the handle of the public functions.
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
