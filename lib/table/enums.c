/* SPDX-License-Identifier: MIT */
/*
 * Names the layouts of tables, the forms of their input and output, the ways of a scan, and pools.
 */
#include <spindle/pool.h>
#include <spindle/table.h>
#include "base/enum.h"

SP__ENUM_TABLE(sp_table_layout, { "nsm", SP_TABLE_NSM }, { "pax", SP_TABLE_PAX },
	       { "dsm", SP_TABLE_DSM }, { "csm", SP_TABLE_CSM }, { "auto", SP_TABLE_AUTO })
SP__ENUM_TABLE(sp_table_format, { "text", SP_TABLE_TEXT }, { "csv", SP_TABLE_CSV },
	       { "fixed", SP_TABLE_FIXED })
SP__ENUM_TABLE(sp_table_access, { "auto", SP_TABLE_ACCESS_AUTO }, { "s-scan", SP_TABLE_S_SCAN },
	       { "si-scan", SP_TABLE_SI_SCAN }, { "index", SP_TABLE_BY_INDEX })
SP__ENUM_TABLE(sp_table_dsm_join, { "none", SP_TABLE_JOIN_NONE }, { "tuple", SP_TABLE_JOIN_TUPLE },
	       { "vector", SP_TABLE_JOIN_VECTOR })
SP__ENUM_TABLE(sp_pool_manager, { "F", SP_POOL_FULL }, { "S", SP_POOL_QUERY },
	       { "D", SP_POOL_DYNAMIC })
SP__ENUM_TABLE(sp_pool_update_unit, { "cells", SP_POOL_CELLS }, { "page", SP_POOL_PAGE })
