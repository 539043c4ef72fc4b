// SPDX-License-Identifier: Apache-2.0
// Reads which of a program's activity is measured and how that is gated: the keys `measure`,
// `tolerances`, `expect` and `health` of a command entry, or of a benchmark entry.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kinds/benchmark/formats/layout.hpp"
#include "kinds/command/command.hpp"
#include "suite/relations.hpp"
#include "suite/settings.hpp"

namespace perfgate::suite {

/// The label of the case for the whole program, in addition to those of `measure`.
inline constexpr std::string_view program_label = "program";

/// A piece that is measured: the cases of one label.
struct Label {
    std::string name;
    command::Piece piece;
    Settings settings;  ///< all metrics of such a piece, and the tolerances of the label
    Position at;
    /// A relation of `expect` or `health` uses it, or it is only reported: it needs no tolerance.
    bool expected = false;
};

struct ReadLabels {
    std::vector<Label> labels;
    const YamlNode* expect = nullptr;
    std::vector<StatedRelation> health;
};

/// Whether the key of `tolerances` is of a label, such as "step.gpu_time". Others are metrics that
/// a benchmark reports.
inline bool is_of_label(std::string_view key) {
    return key.find('.') != std::string_view::npos;
}

/// The keys of a program that are about labels, and those of a benchmark about its results.
const std::vector<Compared<Program>>& label_keys();
const std::vector<Compared<Program>>& benchmark_keys();

/// `fields` of the entry of the command of this name, which begins at `at`.
ReadLabels read_labels(const Fields& fields, const std::string& command, bool is_benchmark,
                       Position at, Problems& problems);

// Reads how the results of a benchmark are read and gated: the keys `format`, `rows`, `case`,
// `axes`, `values` and `tolerances` of a benchmark entry.

/// `fields` of the entry, which begins at `at`. Fills in `reading` and the command's out_extension,
/// and returns the label of all of its cases, which are not known yet.
Label read_benchmark(const Fields& fields, command::Command& command, benchmark::Layout& reading,
                     Position at, Problems& problems);

// The health set: what an NVTX range that is repeated, such as a training step, should keep to
// whatever it computes. Each gate is an expectation with a reason; the rows are data (health.cpp).

/// The expectations of `range` ("train/step"). `limits` maps names of gates to other limits or to
/// `none`; null: there are none.
std::vector<StatedRelation> health_of(std::string_view range, const YamlNode* limits, Position at,
                                      Problems& problems);

}  // namespace perfgate::suite
