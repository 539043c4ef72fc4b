// SPDX-License-Identifier: Apache-2.0
// A case, set up, as a backend launches it: a plugin's, or a source's kernel. Functions throw
// util::Error.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "backend/plugin/output.hpp"
#include "measure/backend.hpp"
#include "model/run.hpp"
#include "perfgate.h"

namespace perfgate::backend {

class Instance {
  public:
    Instance() = default;
    virtual ~Instance() = default;
    Instance& operator=(Instance&&) = delete;  // nor copied

    virtual void fill(std::uint64_t seed) = 0;
    virtual void launch(void* stream) = 0;
    virtual void reset(void* stream) = 0;  ///< no-op if the launch changes no input
    virtual bool needs_reset() const = 0;
    virtual pg_submission submission() const = 0;
    /// Checks the last launch; the caller fills in `seed`.
    virtual model::Verification verify() = 0;
    /// What a launch writes, as it lies now: the next fill or launch may move it. Callable after a
    /// launch. Empty: the case names none.
    virtual std::vector<Output> outputs() = 0;
    /// The work of a launch, if the instance states it. Callable after a fill.
    virtual model::Work work() { return {}; }
    /// How long preparing took so far, and what it chose; nothing if there is nothing to prepare.
    virtual std::optional<measure::Prepared> prepared() { return std::nullopt; }
};

}  // namespace perfgate::backend
