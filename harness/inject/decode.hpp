// SPDX-License-Identifier: Apache-2.0
// CUPTI's activity records as records of the stream.
#pragma once

#include <cupti.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "activity/writer.hpp"
#include "cupti/api.hpp"
#include "inject/launch_names.hpp"

namespace perfgate::inject {

/// Whether calls of this name are recorded: those that wait, allocate memory, take long or cannot
/// be captured, and with `submissions` those that submit work, which are numerous.
bool is_recorded(std::string_view call, bool submissions);

/// What could not become a record.
struct Losses {
    std::atomic<std::uint64_t> without_time{0}, reversed_time{0}, unread{0};
};

/// Any thread may decode; each buffer is decoded by one thread.
class Decoder {
  public:
    Decoder(const cupti::Api& api, activity::Writer& writer, LaunchNames& names, Losses& losses,
            bool submissions)
        : api_(api),
          writer_(writer),
          launch_names_(names),
          losses_(losses),
          submissions_(submissions) {}

    /// Adds all records of the buffer. Throws std::bad_alloc.
    void decode(std::uint8_t* buffer, std::size_t bytes, activity::Records& records);

  private:
    void add(const CUpti_Activity& record, activity::Records& records);
    void add_kernel(const CUpti_ActivityKernel10& record, activity::Records& records);
    void add_api_call(const CUpti_ActivityAPI& record, activity::Records& records);
    void add_marker(const CUpti_ActivityMarker2& record, activity::Records& records);
    template <class Record>
    bool has_times(const Record& record);
    activity::StringId text(const char* text);
    activity::StringId name_of(CUpti_CallbackDomain domain, CUpti_CallbackId id);

    const cupti::Api& api_;
    activity::Writer& writer_;
    LaunchNames& launch_names_;
    Losses& losses_;
    bool submissions_;
    /// Names of API calls by domain and callback id, and which are not recorded; 0: not looked up.
    std::array<std::array<std::atomic<activity::StringId>, 2048>, 2> names_{};
};

}  // namespace perfgate::inject
