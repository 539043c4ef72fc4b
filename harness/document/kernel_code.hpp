// SPDX-License-Identifier: Apache-2.0
// The machine code of cases as a document, beside the Run that they belong to.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "document/archive.hpp"
#include "model/kernel_code.hpp"

namespace perfgate::document {

/// Of one instruction: those of all instructions can be added.
inline constexpr std::int64_t most_samples = std::int64_t{1} << 40, most_executions = most_samples;

template <class Archive>
void describe(Archive& archive, Described<Archive, model::Instruction>& instruction) {
    archive.required("at", instruction.address);
    archive.required("text", instruction.text);
    archive.optional("file", instruction.place.file);
    archive.optional("line", instruction.place.line);
    archive.optional("samples", instruction.samples.reasons);
    archive.optional("of_half", instruction.samples.of_half);
    archive.optional("executed", instruction.executed);
    archive.check([&](JsonValue value) {
        std::int64_t left = most_samples;
        for (const auto& [reason, count] : instruction.samples.reasons) {
            if (count < 0 || count > left) value.fail("a number of samples is impossible");
            left -= count;
        }
        const std::int64_t of_half = instruction.samples.of_half;
        if (of_half < 0 || of_half > most_samples - left) {
            value.fail("half of the launches has more samples than all");
        }
        const std::int64_t executed = instruction.executed.value_or(0);
        if (executed < 0 || executed > most_executions) {
            value.fail("a number of executions is impossible");
        }
    });
}
template <class Archive>
void describe(Archive& archive, Described<Archive, model::KernelCode>& kernel) {
    archive.required("name", kernel.name);
    archive.required("code", kernel.code);
    archive.required("instructions", kernel.listing.instructions, lines);
    archive.optional("labels", kernel.listing.labels);
    archive.optional("launches", kernel.launches, not_negative);
    archive.check([&](JsonValue value) {
        for (const auto& [label, at] : kernel.listing.labels) {
            if (at <= kernel.listing.instructions.size()) continue;
            value.fail("a label is behind the last instruction");
        }
    });
}
template <class Archive>
void describe(Archive& archive, Described<Archive, model::CaseCode>& code) {
    archive.required("suite", code.suite);
    archive.required("case", code.id);
    archive.optional("kernels", code.kernels);
    archive.optional("problem", code.problem);
    archive.optional("sampling_problem", code.sampling_problem);
    archive.optional("counting_problem", code.counting_problem);
    archive.optional("seconds", code.seconds, not_negative);
}

/// Schema "perfgate.code", version 1: {"cases":[{"suite":…,"case":…,"kernels":[{"name":…,"code":…,
/// "instructions":[{"at":0,"text":"LDC R1, c[0x0][0x28]","file":"blend.cu","line":13,
/// "samples":{"long_scoreboard":12},"of_half":7,"executed":4096},…],"labels":{".L_x_0":9},"launches":40}]}],
/// "base":[…]}
std::string write_code(const model::KeptCode& kept);

/// Throws util::InputError naming `source` and what is wrong.
model::KeptCode parse_code(std::string text, std::string_view source);

}  // namespace perfgate::document
