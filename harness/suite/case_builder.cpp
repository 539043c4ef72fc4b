// SPDX-License-Identifier: Apache-2.0
#include "suite/case_builder.hpp"

#include <fmt/format.h>

#include <memory>
#include <utility>

#include "kinds/benchmark/benchmark.hpp"
#include "kinds/plugin/plugin.hpp"
#include "suite/placed_text.hpp"
#include "util/text.hpp"

namespace perfgate::suite {

void CaseBuilder::add(const ReadEntry& read, std::size_t entry_index) {
    const Entry& entry = suite_.entries[entry_index];
    const Matrix& matrix = read.matrix;
    std::size_t groups = 0;
    for (const model::VariantInfo* variant : read.variants) {
        groups += caches_of(read, entry, *variant).size();
    }
    const std::size_t product = product_size(matrix, most_cases);
    count(matrix, groups, entry.at);

    const std::size_t first = suite_.cases.size();
    std::vector<bool> used_excludes(matrix.exclude.size(), false);
    const auto plugin = std::make_shared<const plugin::Plugin>();
    for (const model::VariantInfo* variant : read.variants) {
        for (const model::Cache cache : caches_of(read, entry, *variant)) {
            work_.spend((product + 1) * (matrix.include.size() + matrix.exclude.size()), entry.at);
            for (Combination& combination : expand(matrix, variant->name, cache, used_excludes)) {
                const Position at =
                    combination.made_by != nullptr ? combination.made_by->at : entry.at;
                model::Params params = std::move(combination.params);
                params.insert(read.params.begin(), read.params.end());
                add_case({read.workload->name, variant->name, std::move(params), cache}, at,
                         *read.workload, *variant, entry_index);
                suite_.cases.back().subject = plugin;
            }
        }
    }
    check_excludes(matrix, used_excludes, first, entry.at);
}

void CaseBuilder::add(const ReadCommand& read, const Matrix& matrix, std::size_t first_entry) {
    const std::size_t product = product_size(matrix, most_cases);
    count(matrix, read.labels.labels.size(), read.at);
    work_.spend((product + 1) * (matrix.include.size() + matrix.exclude.size()), read.at);
    std::vector<bool> used_excludes(matrix.exclude.size(), false);
    const std::size_t before = suite_.cases.size();
    for (Combination& combination : expand(matrix, "", model::Cache::cold, used_excludes)) {
        auto command =
            std::make_shared<const command::Command>(filled_in(read.command, combination.params));
        std::size_t group = suite_.groups++;
        work_.spend(1 + read.command.words.size() + read.command.environment.size(), read.at);
        for (std::size_t i = 0; i < read.labels.labels.size(); ++i) {
            const Label& label = read.labels.labels[i];
            const Position at = combination.made_by != nullptr ? combination.made_by->at : label.at;
            add_case({read.command.name, label.name, combination.params, model::Cache::cold}, at,
                     read.workload, read.workload.variants[i], first_entry + i);
            SuiteCase& added = suite_.cases.back();
            added.expected = label.expected;
            added.group = group;
            if (read.reading && i == 0) {
                added.subject =
                    std::make_shared<const benchmark::Benchmark>(command, *read.reading);
                if (read.labels.labels.size() == 1) continue;
                command = std::make_shared<const command::Command>(recorded(*command));
                group = suite_.groups++;
            } else {
                added.subject = std::make_shared<const command::Program>(command, label.piece);
            }
        }
    }
    check_excludes(matrix, used_excludes, before, read.at);
}

/// A flush of the CPU's caches takes the interpreter's own data along, which then hides what the
/// case does.
std::vector<model::Cache> CaseBuilder::caches_of(const ReadEntry& read, const Entry& entry,
                                                 const model::VariantInfo& variant) const {
    if (entry.settings.cache) return *entry.settings.cache;
    const bool hot = read.in_python && variant.target == model::Target::host;
    return suite_.defaults.cache.value_or(
        std::vector{hot ? model::Cache::hot : model::Cache::cold});
}

void CaseBuilder::count(const Matrix& matrix, std::size_t groups, Position at) {
    const std::size_t product = product_size(matrix, most_cases);
    combinations_ += groups * product;
    if (product > most_cases || combinations_ > most_cases) refuse_product(matrix, groups, at);
}

/// If the matrix of this entry alone is too large, its own count is reported.
void CaseBuilder::refuse_product(const Matrix& matrix, std::size_t groups, Position at) {
    double count = static_cast<double>(groups);
    for (const Axis& axis : matrix.axes) count *= static_cast<double>(axis.items.size());
    if (count <= static_cast<double>(most_cases)) count = static_cast<double>(combinations_);
    problems_.fail(at,
                   "{} combinations before 'exclude', over all variants and cache temperatures; "
                   "expected at most {}",
                   count < 1e15 ? fmt::format("{:.0f}", count) : fmt::format("{:.3g}", count),
                   most_cases);
}

void CaseBuilder::check_excludes(const Matrix& matrix, const std::vector<bool>& used_excludes,
                                 std::size_t first, Position at) {
    for (std::size_t i = 0; i < used_excludes.size(); ++i) {
        if (used_excludes[i]) continue;
        problems_.add(matrix.exclude[i].at,
                      "an exclude that removes nothing; expected values that the axes have");
    }
    if (suite_.cases.size() == first) {
        problems_.add(at, "'exclude' leaves no case; expected at least one");
    }
}

void CaseBuilder::add_case(model::CaseSpec spec, Position at, const model::WorkloadInfo& workload,
                           const model::VariantInfo& variant, std::size_t entry) {
    for (const model::ParamInfo& info : workload.params) {
        if (info.default_value || spec.params.contains(info.name)) continue;
        problems_.add(
            at,
            "parameter {} of {} is not set and has no default; expected it in 'params' or 'matrix'",
            in_quotes(info.name), util::printable(workload.name, 80));
    }
    if (suite_.cases.size() == most_cases) {
        problems_.fail(at, "more than {} cases; expected a smaller suite: split it", most_cases);
    }
    SuiteCase& added = suite_.cases.emplace_back();
    added.id = model::case_id(spec);
    added.spec = std::move(spec);
    added.at = at;
    added.target = variant.target;
    added.submission = variant.submission;
    added.min_compute_capability = variant.min_compute_capability;
    added.not_built = variant.not_built;
    added.entry = entry;
}

}  // namespace perfgate::suite
