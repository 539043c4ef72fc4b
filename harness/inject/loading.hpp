// SPDX-License-Identifier: Apache-2.0
// While a thread loads CUPTI: its subscription may initialise the driver, which then calls
// InitializeInjection from within. That call must not wait for CUPTI to be loaded.
#pragma once

#include <utility>

namespace perfgate::inject {

class Loading {
  public:
    Loading() { underway = true; }
    ~Loading() { underway = false; }
    Loading(const Loading&) = delete;
    Loading& operator=(const Loading&) = delete;

    /// Whether this thread loads CUPTI, so that recording is to start afterwards.
    static bool postpones_start() {
        postponed = postponed || underway;
        return underway;
    }
    /// Whether a start was postponed; asked once.
    static bool postponed_start() { return std::exchange(postponed, false); }

  private:
    static inline thread_local bool underway = false;
    static inline thread_local bool postponed = false;
};

}  // namespace perfgate::inject
