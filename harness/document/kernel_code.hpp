// SPDX-License-Identifier: Apache-2.0
// The machine code of cases as a document, beside the Run that they belong to.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "document/archive.hpp"
#include "model/kernel_code.hpp"

namespace perfgate::document {

template <class Archive>
void describe(Archive& archive, Described<Archive, model::Instruction>& instruction) {
    archive.required("at", instruction.address);
    archive.required("text", instruction.text);
    archive.optional("file", instruction.place.file);
    archive.optional("line", instruction.place.line);
}
template <class Archive>
void describe(Archive& archive, Described<Archive, model::KernelCode>& kernel) {
    archive.required("name", kernel.name);
    archive.required("code", kernel.code);
    archive.required("instructions", kernel.listing.instructions, lines);
    archive.optional("labels", kernel.listing.labels);
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
}

/// Schema "perfgate.code", version 1: {"cases":[{"suite":…,"case":…,"kernels":[{"name":…,"code":…,
/// "instructions":[{"at":0,"text":"LDC R1,
/// c[0x0][0x28]","file":"blend.cu","line":13},…],"labels":{".L_x_0":9}}]}]}
std::string write_code(const std::vector<model::CaseCode>& cases);

/// Throws util::InputError naming `source` and what is wrong.
std::vector<model::CaseCode> parse_code(std::string text, std::string_view source);

}  // namespace perfgate::document
