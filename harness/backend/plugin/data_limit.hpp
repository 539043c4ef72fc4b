// SPDX-License-Identifier: Apache-2.0
// The bound on what a plugin allocates while it only answers queries.
#pragma once

#include <sys/resource.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <string>

namespace perfgate::backend {

/// Bounds what a plugin may allocate while it only answers queries, so that an endless leak ends in
/// a failed allocation and does not exhaust the machine's memory. Measured functions have no such
/// bound. Limits the data segment of the process; address space that drivers reserve does not
/// count.
class DataLimit {
  public:
    DataLimit() {
        std::ifstream status("/proc/self/status");
        std::string word;
        std::uint64_t data_kib = 0;
        while (status >> word && word != "VmData:") {
        }
        if (!(status >> data_kib) || getrlimit(RLIMIT_DATA, &before_) != 0) return;
        const rlimit bounded{std::min<rlim_t>(data_kib * 1024 + more_bytes, before_.rlim_cur),
                             before_.rlim_max};
        limited_ = setrlimit(RLIMIT_DATA, &bounded) == 0;
    }
    ~DataLimit() {
        if (limited_) setrlimit(RLIMIT_DATA, &before_);
    }
    DataLimit(const DataLimit&) = delete;
    DataLimit& operator=(const DataLimit&) = delete;

  private:
    static constexpr rlim_t more_bytes = rlim_t{4} << 30;
    rlimit before_{};
    bool limited_ = false;
};

}  // namespace perfgate::backend
