// SPDX-License-Identifier: Apache-2.0
#include "sass/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "model/kernel_name.hpp"
#include "sass/samples.hpp"

namespace perfgate::sass {

namespace {

constexpr std::size_t context = 2, most_opcodes = 4, most_rows_of_kernel = 200,
                      most_lines_of_kernel = 10;

std::string place_text(const model::SourcePlace& place) {
    return fmt::format("{}:{}", place.file, place.line);
}

std::string place_of(const Line& line) {
    if (line.after.line == 0) return place_text(line.before) + " (base)";
    if (line.before.line == 0 || line.before == line.after) return place_text(line.after);
    return fmt::format("{} (was {}:{})", place_text(line.after),
                       line.before.file == line.after.file ? "" : line.before.file,
                       line.before.line);
}

}  // namespace

std::string classes_text(const Difference& difference) {
    std::int64_t before = 0, after = 0;
    std::string changed;
    for (const Count& each : difference.classes) {
        before += each.before;
        after += each.after;
        if (each.before == each.after) continue;
        changed += fmt::format("{}{} {} → {}", changed.empty() ? ": " : ", ", each.name,
                               each.before, each.after);
    }
    return fmt::format("instructions {} → {}{}", before, after, changed);
}

std::vector<std::string> rows_text(const model::Listing& before, const model::Listing& after,
                                   const Difference& difference, std::size_t most_lines) {
    std::vector<std::string> lines;
    model::SourcePlace shown;
    std::size_t previous_end = 0;
    for (const auto& [begin, end] : shown_parts(difference, context)) {
        if (begin > previous_end) {
            lines.push_back(fmt::format("  … {} the same", begin - previous_end));
        }
        previous_end = end;
        for (std::size_t i = begin; i < end; ++i) {
            if (lines.size() >= most_lines) {
                lines.push_back(fmt::format("  … and {} more rows", difference.rows.size() - i));
                return lines;
            }
            const Row& row = difference.rows[i];
            const model::Instruction& instruction =
                row.after ? after.instructions[*row.after] : before.instructions[*row.before];
            constexpr std::string_view marks = " ~-+";
            std::string line =
                fmt::format("{} {}", marks[static_cast<std::size_t>(row.mark)], instruction.text);
            if (instruction.place.line > 0 && !(instruction.place == shown)) {
                line += "  // " + place_text(instruction.place);
                shown = instruction.place;
            }
            lines.push_back(std::move(line));
        }
    }
    return lines;
}

std::vector<std::string> lines_text(const Difference& difference, std::size_t most_lines) {
    constexpr double least_share = 1;
    std::vector<HotLine> shown = hot_lines(difference);
    std::erase_if(shown, [&](const HotLine& each) {
        return each.line->changed == 0 && std::max(each.before, each.after) < least_share;
    });
    std::vector<std::string> lines;
    for (const auto& [line, before, after] : shown) {
        if (lines.size() == most_lines) {
            lines.push_back(fmt::format("… and {} more source lines", shown.size() - most_lines));
            break;
        }
        std::string text = place_of(*line);
        if (before > 0 || after > 0) {
            text += fmt::format("  samples {:.1f} % → {:.1f} %", before, after);
        }
        text += fmt::format("  instructions {} → {}", line->instructions_before,
                            line->instructions_after);
        for (std::size_t i = 0; i < std::min(line->opcodes.size(), most_opcodes); ++i) {
            const Count& one = line->opcodes[i];
            text +=
                fmt::format("{}{} {} → {}", i == 0 ? "  " : ", ", one.name, one.before, one.after);
        }
        lines.push_back(std::move(text));
    }
    return lines;
}

std::vector<std::string> case_text(const model::CaseCode* base, const model::CaseCode& head) {
    std::vector<std::string> text;
    if (!head.problem.empty()) text.push_back("machine code: " + head.problem);
    if (base != nullptr && !base->problem.empty()) text.push_back("base: " + base->problem);
    if (!head.sampling_problem.empty()) text.push_back("not sampled: " + head.sampling_problem);
    if (!head.counting_problem.empty()) text.push_back("not counted: " + head.counting_problem);
    for (const KernelPair& pair : kernel_pairs(base, head)) {
        const model::KernelCode& kernel = *pair.after;
        if (pair.before == nullptr) {
            const bool known = base != nullptr && base->problem.empty();
            text.push_back(fmt::format(
                "{}: {} instructions; {}", kernel.name, kernel.listing.instructions.size(),
                known ? "the base has no such kernel" : "the base's are not at hand"));
            if (const auto goes = where_time_goes(kernel)) text.push_back("  " + goes->sentence);
            continue;
        }
        const model::KernelCode& before = *pair.before;
        if (before.code == kernel.code) {
            text.push_back(kernel.name + ": the same machine code");
            continue;
        }
        const Difference changed = difference(before.listing, kernel.listing);
        text.push_back(kernel.name + ": " + changed.sentence);
        if (const auto went = where_time_went(before, kernel, changed.lines)) {
            text.push_back("  " + went->sentence);
        }
        text.push_back("  " + classes_text(changed));
        for (const std::string& line : lines_text(changed, most_lines_of_kernel)) {
            text.push_back("  " + line);
        }
        for (const std::string& row :
             rows_text(before.listing, kernel.listing, changed, most_rows_of_kernel)) {
            text.push_back("    " + row);
        }
    }
    return text;
}

namespace {

/// Of the head alone.
model::CodeFinding finding_alone(const model::CaseCode* base, const model::CaseCode& head) {
    model::CodeFinding finding;
    finding.change = base == nullptr          ? "the base's is not at hand"
                     : !base->problem.empty() ? base->problem
                                              : "the base has no such kernel";
    std::optional<WhereTimeWent> most;
    for (const model::KernelCode& kernel : head.kernels) {
        auto goes = where_time_goes(kernel);
        if (goes && (!most || goes->added > most->added)) most = std::move(goes);
    }
    if (most) {
        finding.time = most->sentence;
        finding.place = most->place;
    }
    return finding;
}

/// How much of the new kernels' samples is not in place of the base's kernels that are gone, as a
/// share of theirs: a kernel that only has another name adds nothing. Absent: the base has no
/// samples.
std::optional<double> net_share_of_new(const model::CaseCode* base,
                                       const std::vector<KernelPair>& pairs) {
    const auto samples = [](const model::KernelCode& kernel) {
        const auto goes = where_time_goes(kernel);
        return goes ? goes->added : 0;
    };
    double added = 0, all_of_base = 0, gone = 0;
    for (const KernelPair& pair : pairs) {
        if (pair.before == nullptr) added += samples(*pair.after);
    }
    if (base == nullptr) return std::nullopt;
    for (const model::KernelCode& kernel : base->kernels) {
        const double of_kernel = samples(kernel);
        all_of_base += of_kernel;
        const auto is_its = [&](const KernelPair& pair) { return pair.before == &kernel; };
        if (std::ranges::none_of(pairs, is_its)) gone += of_kernel;
    }
    if (all_of_base == 0) return std::nullopt;
    return added == 0 ? 0 : 1 - gone / added;
}

std::string why_no_samples(const model::CaseCode* base, const model::CaseCode& head) {
    if (!head.sampling_problem.empty()) return "not sampled: " + head.sampling_problem;
    if (base == nullptr || base->sampling_problem.empty()) return {};
    return "the base is not sampled: " + base->sampling_problem;
}

}  // namespace

std::vector<KernelPair> kernel_pairs(const model::CaseCode* base, const model::CaseCode& head) {
    std::vector<const model::KernelCode*> left;
    if (base != nullptr) {
        for (const model::KernelCode& each : base->kernels) left.push_back(&each);
    }
    const bool by_place = left.size() == head.kernels.size();
    std::vector<KernelPair> pairs;
    for (const model::KernelCode& kernel : head.kernels) pairs.push_back({nullptr, &kernel});
    const auto pair_by = [&](const auto& same) {
        for (KernelPair& pair : pairs) {
            if (pair.before != nullptr) continue;
            const auto found = std::ranges::find_if(left, [&](const auto* each) {
                return each != nullptr && same(each->name, pair.after->name);
            });
            if (found != left.end()) pair.before = std::exchange(*found, nullptr);
        }
    };
    pair_by([](const auto& one, const auto& other) { return one == other; });
    // A change of the parameters is in the whole name.
    pair_by([](const auto& one, const auto& other) {
        return model::short_kernel_name(one) == model::short_kernel_name(other);
    });
    for (std::size_t i = 0; by_place && i < pairs.size(); ++i) {
        if (pairs[i].before == nullptr && left[i] != nullptr) pairs[i].before = left[i];
    }
    return pairs;
}

model::CodeFinding finding_of(const model::CaseCode* base, const model::CaseCode& head) {
    const std::string no_samples = why_no_samples(base, head);
    if (head.kernels.empty()) return {{}, "not known: " + head.problem, {}, {}};
    std::optional<model::CodeFinding> found;
    bool found_is_new = false;
    double most = 0;
    std::size_t changed = 0;
    const std::vector<KernelPair> pairs = kernel_pairs(base, head);
    const std::optional<double> net = net_share_of_new(base, pairs);
    for (const KernelPair& pair : pairs) {
        const bool is_new = pair.before == nullptr;
        // Why there is no base is said of the head alone.
        if (is_new && (base == nullptr || base->kernels.empty())) continue;
        if (!is_new && pair.before->code == pair.after->code) continue;
        ++changed;
        const std::string name = model::brief_kernel_name(pair.after->name);
        model::CodeFinding of_pair;
        std::optional<WhereTimeWent> went;
        if (is_new) {
            of_pair.base = base->kernels.front().code;
            of_pair.change = name + " is new";
            went = where_time_goes(*pair.after);
            if (went) went->added *= net.value_or(0);
        } else {
            of_pair.base = pair.before->code;
            const Difference difference =
                sass::difference(pair.before->listing, pair.after->listing);
            of_pair.change = difference.sentence;
            if (head.kernels.size() > 1) of_pair.change += " in " + name;
            went = where_time_went(*pair.before, *pair.after, difference.lines);
        }
        // What a new kernel adds is not known without the base's samples.
        const bool is_better = found_is_new && !net && !is_new;
        if (found && !is_better && (!went || went->added <= most)) continue;
        most = went ? went->added : 0;
        of_pair.time = went ? went->sentence : no_samples;
        if (went) of_pair.place = went->place;
        if (went && is_new) of_pair.time += ", in " + name;
        found = std::move(of_pair);
        found_is_new = is_new;
    }
    if (!found) {
        model::CodeFinding alone = finding_alone(base, head);
        if (alone.time.empty()) alone.time = no_samples;
        return alone;
    }
    if (changed > 1) {
        found->change +=
            fmt::format("; {} more kernel{} changed", changed - 1, changed > 2 ? "s" : "");
    }
    return *std::move(found);
}

}  // namespace perfgate::sass
