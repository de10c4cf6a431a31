#pragma once
#include <sqlite3.h>

// sqlite3_db_config takes a variable list of arguments, which Swift does not import.
static inline int bw_sqlite3_keep_query_plans(sqlite3 *database)
{
    return sqlite3_db_config(database, SQLITE_DBCONFIG_ENABLE_QPSG, 1, (int *)0);
}
