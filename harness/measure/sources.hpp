// SPDX-License-Identifier: Apache-2.0
// The metrics of cases that come neither from their times nor from records or counters of their
// kernels: the table in sources.cpp has each source of them, and when the backend reads it.
#pragma once

#include <string>

#include "measure/backend.hpp"
#include "measure/case_settings.hpp"
#include "model/run.hpp"

namespace perfgate::measure {

enum class When {
    each_process,   ///< after the times of each process: a batch of one value
    first_process,  ///< once, after the times of the first process
    case_closed,    ///< once, in the first process, after the case has been freed
};

/// Takes the readings of this time that the case asks for, and adds their metrics, or why there are
/// none. With `times_only`, no reason is added: the process has no batch. `opened` is null once the
/// case is closed.
void add_readings(When when, Backend& backend, Case* opened, const std::string& board,
                  const CaseSettings& settings, model::CaseResult& result);

}  // namespace perfgate::measure
