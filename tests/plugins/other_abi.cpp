// SPDX-License-Identifier: Apache-2.0
#include "perfgate.h"

extern "C" PG_EXPORT const pg_plugin* pg_plugin_entry(void);
extern "C" PG_EXPORT const pg_plugin* pg_plugin_entry(void) {
    static const pg_workload* const workloads[] = {nullptr};
    static const pg_plugin plugin = {sizeof(pg_plugin), PG_ABI_MAJOR + 1, 0,
                                     "other",           nullptr,          workloads};
    return &plugin;
}
