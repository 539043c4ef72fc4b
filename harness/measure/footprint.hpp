// SPDX-License-Identifier: Apache-2.0
// What a case takes besides time: API calls in a launch, device memory.
#pragma once

#include <string>

#include "measure/backend.hpp"
#include "measure/case_settings.hpp"
#include "model/run.hpp"

namespace perfgate::measure {

/// Adds the metric api_calls, or why there is none, if the case asks for it.
void add_api_calls(Case& opened, const std::string& board, const CaseSettings& settings,
                   model::CaseResult& result);

/// Adds memory_peak and leak, or why there is none of them, if the case asks for one. It sets the
/// case up itself: no other may be set up.
void add_memory(Backend& backend, const std::string& board, const CaseSettings& settings,
                model::CaseResult& result);

}  // namespace perfgate::measure
