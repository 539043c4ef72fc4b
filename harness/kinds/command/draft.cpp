// SPDX-License-Identifier: Apache-2.0
#include "kinds/command/draft.hpp"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <optional>
#include <set>

#include "model/command_words.hpp"
#include "model/kernel_name.hpp"
#include "stats/quantiles.hpp"
#include "util/error.hpp"
#include "util/text.hpp"

namespace perfgate::command {
namespace {

using activity::KernelSummary;
using activity::Profile;
using activity::RangeInstance;
using activity::RangeSummary;

constexpr std::size_t most_drafted_ranges = 5, most_drafted_kernels = 3;
/// Kernels with less of the kernel time are not worth a case of their own.
constexpr double least_kernel_share = 0.1;
/// The first instances are left out while they differ from later ones by more than this.
constexpr double warm_up_difference = 0.2;
constexpr double least_tolerance_percent = 2, largest_tolerance_percent = 25;

struct Gate {
    std::string label;
    bool nvtx = false;
    std::string pattern;
    std::size_t skip = 0;
    model::LaunchSize size{};                                       ///< of kernels; zeros: any
    std::vector<std::pair<std::string, std::string>> tolerances;    ///< metric, amount
    std::vector<std::pair<std::string, std::string>> expectations;  ///< metric, comparison
};

std::string percent(double value) {
    return fmt::format(
        "{:g}%", std::clamp(std::ceil(value), least_tolerance_percent, largest_tolerance_percent));
}

std::vector<double> gpu_times(const std::vector<RangeInstance>& instances, std::size_t from) {
    std::vector<double> times;
    for (std::size_t i = from; i < instances.size(); ++i) {
        times.push_back(static_cast<double>(instances[i].work.gpu_time_ns));
    }
    return times;
}

/// How many instances at the beginning are not like the later ones; at most half.
std::size_t warm_up(const std::vector<RangeInstance>& instances) {
    const std::size_t half = instances.size() / 2;
    const double usual = stats::median(gpu_times(instances, half));
    std::size_t skip = 0;
    while (skip < half && std::abs(static_cast<double>(instances[skip].work.gpu_time_ns) / usual -
                                   1) > warm_up_difference) {
        ++skip;
    }
    return skip;
}

/// Three times the interquartile range, in percent of the median.
double spread_percent(const std::vector<double>& times) {
    const double median = stats::median(times);
    return median == 0
               ? 0
               : 300 * (stats::quantile(times, 0.75) - stats::quantile(times, 0.25)) / median;
}

/// Lower case letters, digits and '_'; begins with a letter.
std::string identifier_from(const std::string& name) {
    std::string text = util::slug(name).substr(0, 40);
    std::replace(text.begin(), text.end(), '-', '_');
    if (text.front() >= '0' && text.front() <= '9') text.insert(0, "n");
    return text;
}

/// A label for the name that is not used yet.
std::string label_for(const std::string& name, std::set<std::string>& used) {
    const std::string label = identifier_from(name);
    std::string unique = label;
    for (int number = 2; !used.insert(unique).second; ++number) {
        unique = fmt::format("{}_{}", label, number);
    }
    return unique;
}

bool matches(const KernelSummary& kernel, const std::string& pattern) {
    return util::glob_match(pattern, kernel.name) || util::glob_match(pattern, kernel.symbol);
}

/// A pattern that no other kernel of the profile matches.
std::optional<std::string> pattern_for(const KernelSummary& kernel, const Profile& profile) {
    for (const std::string& pattern :
         {"*" + model::brief_kernel_name(kernel.name) + "*", kernel.symbol}) {
        const auto others = std::ranges::count_if(
            profile.kernels, [&](const KernelSummary& each) { return matches(each, pattern); });
        if (others == 1 && pattern.size() <= model::longest_pattern) return pattern;
    }
    return std::nullopt;
}

std::optional<Gate> gate_of(const RangeSummary& range, bool calls_on_record,
                            std::set<std::string>& labels) {
    const std::vector<RangeInstance>& instances = range.instances;
    if (instances.empty() || range.total.gpu_time_ns == 0 ||
        range.name.size() > model::longest_pattern) {
        return std::nullopt;
    }
    Gate gate;
    gate.nvtx = true;
    gate.pattern = range.name;
    gate.skip = warm_up(instances);
    const auto in_all = [&](auto&& holds) {
        return std::all_of(instances.begin() + static_cast<std::ptrdiff_t>(gate.skip),
                           instances.end(),
                           [&](const RangeInstance& each) { return holds(each.work); });
    };
    // Ranges with instances without GPU work have no stable time.
    if (!in_all([](const activity::WorkSummary& work) { return work.gpu_time_ns != 0; })) {
        return std::nullopt;
    }
    gate.label = label_for(range.name, labels);
    gate.tolerances.emplace_back("gpu_time",
                                 percent(spread_percent(gpu_times(instances, gate.skip))));
    const std::uint64_t kernels = instances.back().work.kernels;
    if (in_all([&](const activity::WorkSummary& work) { return work.kernels == kernels; })) {
        gate.tolerances.emplace_back("kernels", "0");
        gate.tolerances.emplace_back("instances", "0");
    }
    if (in_all([](const activity::WorkSummary& work) { return work.pageable_copies == 0; })) {
        gate.expectations.emplace_back("pageable_copies", "== 0");
    }
    if (calls_on_record &&
        in_all([](const activity::WorkSummary& work) { return work.synchronisations == 0; })) {
        gate.expectations.emplace_back("syncs", "== 0");
    }
    return gate;
}

/// A range without GPU work that takes much of the program is only reported: it shows where the
/// host is.
std::optional<Gate> reported(const RangeSummary& range, const Profile& profile,
                             std::set<std::string>& labels) {
    constexpr double least_share = 0.1;
    if (range.instances.empty() || range.total.gpu_time_ns != 0 ||
        range.name.size() > model::longest_pattern ||
        static_cast<double>(range.host_time.total_ns) <
            least_share * static_cast<double>(profile.window.length())) {
        return std::nullopt;
    }
    Gate gate;
    gate.nvtx = true;
    gate.pattern = range.name;
    gate.label = label_for(range.name, labels);
    return gate;
}

/// Launches of several sizes have no time that one tolerance fits, so each size has its own.
std::optional<Gate> gate_of(const KernelSummary& kernel, const activity::SizeSummary& launches,
                            const Profile& profile, std::set<std::string>& labels) {
    const double share =
        static_cast<double>(launches.time.total_ns) /
        static_cast<double>(std::max<std::uint64_t>(profile.program.kernel_time_ns, 1));
    if (share < least_kernel_share) return std::nullopt;
    const std::optional<std::string> pattern = pattern_for(kernel, profile);
    if (!pattern) return std::nullopt;
    Gate gate;
    gate.pattern = *pattern;
    if (kernel.sizes.size() > 1) gate.size = launches.size;
    gate.label = label_for(model::brief_kernel_name(kernel.name), labels);
    // What ticks of the GPU's clock are of a short one.
    constexpr double tick_ns = 32;
    const double median = static_cast<double>(std::max<std::uint64_t>(launches.time.median_ns, 1));
    gate.tolerances.emplace_back("gpu_time", percent(std::max(5.0, 300 * tick_ns / median)));
    return gate;
}

std::vector<Gate> gates_of(const Profile& profile) {
    std::set<std::string> labels{"program"};
    std::vector<const RangeSummary*> ranges;
    for (const RangeSummary& range : profile.ranges) ranges.push_back(&range);
    std::ranges::stable_sort(ranges, [](const auto* a, const auto* b) {
        return a->total.gpu_time_ns > b->total.gpu_time_ns;
    });
    std::vector<Gate> gates;
    for (const RangeSummary* range : ranges) {
        if (gates.size() == most_drafted_ranges) break;
        auto gate = gate_of(*range, !profile.calls.empty(), labels);
        if (!gate) gate = reported(*range, profile, labels);
        if (gate) gates.push_back(std::move(*gate));
    }
    const std::size_t with_ranges = gates.size();
    for (const KernelSummary& kernel : profile.kernels) {
        for (const activity::SizeSummary& launches : kernel.sizes) {
            if (gates.size() == with_ranges + most_drafted_kernels) return gates;
            if (auto gate = gate_of(kernel, launches, profile, labels)) {
                gates.push_back(std::move(*gate));
            }
        }
    }
    return gates;
}

const Profile& busiest(const std::vector<Profile>& profiles) {
    const auto most = std::ranges::max_element(profiles, [](const Profile& a, const Profile& b) {
        return a.program.gpu_time_ns < b.program.gpu_time_ns;
    });
    if (most == profiles.end() || most->program.kernels == 0) {
        throw util::InputError("the program ran no kernel: there is nothing to gate");
    }
    return *most;
}

void write_extents(YAML::Emitter& yaml, const char* key,
                   const std::array<std::uint32_t, 3>& extents) {
    if (extents == std::array<std::uint32_t, 3>{}) return;
    yaml << YAML::Key << key << YAML::Value << YAML::Flow << YAML::BeginSeq;
    for (const std::uint32_t extent : extents) yaml << extent;
    yaml << YAML::EndSeq;
}

void write_measure(YAML::Emitter& yaml, const std::vector<Gate>& gates) {
    yaml << YAML::Key << "measure" << YAML::Value << YAML::BeginMap;
    for (const Gate& gate : gates) {
        yaml << YAML::Key << gate.label << YAML::Value << YAML::Flow << YAML::BeginMap;
        yaml << YAML::Key << (gate.nvtx ? "nvtx" : "kernel") << YAML::Value << YAML::DoubleQuoted
             << gate.pattern;
        write_extents(yaml, "grid", gate.size.grid);
        write_extents(yaml, "block", gate.size.block);
        if (gate.skip != 0) yaml << YAML::Key << "skip" << YAML::Value << gate.skip;
        yaml << YAML::EndMap;
    }
    yaml << YAML::EndMap;
}

void write_gates(YAML::Emitter& yaml, const char* key, const std::vector<Gate>& gates,
                 std::vector<std::pair<std::string, std::string>> Gate::*values, bool program) {
    const bool any =
        std::ranges::any_of(gates, [&](const Gate& gate) { return !(gate.*values).empty(); });
    if (!any && !program) return;
    yaml << YAML::Key << key << YAML::Value << YAML::BeginMap;
    for (const Gate& gate : gates) {
        for (const auto& [metric, value] : gate.*values) {
            yaml << YAML::Key << gate.label + "." + metric << YAML::Value << value;
        }
    }
    if (program) {
        yaml << YAML::Key << "program.gpu_time" << YAML::Value << percent(5);
        yaml << YAML::Key << "program.kernels" << YAML::Value << "0";
    }
    yaml << YAML::EndMap;
}

}  // namespace

void check_suite_words(const std::vector<std::string>& words) {
    if (words.size() > model::most_words) {
        throw util::InputError("a suite holds at most {} words of a command", model::most_words);
    }
    for (const std::string& word : words) {
        if (word.size() > model::longest_word) {
            throw util::InputError("a suite holds words of at most {} bytes, not {}",
                                   model::longest_word, util::printable(word, 80));
        }
        if (model::has_parameter(word)) {
            throw util::InputError(
                "a suite would replace {} by a parameter of its matrix: write the suite by hand",
                util::printable(word, 80));
        }
    }
}

std::string suite_name(const std::vector<std::string>& words) {
    const auto is_script = [](const std::string& word) {
        return (word.ends_with(".py") || word.ends_with(".sh")) && !word.starts_with('-');
    };
    const auto script = std::find_if(words.begin() + 1, words.end(), is_script);
    const std::string& word = script == words.end() ? words.front() : *script;
    return identifier_from(std::filesystem::path(word).stem().string());
}

std::string suite_draft(const std::vector<std::string>& words, const std::string& folder,
                        const std::vector<Profile>& profiles) {
    const Profile& profile = busiest(profiles);
    const std::vector<Gate> gates = gates_of(profile);
    const std::string name = suite_name(words);

    YAML::Emitter yaml;
    yaml.SetOutputCharset(YAML::EscapeNonAscii);  // names come from the program
    yaml << YAML::Comment(
        "A draft from one recorded run: check the tolerances. `perfgate baseline refresh` refuses\n"
        "times that vary more between processes. docs/programs.md describes every key.");
    yaml << YAML::Newline << YAML::BeginMap;
    yaml << YAML::Key << "name" << YAML::Value << name;
    yaml << YAML::Key << "workloads" << YAML::Value << YAML::BeginSeq << YAML::BeginMap;
    yaml << YAML::Key << "command" << YAML::Value << YAML::Flow << YAML::BeginSeq;
    for (const std::string& word : words) yaml << YAML::DoubleQuoted << word;
    yaml << YAML::EndSeq;
    yaml << YAML::Key << "name" << YAML::Value << name;
    if (!folder.empty()) yaml << YAML::Key << "cwd" << YAML::Value << YAML::DoubleQuoted << folder;
    if (!gates.empty()) write_measure(yaml, gates);
    write_gates(yaml, "tolerances", gates, &Gate::tolerances, true);
    write_gates(yaml, "expect", gates, &Gate::expectations, false);
    yaml << YAML::EndMap << YAML::EndSeq << YAML::EndMap;
    return std::string(yaml.c_str()) + "\n";
}

}  // namespace perfgate::command
