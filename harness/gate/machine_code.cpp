// SPDX-License-Identifier: Apache-2.0
#include "gate/machine_code.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <set>
#include <tuple>
#include <utility>

#include "model/kernel_name.hpp"
#include "model/quantity.hpp"
#include "util/text.hpp"

namespace perfgate::gate {

namespace {

using model::CodeChange;
using model::Kernel;
using model::MemoryOperation;
using model::MemoryOperationKind;

std::optional<std::uint64_t> seed_of(const std::map<std::string, model::MetricSeries>& metrics) {
    for (const auto& [name, series] : metrics) {
        if (!series.batches.empty()) return series.batches.front().seed;
    }
    return std::nullopt;
}

bool all_known(const std::vector<Kernel>& kernels) {
    return std::none_of(kernels.begin(), kernels.end(),
                        [](const Kernel& kernel) { return kernel.code.empty(); });
}

std::string size_text(const std::array<std::int64_t, 3>& size) {
    return fmt::format("{}x{}x{}", size[0], size[1], size[2]);
}

/// The first difference between two launches of the same machine code; empty: none.
std::string launch_difference(const Kernel& before, const Kernel& now) {
    std::string difference;
    const auto differs = [&](std::string_view what, const std::string& was, const std::string& is) {
        if (difference.empty() && was != is) {
            difference = fmt::format("{} of {} changed: {} → {}", what,
                                     model::short_kernel_name(now.name), was, is);
        }
    };
    const auto number = [](std::int64_t value) { return std::to_string(value); };
    const auto carveout = [](const Kernel& kernel) {
        return kernel.carveout ? fmt::format("{} %", *kernel.carveout) : std::string("default");
    };
    differs("grid", size_text(before.grid), size_text(now.grid));
    differs("block", size_text(before.block), size_text(now.block));
    differs("cluster", size_text(before.cluster), size_text(now.cluster));
    differs("dynamic shared memory", number(before.dynamic_smem), number(now.dynamic_smem));
    differs("static shared memory", number(before.static_smem), number(now.static_smem));
    differs("number of registers", number(before.registers), number(now.registers));
    differs("local memory", number(before.local_bytes), number(now.local_bytes));
    differs("shared-memory carve-out", carveout(before), carveout(now));
    differs("kind of launch", before.cooperative ? "cooperative" : "regular",
            now.cooperative ? "cooperative" : "regular");
    if (difference.empty() && !model::same_arguments(before, now)) {
        const bool known = !before.arguments.empty() && !now.arguments.empty();
        difference = fmt::format("the arguments of {} {}", model::short_kernel_name(now.name),
                                 known ? "changed" : "are not known");
    }
    return difference;
}

/// Each name once.
void add_name(const Kernel& kernel, std::vector<std::string>& names) {
    std::string name = model::short_kernel_name(kernel.name);
    if (std::find(names.begin(), names.end(), name) == names.end()) {
        names.push_back(std::move(name));
    }
}

/// Empty for no names.
std::string code_changed(const std::vector<std::string>& names) {
    if (names.empty()) return {};
    std::string text = "machine code changed: kernel " + names.front();
    if (names.size() > 1) text += fmt::format(" and {} more", names.size() - 1);
    return text;
}

bool is_of_program(const std::vector<Kernel>& kernels) {
    return std::any_of(kernels.begin(), kernels.end(),
                       [](const Kernel& kernel) { return kernel.launches > 0; });
}

/// "1 kernel → 2, new: bias_silu_kernel"; `names` are those with code that none had before, new
/// ones first.
std::string number_difference(const std::vector<Kernel>& before, const std::vector<Kernel>& now,
                              std::vector<std::string>& names) {
    std::vector<std::string> known, added;
    for (const Kernel& kernel : before) add_name(kernel, known);
    for (const Kernel& kernel : now) {
        if (std::ranges::find(before, kernel.code, &Kernel::code) != before.end()) continue;
        const std::string name = model::short_kernel_name(kernel.name);
        const bool is_new = std::ranges::find(known, name) == known.end();
        add_name(kernel, is_new ? added : names);
    }
    names.insert(names.begin(), added.begin(), added.end());
    std::string text = fmt::format("machine code changed: {} kernel{} → {}", before.size(),
                                   before.size() == 1 ? "" : "s", now.size());
    if (!added.empty()) text += ", new: " + added.front();
    if (added.size() > 1) text += fmt::format(" and {} more", added.size() - 1);
    return text;
}

/// For kernels whose machine code is known; `names` are those that have other code.
std::string code_difference(const std::vector<Kernel>& before, const std::vector<Kernel>& now,
                            std::vector<std::string>& names) {
    if (before.size() != now.size()) return number_difference(before, now, names);
    for (std::size_t i = 0; i < now.size(); ++i) {
        if (before[i].code != now[i].code) add_name(now[i], names);
    }
    return code_changed(names);
}

/// Names of a program's kernels that have other code; kernels are matched by their names. What was
/// added or removed is for explain/ to say.
std::string program_code_difference(const std::vector<Kernel>& before,
                                    const std::vector<Kernel>& now,
                                    std::vector<std::string>& names) {
    std::map<std::string_view, std::set<std::string_view>> known;
    for (const Kernel& kernel : before) known[kernel.name].insert(kernel.code);
    for (const Kernel& kernel : now) {
        const auto then = known.find(kernel.name);
        if (then == known.end() || kernel.code.empty() || then->second.contains("")) continue;
        if (!then->second.contains(kernel.code)) add_name(kernel, names);
    }
    return code_changed(names);
}

/// What a launch of a program's kernel is, and how many an instance has.
auto launch_of(const Kernel& kernel) {
    return std::tie(kernel.name, kernel.code, kernel.grid, kernel.block, kernel.cluster,
                    kernel.dynamic_smem, kernel.static_smem, kernel.registers, kernel.cooperative,
                    kernel.launches);
}

/// The value to compare with; nothing if one side lacks a record of what the other has. A document
/// from before it was recorded equals one that has none.
template <class T>
std::optional<std::pair<T, T>> both_known(const std::optional<T>* before,
                                          const std::optional<T>* now) {
    const bool knows_before = before != nullptr && before->has_value();
    const bool knows_now = now != nullptr && now->has_value();
    std::pair<T, T> both{knows_before ? **before : T{}, knows_now ? **now : T{}};
    if (knows_before != knows_now && both.first != both.second) return std::nullopt;
    return both;
}

/// How the libraries differ; empty: they do not; nothing: not known.
std::optional<std::string> library_difference(const Code& now, const Code& baseline) {
    const auto both = both_known(baseline.libraries, now.libraries);
    if (!both) return std::nullopt;
    const auto& [before, after] = *both;
    const auto named = [](const std::string& name, std::string_view what) {
        return fmt::format("library {} {}", util::printable(name), what);
    };
    for (const auto& [name, code] : after) {
        const auto was = before.find(name);
        if (was == before.end()) return named(name, "was not loaded before");
        if (was->second != code) return named(name, "changed");
    }
    for (const auto& entry : before) {
        if (!after.contains(entry.first)) return named(entry.first, "is not loaded any more");
    }
    return "";
}

std::string operation_text(const MemoryOperation& operation) {
    std::string text =
        fmt::format("{} {}", to_text(operation.kind),
                    model::quantity_text(static_cast<double>(operation.bytes), "bytes"));
    if (operation.kind == MemoryOperationKind::memset) {
        return text + fmt::format(", {}", to_text(operation.to));
    }
    return text + fmt::format(", {} to {}", to_text(operation.from), to_text(operation.to));
}

/// "copy 2: host to device 4.000 MiB, pinned → pageable".
std::string change_of(std::size_t index, const MemoryOperation& before,
                      const MemoryOperation& now) {
    const std::string_view what = now.kind == MemoryOperationKind::memset ? "memset" : "copy";
    MemoryOperation same = now;
    same.from = before.from;
    std::string text = fmt::format("{} {}: ", what, index + 1);
    const auto moved = [&](model::MemoryKind was, model::MemoryKind is) {
        return fmt::format("{} {}, {} → {}", to_text(now.kind),
                           model::quantity_text(static_cast<double>(now.bytes), "bytes"),
                           to_text(was), to_text(is));
    };
    if (same == before) return text + moved(before.from, now.from);
    same = now;
    same.to = before.to;
    if (same == before) return text + moved(before.to, now.to);
    return text + operation_text(before) + " → " + operation_text(now);
}

/// As library_difference. The order does not matter, because streams overlap.
std::optional<std::string> memory_operation_difference(const Code& now, const Code& baseline) {
    const auto both = both_known(baseline.memory_operations, now.memory_operations);
    if (!both) return std::nullopt;
    const auto& [before, after] = *both;
    auto sorted = *both;
    std::sort(sorted.first.begin(), sorted.first.end());
    std::sort(sorted.second.begin(), sorted.second.end());
    if (sorted.first == sorted.second) return "";
    if (before.size() != after.size()) {
        return fmt::format("number of copies and memsets changed: {} → {}", before.size(),
                           after.size());
    }
    const auto [was, is] = std::mismatch(before.begin(), before.end(), after.begin());
    return change_of(static_cast<std::size_t>(is - after.begin()), *was, *is);
}

/// Whether each instance of a program launches, copies and sets the same.
bool launches_the_same(const Code& now, const Code& baseline) {
    if (now.kernels->size() != baseline.kernels->size() || !all_known(*now.kernels) ||
        now.driver != baseline.driver || now.metrics == nullptr || baseline.metrics == nullptr) {
        return false;
    }
    const auto in_order = [](const std::vector<Kernel>& kernels) {
        std::vector<const Kernel*> sorted;
        for (const Kernel& kernel : kernels) sorted.push_back(&kernel);
        std::sort(sorted.begin(), sorted.end(), [](const Kernel* one, const Kernel* other) {
            return launch_of(*one) < launch_of(*other);
        });
        return sorted;
    };
    const std::vector<const Kernel*> one = in_order(*now.kernels);
    const std::vector<const Kernel*> other = in_order(*baseline.kernels);
    const bool same_launches =
        std::equal(one.begin(), one.end(), other.begin(),
                   [](const Kernel* a, const Kernel* b) { return launch_of(*a) == launch_of(*b); });
    constexpr const char* operations[] = {"copies", "copied_bytes", "pageable_copies", "memsets"};
    // Which copies and memsets there are, and how many of all.
    const std::optional<std::string> moved = memory_operation_difference(now, baseline);
    return same_launches && moved && moved->empty() &&
           std::all_of(std::begin(operations), std::end(operations), [&](auto name) {
               const auto here = now.metrics->find(name);
               const auto there = baseline.metrics->find(name);
               const bool known = here != now.metrics->end();
               return known == (there != baseline.metrics->end()) &&
                      (!known || here->second.value == there->second.value);
           });
}

/// How inputs or driver differ; empty: they do not.
std::string input_difference(const Code& now, const Code& baseline) {
    if (now.seed != baseline.seed) return "the inputs have another seed";
    if (now.driver != baseline.driver) {
        return fmt::format("driver changed: {} → {}", util::printable(baseline.driver),
                           util::printable(now.driver));
    }
    return {};
}

/// How launches, libraries, driver or inputs differ; empty: they do not.
std::string launch_provenance_difference(const Code& now, const Code& baseline) {
    for (std::size_t i = 0; i < now.kernels->size(); ++i) {
        std::string difference = launch_difference((*baseline.kernels)[i], (*now.kernels)[i]);
        if (!difference.empty()) return difference;
    }
    const std::string from_before =
        ": refresh the baseline if it is from before they were recorded";
    std::string difference = memory_operation_difference(now, baseline)
                                 .value_or("copies and memsets are not known" + from_before);
    if (difference.empty()) {
        difference =
            library_difference(now, baseline).value_or("libraries are not known" + from_before);
    }
    if (!difference.empty()) return difference;
    return input_difference(now, baseline);
}

/// Compares cases without kernels: host variants, or copies and memsets alone.
CodeComparison compare_host_code(const Code& now, const Code& baseline) {
    if (now.host_code->empty() || baseline.host_code->empty()) return {};
    const bool same_host = *now.host_code == *baseline.host_code;
    CodeComparison other_host{CodeChange::changed, "host code changed"};
    const bool moves = now.memory_operations != nullptr && *now.memory_operations &&
                       !(*now.memory_operations)->empty();
    if (!same_host && !moves) return other_host;
    for (const auto& difference :
         {library_difference(now, baseline), memory_operation_difference(now, baseline)}) {
        if (!difference) return same_host ? CodeComparison{} : other_host;
        if (!difference->empty()) return {CodeChange::changed, *difference};
    }
    if (moves) {
        std::string difference = input_difference(now, baseline);
        if (!difference.empty()) return {CodeChange::device_unchanged, std::move(difference)};
    }
    if (now.seed != baseline.seed) return {};
    if (same_host) return {CodeChange::unchanged, "", true};
    CodeComparison same{CodeChange::device_unchanged, other_host.difference};
    same.copies_the_same = true;
    return same;
}

}  // namespace

void forget_code(model::CaseResult& result) {
    result.kernels.clear();
    result.host_code.clear();
    result.libraries.reset();
    result.memory_operations.reset();
}

Code code_of(const model::CaseResult& result, const model::Environment& environment) {
    return {&result.kernels,         &result.host_code, environment.driver,
            seed_of(result.metrics), &result.libraries, &result.memory_operations,
            !result.source.empty(),  &result.metrics};
}

Code code_of(const model::BaselineCase& expected) {
    return {&expected.kernels,
            &expected.host_code,
            expected.provenance.driver,
            seed_of(expected.metrics),
            &expected.libraries,
            &expected.memory_operations,
            false,
            &expected.metrics};
}

CodeComparison compare_code(const Code& now, const Code& baseline) {
    if (now.kernels->empty() && baseline.kernels->empty()) return compare_host_code(now, baseline);
    std::vector<std::string> names;
    if (is_of_program(*now.kernels) || is_of_program(*baseline.kernels)) {
        // Its host code is not known: that nothing changed cannot be said.
        std::string difference = program_code_difference(*baseline.kernels, *now.kernels, names);
        if (!difference.empty()) {
            return {CodeChange::changed, std::move(difference), false, std::move(names), true};
        }
        if (!launches_the_same(now, baseline)) return {};
        return {CodeChange::device_unchanged,
                "what the program passes to them is not compared",
                true,
                {},
                true};
    }
    if (now.kernels->empty() || baseline.kernels->empty() || !all_known(*now.kernels) ||
        !all_known(*baseline.kernels)) {
        return {};
    }
    std::string difference = code_difference(*baseline.kernels, *now.kernels, names);
    if (!difference.empty()) {
        return {CodeChange::changed, std::move(difference), false, std::move(names)};
    }
    difference = launch_provenance_difference(now, baseline);
    if (difference.empty() && now.launch_is_stated && *now.host_code != *baseline.host_code) {
        difference = "the suite launches it, fills it or states its work in another way";
    }
    const bool same = difference.empty();
    if (same && now.host_code->empty()) difference = "host code is not known";
    if (difference.empty() && *now.host_code != *baseline.host_code) {
        difference = "host code changed";
    }
    if (!difference.empty()) return {CodeChange::device_unchanged, std::move(difference), same};
    return {CodeChange::unchanged, "", true};
}

CodeAside code_aside(const CodeComparison& code, const Comparison& comparison,
                     const Judgement& judgement) {
    const std::string& metric = comparison.definition->name;
    const bool counted = is_counted(*comparison.measured);
    const bool regressed = judgement.verdict == model::Verdict::regressed;
    if (!regressed && judgement.doubt != model::Doubt::unclear) return {};
    if (!can_be_excused(metric, *comparison.measured)) return {};
    switch (code.change) {
        case CodeChange::unchanged:
            return {true, model::Doubt::nothing_changed, "nothing changed",
                    "machine code, launch, arguments, inputs, driver and host code are the "
                    "baseline's: look for the cause in the machine"};
        case CodeChange::device_unchanged:
            if (code.runs_the_same && metric == "gpu_time") {
                return {true, model::Doubt::nothing_launched_changed, "nothing launched changed",
                        code.of_program
                            ? "each instance launches, copies and sets what the baseline's did (" +
                                  code.difference +
                                  "): look for the cause in the program's data and in the machine"
                            : "its kernels, their launches, arguments, inputs and libraries are "
                              "the baseline's (" +
                                  code.difference + "): look for the cause in the machine"};
            }
            if (!regressed) return {};
            return {false, model::Doubt::none, counted ? "" : "device code unchanged",
                    code.difference};
        case CodeChange::changed:
            if (counted || !regressed) return {};  // a note of the case says it
            return {false, model::Doubt::none, "", code.difference};
        case CodeChange::unknown:
            break;
    }
    return {};
}

namespace {

/// What a program passes to its kernels is not known: more than a machine explains is no excuse.
double limit_of(const CodeComparison& code, const Comparison& comparison,
                const Judgement& judgement) {
    const bool only_launched =
        judgement.doubt == model::Doubt::nothing_launched_changed && !code.of_program;
    return is_counted(*comparison.measured) || only_launched ? most_left_to_policy
                                                             : slowest_machine;
}

}  // namespace

bool beyond_any_machine(const CodeComparison& code, const Comparison& comparison,
                        const Judgement& judgement) {
    const Change change = change_between(comparison, judgement.baseline, judgement.measured);
    if (!change.counts || change.good_way) return false;
    if (is_counted(*comparison.measured) && judgement.baseline == 0) return false;
    const double limit = limit_of(code, comparison, judgement);
    return judgement.measured * limit < judgement.baseline ||
           judgement.measured > limit * judgement.baseline;
}

std::string beyond_any_machine_words(const CodeComparison& code, const Comparison& comparison,
                                     const Judgement& judgement) {
    return fmt::format(
        "worse than the baseline by more than a factor of {:g}, which no machine fit for measuring "
        "explains: check the device and the baseline, and measure again",
        limit_of(code, comparison, judgement));
}

bool shown_by_code(const CodeComparison& code, const model::MetricDefinition& definition) {
    return (definition.name == "gpu_time" && code.runs_the_same) ||
           (is_device_time(definition.name) && code.change == CodeChange::unchanged);
}

}  // namespace perfgate::gate
