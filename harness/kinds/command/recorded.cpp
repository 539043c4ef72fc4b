// SPDX-License-Identifier: Apache-2.0
#include "kinds/command/recorded.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "util/text.hpp"

namespace perfgate::command {

Recorded::Recorded(std::vector<activity::Recording> recordings, model::CaptureRange capture)
    : recordings_(std::move(recordings)), capture_(std::move(capture)) {
    for (const activity::Recording& recording : recordings_) {
        activity::Timeline timeline(recording);
        activity::CapturedPart part = activity::captured_part(timeline, capture_);
        if (!part.launched(timeline).empty()) ++working_;
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

std::size_t Recorded::counted() const {
    return static_cast<std::size_t>(std::ranges::count_if(
        processes_, [](const auto& process) { return process.part.missing.empty(); }));
}

std::vector<std::string> Recorded::notes() const {
    std::vector<std::string> notes;
    for (const RecordedProcess& process : processes_) {
        const std::string& note = process.part.note;
        if (!note.empty() && std::ranges::find(notes, note) == notes.end()) {
            notes.push_back(note);
        }
    }
    const std::size_t left_out = processes_.size() - counted();
    if (left_out != 0 && counted() != 0) {
        notes.push_back(fmt::format("{} of {} left out: nothing is{}", left_out,
                                    util::counted(processes_.size(), "process"), where()));
    }
    return notes;
}

std::string Recorded::where() const {
    return capture_.is_stated()
               ? fmt::format(" in the capture range ({})", model::in_words(capture_))
               : "";
}

}  // namespace perfgate::command
