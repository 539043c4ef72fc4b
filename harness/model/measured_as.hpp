// SPDX-License-Identifier: Apache-2.0
// What decides what a case measures, as its suite states it: the command of a program, how the
// results of a benchmark are read, the arguments of a source's kernel. Not how closely it is
// measured or judged (processes, tolerances, time limits).
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace perfgate::model {

/// By key of the suite ("command", "env.MODE", "values.rate") its value in one canonical text. A
/// key that is absent has its default. Empty: not known, as in older documents and of the cases of
/// plugins, whose id says it all.
using MeasuredAs = std::map<std::string, std::string>;

/// The beginning of the keys that define a metric each. Where one side lacks such a key, the case
/// is the same and has one metric more or less.
inline constexpr std::string_view value_key = "values.";
/// Below it, which way is better of a metric that the suite defines itself.
std::string direction_key(std::string_view metric);
/// Likewise: stating it gives the case further metrics.
inline constexpr std::string_view work_key = "work";

/// The text, or of a long one its beginning and a fingerprint of all of it.
std::string shortened_value(const std::string& text);

/// A key that differs, with both values, or "not stated".
struct DifferingKey {
    std::string key;
    std::string was;
    std::string is;
    bool adds_metrics = false;     ///< only stated now; the case is the same
    bool removes_metrics = false;  ///< no longer stated, likewise
};

/// In the order of the keys.
std::vector<DifferingKey> differing_keys(const MeasuredAs& before, const MeasuredAs& now);

/// The keys that differ, but for metrics that only one side has, each with both values: "command
/// ./app 4 → ./app 5, env.MODE not stated → fast". Empty: none differs, or one side is not known.
std::string difference(const MeasuredAs& before, const MeasuredAs& now);

}  // namespace perfgate::model
