// SPDX-License-Identifier: Apache-2.0
// Where the time of a kernel went, by samples of its program counter before and after a change.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/kernel_code.hpp"
#include "sass/difference.hpp"

namespace perfgate::sass {

/// All samples of a kernel. Their number in a launch is a measure of its time in cycles.
model::Samples samples_of(const model::KernelCode& kernel);

/// What a warp that was sampled so does: "waiting for memory".
std::string reason_words(std::string_view reason);

struct WhereTimeWent {
    double added = 0;          ///< samples of a launch, of the whole kernel: after minus before
    std::string sentence;      ///< never empty
    model::SourcePlace place;  ///< line 0: no line is shown
};

/// `lines` are those of the comparison. A line is named if a launch has at least 2 % more samples
/// than the base's and the line causes (samples_by_cause) at least half of these, and both its own
/// increase and the kernel's are at least four standard deviations above 0 (by chance once in
/// 30,000 lines). Else the shortest range of at most 20 lines that cause three quarters of them is,
/// likewise; `place` is then the line of it with the most. The deviation is that of counts, times
/// how much more than that the halves of the launches differ. Nothing if a side has no samples.
std::optional<WhereTimeWent> where_time_went(const model::KernelCode& before,
                                             const model::KernelCode& after,
                                             const std::vector<Line>& lines);

/// The same of one side: a line is named if it causes at least a tenth of the samples, and by four
/// standard deviations more than any other.
std::optional<WhereTimeWent> where_time_goes(const model::KernelCode& kernel);

/// A source line with its share of the samples that are at lines, in % of its side's.
struct HotLine {
    const Line* line = nullptr;
    double before = 0, after = 0;
};

/// All lines, those with the largest share on either side first; then as they are. They are the
/// difference's, which outlives them.
std::vector<HotLine> hot_lines(const Difference& difference);

}  // namespace perfgate::sass
