// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/pace.hpp"

#include <algorithm>
#include <thread>

namespace perfgate::backend::cuda {
namespace {

constexpr std::chrono::microseconds shortest_rest{500};
// Work that is longer than this reaches the power limit on its own, with or without a rest.
constexpr std::chrono::milliseconds longest_rest{200};

}  // namespace

void Pace::rest() {
    owed_ += Clock::now() - since_;
    if (owed_ >= shortest_rest) {
        std::this_thread::sleep_for(std::min<Clock::duration>(owed_, longest_rest));
        owed_ = {};
    }
    since_ = Clock::now();
}

}  // namespace perfgate::backend::cuda
