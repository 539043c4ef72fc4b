// SPDX-License-Identifier: Apache-2.0
#include "command/recorded.hpp"

#include <utility>

namespace perfgate::command {

Recorded::Recorded(std::vector<activity::Recording> recordings)
    : recordings_(std::move(recordings)) {
    for (const activity::Recording& recording : recordings_) timelines_.emplace_back(recording);
}

}  // namespace perfgate::command
