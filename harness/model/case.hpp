// SPDX-License-Identifier: Apache-2.0
// A case: workload + variant + parameters; the unit that is measured, gated and reported.
#pragma once

#include <compare>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <variant>

namespace perfgate::model {

using ParamValue = std::variant<bool, std::int64_t, double, std::string>;
using Params = std::map<std::string, ParamValue>;

enum class Cache { cold, hot };

/// A place in a suite or in a kernel's source, for annotations. Line 0: unknown.
struct SourcePlace {
    std::string file;
    std::int64_t line = 0;

    auto operator<=>(const SourcePlace&) const = default;
};

struct CaseSpec {
    std::string workload;
    std::string variant;
    Params params;  ///< the parameters that the suite sets; the workload's defaults fill the rest
    Cache cache = Cache::cold;

    bool operator==(const CaseSpec&) const = default;
};

/// The variant of the one case of a benchmark whose cases are not known: its first run tells them.
inline constexpr const char* unknown_cases = "*";

/// `true`, `42`, `0.5`, `bf16`: the form used in case ids. Text that is not a plain word of
/// [A-Za-z0-9_-+.:/] is put in double quotes, so that two cases never share an id.
std::string to_text(const ParamValue& value);
std::string_view to_text(Cache cache);

/// `gemm/tiled[dtype=f32,k=1024,m=1024,n=1024]`, parameters sorted; `@hot` appended for a hot
/// cache.
std::string case_id(const CaseSpec& spec);

/// The id that a case had before it was renamed. `was` is a workload, a workload and a variant, or
/// a whole id (with '[' or '@'): what it leaves out is as in `id`.
std::string former_id(std::string_view id, std::string_view was);

/// The id without the parameters that `dropped`, called with "name=value", names.
std::string without_params(std::string_view id,
                           const std::function<bool(std::string_view param)>& dropped);

/// Whether the id of a case has all of the parameters, with these values.
bool has_params(std::string_view id, const Params& params);

// Cases that are not known before a program of theirs has run: one case stands for them, in suites
// and, where the program failed, in documents.
inline bool stands_for_cases(const CaseSpec& spec) {
    return spec.variant == unknown_cases;
}

/// Whether `spec` stands for the case with this id, among others: for the cases of its workload
/// with the parameters of one combination of the matrix.
inline bool stands_for(const CaseSpec& spec, std::string_view id) {
    return stands_for_cases(spec) && id.size() > spec.workload.size() &&
           id.starts_with(spec.workload) && id[spec.workload.size()] == '/' &&
           has_params(id, spec.params);
}

// Places in source files, relative to the folder in which a run works: only these are of use in a
// report that is read elsewhere.

/// The place with a file relative to the folder if it lies in it, else the place as it is. Both are
/// absolute and without ".."; symbolic links are not followed.
SourcePlace relative_to(const std::filesystem::path& folder, SourcePlace place);

/// Whether the place is known and its file lies in the folder that it is relative to.
bool lies_inside(const SourcePlace& place);

}  // namespace perfgate::model
