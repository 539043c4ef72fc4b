// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/pace.hpp"

#include <thread>

namespace perfgate::backend::cuda {
namespace {

constexpr std::chrono::microseconds kShortestRest{500};

}  // namespace

void Pace::rest() {
    owed_ += Clock::now() - since_;
    if (owed_ >= kShortestRest) {
        std::this_thread::sleep_for(owed_);
        owed_ = {};
    }
    since_ = Clock::now();
}

}  // namespace perfgate::backend::cuda
