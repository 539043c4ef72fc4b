// SPDX-License-Identifier: Apache-2.0
// What the keys of a suite say about a case, whatever its kind.
#include "kinds/benchmark/benchmark.hpp"
#include "suite/keys.hpp"

namespace perfgate::suite {

namespace {

/// Nothing: its processes are perfgate's own.
std::optional<Program> program_of(const model::Subject& subject) {
    static const command::Piece whole;
    if (const auto* recorded = dynamic_cast<const command::Program*>(&subject)) {
        return Program{recorded->command(), recorded->piece(), nullptr};
    }
    if (const auto* measured = dynamic_cast<const benchmark::Benchmark*>(&subject)) {
        return Program{measured->command(), whole, &measured->layout()};
    }
    return std::nullopt;
}

}  // namespace

model::MeasuredAs measured_as(const model::Subject& subject) {
    if (const auto* kernel = subject.kernel()) return measured_as(*kernel);
    const auto program = program_of(subject);
    return program ? measured_as(*program) : model::MeasuredAs{};
}

std::vector<WeakerKey> weaker_keys(const model::Subject& before, const model::Subject& after) {
    if (before.kernel() != nullptr && after.kernel() != nullptr) {
        return weaker_keys(*before.kernel(), *after.kernel());
    }
    const auto was = program_of(before);
    const auto is = program_of(after);
    return was && is ? weaker_keys(*was, *is) : std::vector<WeakerKey>{};
}

}  // namespace perfgate::suite
