// SPDX-License-Identifier: Apache-2.0
#include "model/run.hpp"

#include <utility>

#include "util/text.hpp"

namespace perfgate::model {

void set_error(CaseResult& result, std::string reason, std::string log) {
    result.status = CaseStatus::error;
    result.reason = std::move(reason);
    result.log = std::move(log);
    result.kernels.clear();
    result.memory_operations.reset();
    result.metrics.clear();
    result.readings.clear();
}

std::string_view to_text(CaseStatus status) {
    return util::word_of<CaseStatus::skipped>(
        status, {"measured", "incorrect", "error", "invalid", "skipped"});
}

namespace {

constexpr std::string_view masked_word = "--------";

/// Calls `visit` with the position of each word that differs; false if there is no such pairing.
template <class Visit>
bool for_each_difference(std::string_view left, std::string_view right, const Visit& visit) {
    constexpr std::size_t width = masked_word.size();
    if (left.empty() || left.size() != right.size() || left.size() % width != 0) return false;
    for (std::size_t at = 0; at < left.size(); at += width) {
        const std::string_view here = left.substr(at, width);
        const std::string_view there = right.substr(at, width);
        if (here != there && here != masked_word) visit(at, there);
    }
    return true;
}

}  // namespace

void mask_arguments(const Kernel& other, Kernel& kernel) {
    std::string masked = kernel.argument_words;
    if (for_each_difference(kernel.argument_words, other.argument_words,
                            [&](std::size_t at, std::string_view) {
                                masked.replace(at, masked_word.size(), masked_word);
                            })) {
        kernel.argument_words = std::move(masked);
    }
}

bool same_arguments(const Kernel& left, const Kernel& right) {
    if (left.arguments == right.arguments) return true;
    bool same = true;
    return for_each_difference(
               left.argument_words, right.argument_words,
               [&](std::size_t, std::string_view there) { same = same && there == masked_word; }) &&
           same;
}

std::string board_of(const CaseResult& result) {
    for (const auto& [name, series] : result.metrics) {
        if (!series.batches.empty()) return series.batches.front().device;
    }
    return {};
}

std::string board_of(const Run& run, const CaseResult& result) {
    std::string board = board_of(result);
    return board.empty() ? run.environment.device.board : board;
}

}  // namespace perfgate::model
