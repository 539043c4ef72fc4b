// SPDX-License-Identifier: Apache-2.0
// The machine code of cases as a document, beside the Run that they belong to.
#pragma once

#include <string>
#include <string_view>

#include "document/archive.hpp"
#include "model/kernel_code.hpp"

namespace perfgate::document {

/// Of one instruction: those of all instructions can be added.
inline constexpr std::int64_t most_samples = std::int64_t{1} << 40, most_executions = most_samples;

template <class Archive>
void describe(Archive& archive, Described<Archive, model::Instruction>& of) {
    PERFGATE_GROUPS(named(required, "at", address), required(text),
                    named(optional, "file", place.file), named(optional, "line", place.line),
                    named(optional, "samples", samples.reasons),
                    named(optional, "of_half", samples.of_half), optional(executed));
    archive.check([&](JsonValue value) {
        std::int64_t left = most_samples;
        for (const auto& [reason, count] : of.samples.reasons) {
            if (count < 0 || count > left) value.fail("a number of samples is impossible");
            left -= count;
        }
        const std::int64_t of_half = of.samples.of_half;
        if (of_half < 0 || of_half > most_samples - left) {
            value.fail("half of the launches has more samples than all");
        }
        const std::int64_t executed = of.executed.value_or(0);
        if (executed < 0 || executed > most_executions) {
            value.fail("a number of executions is impossible");
        }
    });
}
template <class Archive>
void describe(Archive& archive, Described<Archive, model::KernelCode>& of) {
    PERFGATE_GROUPS(
        required(name, code), named(required, "instructions", listing.instructions, lines),
        named(optional, "labels", listing.labels), with(optional, launches, not_negative));
    archive.check([&](JsonValue value) {
        for (const auto& [label, at] : of.listing.labels) {
            if (at <= of.listing.instructions.size()) continue;
            value.fail("a label is behind the last instruction");
        }
    });
}
PERFGATE_FIELDS(model::CaseCode, required(suite), named(required, "case", id),
                optional(kernels, problem, sampling_problem, counting_problem),
                with(optional, seconds, not_negative))

/// Schema "perfgate.code", version 1: {"cases":[{"suite":…,"case":…,"kernels":[{"name":…,"code":…,
/// "instructions":[{"at":0,"text":"LDC R1, c[0x0][0x28]","file":"blend.cu","line":13,
/// "samples":{"long_scoreboard":12},"of_half":7,"executed":4096},…],"labels":{".L_x_0":9},"launches":40}]}],
/// "base":[…],"source":[{"file":"blend.cu","line":13,"text":"  return a + b;"},…]}
std::string write_code(const model::KeptCode& kept);

/// Throws util::InputError naming `source` and what is wrong.
model::KeptCode parse_code(std::string text, std::string_view source);

}  // namespace perfgate::document
