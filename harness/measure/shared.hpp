// SPDX-License-Identifier: Apache-2.0
// What the chains of a run's devices share.
#pragma once

#include <atomic>
#include <cstddef>
#include <mutex>
#include <string_view>

#include "measure/item.hpp"
#include "measure/journal.hpp"
#include "model/case.hpp"

namespace perfgate::measure {

/// Thread-safe.
class Shared {
  public:
    Shared(const Capabilities& given_capabilities, const MeasureOptions& given_options,
           Journal& given_journal)
        : capabilities(given_capabilities), options(given_options), journal(given_journal) {}

    void tell(const Item& item, std::string_view phase) {
        if (!options.progress) return;
        const std::string id = model::case_id(item.planned->spec);
        const std::lock_guard lock(progress_);
        options.progress({*item.suite, id, phase, done, total});
    }

    const Capabilities& capabilities;
    const MeasureOptions& options;
    Journal& journal;
    std::atomic<bool> interrupted = false;
    std::atomic<std::size_t> done = 0, total = 0;

  private:
    std::mutex progress_;
};

}  // namespace perfgate::measure
