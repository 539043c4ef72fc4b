// SPDX-License-Identifier: Apache-2.0
// The workloads that a Python file declares with @perfgate.workload, read from its text: nothing of
// it is executed. Untrusted input.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kinds/python/tolerances.hpp"
#include "model/catalogue.hpp"

namespace perfgate::python {

/// The most workloads of a file.
inline constexpr std::size_t most_workloads = 10'000;

/// One decorated function.
struct DeclaredWorkload {
    model::WorkloadInfo info;  ///< parameters with their values, variants with their targets
    std::size_t line = 0;      ///< of the decorator, from 1
    /// Why the declaration is not known before the file has run: "the values of 'n' are no
    /// literals". Empty: it is known.
    std::string open;
    Tolerances tolerances;  ///< of its function, and of what is no workload's
};

/// A parameter with these values; nothing: they are not of one type.
std::optional<model::ParamInfo> parameter(const std::string& name,
                                          std::vector<model::ParamValue> values);

/// In the file's order. Values are literals: numbers, texts, True and False, lists and tuples of
/// them, with + - * // ** between integers. Throws util::InputError `file:line: …` for a text that
/// ends in the middle of a string or parenthesis, whose function lacks a parameter, or that has
/// too many workloads.
std::vector<DeclaredWorkload> declared_workloads(std::string_view text, const std::string& file);

}  // namespace perfgate::python
