// SPDX-License-Identifier: Apache-2.0
// What crosses the C ABI, as values: what a plugin's tables say, copied field by field, checked and
// safe to print, and a case's parameters in the form that plugins take.
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "model/case.hpp"
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

/// Workloads, variants, parameters and modules have such names: [a-z][a-z0-9_]{0,63}.
bool is_name(const std::string& name);

/// Throws InputError, beginning with `where`, for malformed names, unknown types and defaults that
/// are not of the parameter's type.
model::ParamInfo describe(const pg_param& param, const std::string& where);
model::VariantInfo describe(const pg_variant& variant, const std::string& where);

/// Whether the variant has all functions that it needs to be measured.
bool is_complete(const pg_variant& variant);

/// The model's name; empty if it is not stated, or unknown because the plugin is newer.
std::string_view name_of(pg_arithmetic arithmetic);

/// Owns the storage behind a pg_values: every parameter of the workload, sorted by name, those that
/// `params` leaves out at their defaults. Throws util::InputError for an unknown parameter, a
/// value of the wrong type or out of bounds, and a required one that is absent.
class PluginValues {
  public:
    PluginValues(const model::WorkloadInfo& workload, const model::Params& params);
    PluginValues& operator=(PluginValues&&) = delete;  // nor copied

    const pg_values* get() const { return &c_; }

  private:
    std::vector<std::unique_ptr<std::string>> texts_;
    std::vector<pg_value> values_;
    pg_values c_{};
};

}  // namespace perfgate::backend
