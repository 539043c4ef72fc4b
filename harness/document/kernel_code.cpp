// SPDX-License-Identifier: Apache-2.0
#include "document/kernel_code.hpp"

#include <utility>

namespace perfgate::document {
namespace {

constexpr Schema code_schema{"perfgate.code", 1, 1};

}  // namespace

PERFGATE_FIELDS(model::SourceLine, named(required, "file", place.file),
                named(required, "line", place.line), required(text))
PERFGATE_FIELDS(model::KeptCode, named(required, "cases", head),
                optional(base, source, base_source))

std::string write_code(const model::KeptCode& kept) {
    return write_document(code_schema, kept);
}

model::KeptCode parse_code(std::string text, std::string_view source) {
    JsonDocument document(std::move(text), std::string(source));
    model::KeptCode kept;
    read_document(document, code_schema, kept);
    return kept;
}

}  // namespace perfgate::document
