/* SPDX-License-Identifier: MIT */
/*
 * Names the layouts of tables, the forms of their input and output, and the ways of a scan.
 */
#include <spindle/table.h>
#include "base/enum.h"

SP__ENUM_TABLE(sp_table_layout, { "nsm", SP_TABLE_NSM }, { "pax", SP_TABLE_PAX },
	       { "dsm", SP_TABLE_DSM }, { "csm", SP_TABLE_CSM }, { "auto", SP_TABLE_AUTO })
SP__ENUM_TABLE(sp_table_format, { "text", SP_TABLE_TEXT }, { "csv", SP_TABLE_CSV },
	       { "fixed", SP_TABLE_FIXED })
SP__ENUM_TABLE(sp_table_access, { "auto", SP_TABLE_ACCESS_AUTO }, { "s-scan", SP_TABLE_S_SCAN },
	       { "si-scan", SP_TABLE_SI_SCAN }, { "index", SP_TABLE_BY_INDEX })
