/* SPDX-License-Identifier: MIT
 *
 * Counts the rows of a store by kind.
 */
#include "store/store.h"

#include <math.h>

#include "base/base.h"

/* clang-format off: columns are app, classifier, category, machine, model, version, arch, mode,
 * init, status, number, weight; of hosts also host, kernel, microcode, rung
 */
static const char *const count_sql[TACT_N_COUNT_KINDS] = {
	[TACT_COUNT_BLOCKS] =
		"SELECT '', '', '', '', '', '', '', '', '', '', count(*), NULL FROM block",
	[TACT_COUNT_APPS] = "SELECT app, '', '', '', '', '', '', '', '', '', count(*), sum(weight)"
			    " FROM source GROUP BY app"
			    " UNION ALL SELECT '', '', '', '', '', '', '', '', '', '', n, NULL"
			    " FROM (SELECT count(*) AS n FROM block"
			    " WHERE NOT EXISTS(SELECT 1 FROM source WHERE block = id)) WHERE n > 0"
			    " ORDER BY 1",
	[TACT_COUNT_CATEGORIES] =
		"SELECT '', classifier, label, '', '', '', arch, '', '', '', count(*), NULL"
		" FROM category GROUP BY classifier, arch, label ORDER BY classifier, arch, label",
	[TACT_COUNT_MEASUREMENTS] =
		"SELECT '', '', '', brand, '', '', arch, mode, init, status, n, NULL"
		" FROM (SELECT machine, mode, init, status, count(*) AS n FROM measurement"
		" GROUP BY machine, mode, init, status) JOIN machine ON machine.id = machine"
		" ORDER BY brand, machine, mode, init, status",
	[TACT_COUNT_PREDICTIONS] =
		"SELECT '', '', '', '', model, version, arch, mode, init, status, count(*), NULL"
		" FROM prediction GROUP BY model, version, arch, mode, init, status"
		" ORDER BY model, version, arch, mode, init, status",
	[TACT_COUNT_HOSTS] =
		"SELECT '', '', '', brand, '', '', coalesce(arch, ''), '', '', '', n, NULL,"
		" coalesce(name, ''), coalesce(kernel, ''), microcode, rung"
		" FROM (SELECT machine, host, rung, count(*) AS n FROM measurement"
		" WHERE host IS NOT NULL GROUP BY machine, host, rung) AS m JOIN machine ON "
		"machine.id = m.machine"
		" LEFT JOIN host ON host.id = m.host"
		" ORDER BY name, kernel, brand, vendor, family, model, stepping, microcode,"
		" hypervisor, rung",
};
/* clang-format on */

static void read_count(sqlite3_stmt *stmt, struct tact_count *count)
{
	*count = (struct tact_count){
		.size = sizeof(*count),
		.app = store_column(stmt, 0),
		.classifier = store_column(stmt, 1),
		.category = store_column(stmt, 2),
		.machine = store_column(stmt, 3),
		.model = store_column(stmt, 4),
		.version = store_column(stmt, 5),
		.arch = store_column(stmt, 6),
		.mode = store_column(stmt, 7),
		.init = store_column(stmt, 8),
		.status = store_column(stmt, 9),
		.n = sqlite3_column_int64(stmt, 10),
		.weight = sqlite3_column_type(stmt, 11) == SQLITE_NULL
				  ? (double)NAN
				  : sqlite3_column_double(stmt, 11),
		.host = "",
		.kernel = "",
		.microcode = "",
		.rung = "",
	};
	if (sqlite3_column_count(stmt) <= 12)
		return;
	count->host = store_column(stmt, 12);
	count->kernel = store_column(stmt, 13);
	count->microcode = store_column(stmt, 14);
	count->rung = store_column(stmt, 15);
}

int tact_store_count(struct tact_store *store, enum tact_count_kind kind,
		     int (*each)(void *context, const struct tact_count *count), void *context,
		     struct tact_diag *diag)
{
	sqlite3_stmt *stmt = NULL;
	struct tact_count count;
	int code, result = 0;

	if (!store || !each || (unsigned)kind >= TACT_N_COUNT_KINDS)
		return tact_fail(diag, TACT_E_INVAL, "no store, or nothing to count");
	code = sqlite3_prepare_v2(store->db, count_sql[kind], -1, &stmt, NULL);
	while (code == SQLITE_OK && !result) {
		code = sqlite3_step(stmt);
		if (code != SQLITE_ROW)
			break;
		read_count(stmt, &count);
		result = each(context, &count);
		code = SQLITE_OK;
	}
	if (code != SQLITE_OK && code != SQLITE_DONE)
		result = store_fail(store->db, code, diag);
	sqlite3_finalize(stmt);
	return result;
}
