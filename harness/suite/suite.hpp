// SPDX-License-Identifier: Apache-2.0
// YAML to Suite: every case that a suite file lists, checked against the catalogues of workloads
// and metrics. The format is described in suites/README.md and, for editors, in
// configs/suite.schema.json.
//
// A Suite does not depend on a machine: the Plan (plan.hpp) decides which override applies, what is
// filtered out and what a device cannot run.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "model/catalogue.hpp"
#include "model/plan.hpp"
#include "suite/entry.hpp"
#include "suite/settings.hpp"

namespace perfgate::suite {

/// The most cases of one suite; also the most combinations of one matrix.
inline constexpr std::size_t most_cases = 10'000;

/// Cases refer to overrides, so a Suite moves but is not copied.
struct Suite {
    Suite() = default;
    Suite(Suite&&) = default;
    Suite& operator=(Suite&&) = default;

    std::string name;
    std::string file;
    std::string description;
    std::vector<std::string> plugins;  ///< files, as they are written
    Settings defaults;
    std::vector<Override> overrides;
    std::vector<Entry> entries;
    std::vector<SuiteCase> cases;  ///< in the file's order, without duplicates
    std::size_t groups = 0;        ///< how many the cases have
    std::vector<SuiteRelation> relations;
    /// Those that set_discovered_cases (plan.hpp) resolves.
    std::vector<OpenRelation> open_relations;
    std::vector<UnreadRelation> unread_relations;  ///< of parse_known_part
    model::WorkloadCatalogue programs;             ///< its programs as workloads
    /// The entry (its index) of each workload whose cases are discovered, by name.
    std::map<std::string, std::size_t> discovering;
};

/// `file` names the text in messages and documents. Throws util::InputError with one line
/// `file:line:column: message; expected …; did you mean 'x'?` for each problem, sorted by place.
Suite parse_suite(std::string_view yaml, std::string_view file,
                  const model::WorkloadCatalogue& workloads);

/// For reading a suite without the plugins that it was written for. An entry of a workload, variant
/// or parameter that `workloads` lacks has the cases that it would have with a plugin that has them
/// (SuiteCase::inferred); a relation with a problem is unread. Their problems are added to `notes`.
/// Other problems throw as above.
Suite parse_known_part(std::string_view yaml, std::string_view file,
                       const model::WorkloadCatalogue& workloads, std::vector<std::string>& notes);

/// The name of the suite in a file; the plugins that it was written for are not needed.
std::string name_in(const std::string& file);

/// Reads and parses every file. The problems of all files, including two suites of the same name,
/// are reported in one InputError.
std::vector<Suite> load_suites(const std::vector<std::string>& files,
                               const model::WorkloadCatalogue& workloads);

/// The settings of the case, given which overrides apply.
template <typename DeviceMatches>
std::vector<const Settings*> layers_of(const Suite& suite, const SuiteCase& suite_case,
                                       const DeviceMatches& device_matches) {
    std::vector<const Settings*> layers{&suite.entries[suite_case.entry].settings};
    // Defaults are for what workers measure.
    if (!suite_case.group) layers.insert(layers.begin(), &suite.defaults);
    for (const Override* over : suite_case.overrides) {
        if (over->device.empty() || device_matches(over->device)) layers.push_back(&over->settings);
    }
    return layers;
}

/// Those that hold where no device override applies.
inline std::vector<const Settings*> layers_without_device(const Suite& suite,
                                                          const SuiteCase& suite_case) {
    return layers_of(suite, suite_case, [](const std::string&) { return false; });
}

/// The settings of the workloads whose cases are discovered, by name; valid as long as the suite.
std::map<std::string, const Settings*> discovering_of(const Suite& suite);

}  // namespace perfgate::suite
