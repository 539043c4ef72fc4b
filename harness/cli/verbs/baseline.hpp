// SPDX-License-Identifier: Apache-2.0
// The verbs of `perfgate baseline`, one file each.
#pragma once

#include "cli/verbs/verb.hpp"

namespace perfgate::cli {

void add_baseline_refresh(CLI::App& baseline, Invocation& invocation);
void add_baseline_accept(CLI::App& baseline, Invocation& invocation);
void add_baseline_show(CLI::App& baseline, Invocation& invocation);
void add_baseline_diff(CLI::App& baseline, Invocation& invocation);
void add_baseline_log(CLI::App& baseline, Invocation& invocation);
void add_baseline_verify(CLI::App& baseline, Invocation& invocation);
void add_baseline_prune(CLI::App& baseline, Invocation& invocation);

}  // namespace perfgate::cli
