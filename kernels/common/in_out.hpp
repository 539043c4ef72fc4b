// SPDX-License-Identifier: Apache-2.0
// The host variant of a workload with one input and one output of the same size.
#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

#include "perfgate.hpp"

namespace common {

// kFill(problem, seed, in), kRun(problem, in, out) and kCheck(problem, seed, out) are functions.
template <class Problem, auto kFill, auto kRun, auto kCheck>
class HostInOut : public perfgate::sdk::Instance {
  public:
    explicit HostInOut(const Problem& problem)
        : problem_(problem), in_(problem.bytes()), out_(problem.bytes()) {}

    void fill(std::uint64_t seed) override {
        seed_ = seed;
        kFill(problem_, seed, in_.data());
        std::memset(out_.data(), 0xff, out_.size());  // NaN
    }

    void launch(void*) override { kRun(problem_, in_.data(), out_.data()); }

    perfgate::sdk::Verification verify() override {
        const auto report = kCheck(problem_, seed_, out_.data());
        return {report.passed, report.detail};
    }

    std::vector<perfgate::sdk::Output> outputs() override { return {{"out", out_}}; }

  private:
    Problem problem_;
    std::vector<unsigned char> in_, out_;  // operator new aligns them for any element
    std::uint64_t seed_ = 0;
};

}  // namespace common
