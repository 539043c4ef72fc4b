// SPDX-License-Identifier: Apache-2.0
#include "model/board.hpp"

namespace perfgate::model {

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
