// SPDX-License-Identifier: Apache-2.0
#include "command/recorded.hpp"

#include <fmt/format.h>

#include <utility>

namespace perfgate::command {

Recorded::Recorded(std::vector<activity::Recording> recordings, model::CaptureRange capture)
    : recordings_(std::move(recordings)), capture_(std::move(capture)) {
    for (const activity::Recording& recording : recordings_) {
        activity::Timeline timeline(recording);
        activity::CapturedPart part = activity::captured_part(timeline, capture_);
        processes_.push_back({std::move(timeline), std::move(part)});
    }
}

std::string Recorded::missing() const {
    std::string first;
    for (const RecordedProcess& process : processes_) {
        if (process.part.missing.empty()) return {};
        if (first.empty()) first = process.part.missing;
    }
    return first;
}

std::string Recorded::where() const {
    return capture_.is_stated()
               ? fmt::format(" in the capture range ({})", model::in_words(capture_))
               : "";
}

}  // namespace perfgate::command
