// SPDX-License-Identifier: Apache-2.0
#include "document/kernel_code.hpp"

#include <utility>

namespace perfgate::document {
namespace {

constexpr Schema code_schema{"perfgate.code", 1, 1};

struct Cases {
    std::vector<model::CaseCode> cases;
};

template <class Archive>
void describe(Archive& archive, Described<Archive, Cases>& all) {
    archive.required("cases", all.cases);
}

}  // namespace

std::string write_code(const std::vector<model::CaseCode>& cases) {
    return write_document(code_schema, Cases{cases});
}

std::vector<model::CaseCode> parse_code(std::string text, std::string_view source) {
    JsonDocument document(std::move(text), std::string(source));
    Cases all;
    read_document(document, code_schema, all);
    return std::move(all.cases);
}

}  // namespace perfgate::document
