// SPDX-License-Identifier: Apache-2.0
// What a plugin's tables say, as values: copied field by field, checked, and safe to print.
#pragma once

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>

#include "model/catalogue.hpp"
#include "perfgate.h"

namespace perfgate::backend {

/// A struct of the ABI as in this build: fields missing in the plugin's older header are 0.
template <class T>
T known_part(const T* from) {
    T copy{};
    std::memcpy(&copy, from, std::min(from->size, sizeof(T)));
    return copy;
}

/// Valid UTF-8, whatever the plugin's bytes are.
std::string text_or_empty(const char* text);

/// Of workloads, variants, parameters and modules: [a-z][a-z0-9_]*, at most 64 characters.
bool is_name(const std::string& name);

/// Throws InputError, beginning with `where`, for malformed names, unknown types and defaults that
/// are not of the parameter's type.
model::ParamInfo describe(const pg_param& param, const std::string& where);
model::VariantInfo describe(const pg_variant& variant, const std::string& where);

/// Whether the variant has all functions that it needs to be measured.
bool is_complete(const pg_variant& variant);

/// The model's name; empty if it is not stated, or unknown because the plugin is newer.
std::string_view name_of(pg_arithmetic arithmetic);

}  // namespace perfgate::backend
