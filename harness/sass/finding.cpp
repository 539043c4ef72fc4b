// SPDX-License-Identifier: Apache-2.0
#include "sass/finding.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>

#include "model/kernel_name.hpp"
#include "sass/difference.hpp"
#include "sass/samples.hpp"

namespace perfgate::sass {
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
    for (const model::KernelCode& kernel : head.kernels) {
        const auto named = std::ranges::find_if(
            left, [&](const auto* each) { return each != nullptr && each->name == kernel.name; });
        pairs.push_back({named == left.end() ? nullptr : *named, &kernel});
        if (named != left.end()) *named = nullptr;
    }
    for (std::size_t i = 0; by_place && i < pairs.size(); ++i) {
        if (pairs[i].before == nullptr && left[i] != nullptr) pairs[i].before = left[i];
    }
    return pairs;
}

model::CodeFinding finding_of(const model::CaseCode* base, const model::CaseCode& head) {
    const std::string no_samples = why_no_samples(base, head);
    if (head.kernels.empty()) return {{}, "not known: " + head.problem, {}, {}};
    std::optional<model::CodeFinding> found;
    double most = 0;
    std::size_t changed = 0;
    for (const KernelPair& pair : kernel_pairs(base, head)) {
        if (pair.before == nullptr || pair.before->code == pair.after->code) continue;
        ++changed;
        const Difference difference = sass::difference(pair.before->listing, pair.after->listing);
        const auto went = where_time_went(*pair.before, *pair.after, difference.lines);
        if (found && (!went || went->added <= most)) continue;
        most = went ? went->added : 0;
        found = {pair.before->code, difference.sentence, went ? went->sentence : no_samples,
                 went ? went->place : model::SourcePlace{}};
        if (head.kernels.size() > 1) {
            found->change += " in " + model::brief_kernel_name(pair.after->name);
        }
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
