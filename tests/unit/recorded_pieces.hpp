// SPDX-License-Identifier: Apache-2.0
// What tests of pieces measure in recorded programs.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kinds/command/pieces.hpp"
#include "recorded_program.hpp"

namespace perfgate::command::recorded_pieces {

inline const Piece step{Piece::Kind::range, "step", "", false, 0};

inline std::unique_ptr<Recorded> recorded_of(const std::vector<activity::Program>& processes) {
    std::vector<activity::Recording> recordings;
    for (const activity::Program& each : processes) recordings.push_back(each.recording());
    return std::make_unique<Recorded>(std::move(recordings));
}

inline std::vector<double> samples(const std::vector<activity::Program>& processes,
                                   const Piece& piece, const std::string& metric) {
    return values_of(*recorded_of(processes), piece).samples.at(metric);
}

/// A program of two steps, before which it holds 100 bytes of a device.
inline activity::Program two_steps() {
    activity::Program program;
    program.level("api")
        .allocation(10, 0x1000, 100)
        .range("step", {100, 200})
        .kernel("a", 110, {120, 130})
        .range("step", {300, 400})
        .kernel("a", 310, {320, 330});
    return program;
}

}  // namespace perfgate::command::recorded_pieces
