// SPDX-License-Identifier: Apache-2.0
// What a piece of a program had the GPU do: profile.hpp's summaries of work.
#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <set>
#include <span>
#include <unordered_map>
#include <utility>

#include "activity/analysis.hpp"
#include "activity/waiting.hpp"
#include "model/communication_kernel.hpp"
#include "util/text.hpp"

namespace perfgate::activity {
namespace {

bool is_pageable(const Copy& copy) {
    return copy.source == MemoryKind::pageable || copy.destination == MemoryKind::pageable;
}

bool is_underfilled(const Timeline& timeline, const Work& kernel) {
    const auto& grid = timeline.configuration(kernel).grid;
    const auto blocks = static_cast<double>(grid[0]) * grid[1] * grid[2];
    return 2 * blocks < timeline.sm_count(timeline.place(kernel).device);
}

/// Work of the interval, of one thread where one is asked for.
std::vector<Work> work_of(const Timeline& timeline, Interval piece,
                          std::optional<std::uint32_t> thread) {
    std::vector<Work> own;
    for (const Work& each : timeline.launched_in(piece)) {
        if (!thread || each.thread == *thread) own.push_back(each);
    }
    return own;
}

/// When the work that the piece's first work may have had to wait for had ended; 0: there is none.
/// That is what its stream had, and of others what was still running when it was launched. What
/// runs on beside it kept it from nothing, and what had ended earlier did not, either: then the
/// host was late.
std::uint64_t end_of_backlog(const Timeline& timeline, Interval piece, const Work& first) {
    const std::uint64_t any = timeline.end_of_work_before(piece.begin);
    const bool waited = first.launch_ns < any && any <= first.time.begin;
    return waited ? any : first.stream_free_ns;
}

/// The piece as the GPU saw it: see WorkSummary::span_ns.
Interval device_window(const Timeline& timeline, Interval piece, std::span<const Work> work,
                       const IntervalSet& own) {
    if (own.intervals().empty()) return piece;
    const std::uint64_t begin = own.intervals().front().begin;
    const auto first = std::ranges::find_if(work, [begin](const Work& each) {
        return each.time.begin == begin && each.time.length() != 0;
    });
    const std::uint64_t behind = std::max(piece.begin, end_of_backlog(timeline, piece, *first));
    return {std::min(behind, begin), std::max(piece.end, own.intervals().back().end)};
}

void measure_idle(const Timeline& timeline, Interval span, WorkSummary& summary) {
    summary.span_ns = span.length();
    summary.idle_ns = span.length() - timeline.busy().length(span);
    summary.longest_idle_ns = longest_gap(timeline, span).length();
}

}  // namespace

std::uint64_t median(std::vector<std::uint64_t> values) {
    if (values.empty()) return 0;
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    if (values.size() % 2 != 0) return *middle;
    const std::uint64_t lower = *std::max_element(values.begin(), middle);
    return lower + (*middle - lower) / 2;
}

Durations durations(std::vector<std::uint64_t> lengths) {
    Durations result;
    if (lengths.empty()) return result;
    result.count = lengths.size();
    for (const std::uint64_t length : lengths) result.total_ns += length;
    const auto [least, most] = std::ranges::minmax_element(lengths);
    result.minimum_ns = *least;
    result.maximum_ns = *most;
    result.median_ns = median(std::move(lengths));
    return result;
}

WorkSummary summarise(const Timeline& timeline, Interval piece,
                      std::optional<std::uint32_t> thread) {
    WorkSummary summary;
    std::vector<Interval> all, copies, computing, communicating;
    std::set<std::uint32_t> graphs;
    const std::vector<Work> work = work_of(timeline, piece, thread);
    for (const Work& each : work) {
        all.push_back(each.time);
        if (timeline.graph(each).node != 0) graphs.insert(timeline.place(each).correlation);
        if (each.kind == WorkKind::kernel) {
            ++summary.kernels;
            summary.kernel_time_ns += each.time.length();
            if (each.time.length() < short_kernel_ns) ++summary.short_kernels;
            if (is_underfilled(timeline, each)) summary.underfilled_time_ns += each.time.length();
            const std::string& symbol =
                timeline.recording().text(timeline.configuration(each).symbol);
            (model::is_communication_kernel(symbol) ? communicating : computing)
                .push_back(each.time);
        } else if (each.kind == WorkKind::copy) {
            const Copy& copy = timeline.copy(each);
            ++summary.copies;
            summary.copied_bytes += copy.bytes;
            if (is_pageable(copy)) ++summary.pageable_copies;
            copies.push_back(each.time);
        } else {
            ++summary.memsets;
        }
    }
    summary.graph_launches = graphs.size();
    const IntervalSet own(std::move(all));
    const IntervalSet compute(std::move(computing));
    const IntervalSet communication(std::move(communicating));
    const IntervalSet copying(std::move(copies));
    std::vector<Interval> any_kernel = compute.intervals();
    any_kernel.insert(any_kernel.end(), communication.intervals().begin(),
                      communication.intervals().end());
    summary.gpu_time_ns = own.length();
    summary.copy_time_ns = copying.length();
    summary.overlapped_copy_ns = copying.overlap(IntervalSet(std::move(any_kernel)));
    summary.communication_ns = communication.length();
    summary.exposed_communication_ns = summary.communication_ns - communication.overlap(compute);

    summary.window = device_window(timeline, piece, work, own);
    measure_idle(timeline, summary.window, summary);

    for (const ApiCall& call : calls_in(timeline, piece)) {
        if (waits_for_device(timeline.recording().text(call.name)) &&
            (!thread || call.thread == *thread) && is_outermost(timeline, call)) {
            ++summary.synchronisations;
        }
    }
    return summary;
}

WorkSummary& operator+=(WorkSummary& total, const WorkSummary& one) {
    static constexpr std::uint64_t WorkSummary::*fields[] = {
        &WorkSummary::span_ns,
        &WorkSummary::gpu_time_ns,
        &WorkSummary::idle_ns,
        &WorkSummary::kernel_time_ns,
        &WorkSummary::underfilled_time_ns,
        &WorkSummary::kernels,
        &WorkSummary::short_kernels,
        &WorkSummary::copies,
        &WorkSummary::pageable_copies,
        &WorkSummary::copied_bytes,
        &WorkSummary::copy_time_ns,
        &WorkSummary::overlapped_copy_ns,
        &WorkSummary::memsets,
        &WorkSummary::graph_launches,
        &WorkSummary::synchronisations,
        &WorkSummary::communication_ns,
        &WorkSummary::exposed_communication_ns};
    for (const auto field : fields) total.*field += one.*field;
    total.longest_idle_ns = std::max(total.longest_idle_ns, one.longest_idle_ns);
    return total;
}

WorkSummary summarise(const Timeline& timeline, const CapturedPart& part) {
    WorkSummary total;
    for (const Interval& window : part.windows) total += summarise(timeline, window);
    if (!part.whole) return total;
    measure_idle(timeline, timeline.device_span(), total);
    return total;
}

std::unordered_map<std::string, std::string> machine_code(const Recording& recording) {
    std::unordered_map<std::string, std::string> code;
    for (const FunctionCode& function : recording.records.function_codes) {
        const std::string& fingerprint = recording.text(function.fingerprint);
        const auto [known, added] = code.try_emplace(recording.text(function.symbol), fingerprint);
        if (!added && known->second != fingerprint) known->second.clear();
    }
    return code;
}

std::unordered_map<std::string, std::optional<std::uint32_t>> stack_sizes(
    const Recording& recording) {
    std::unordered_map<std::string, std::optional<std::uint32_t>> sizes;
    for (const StackSize& stack : recording.records.stack_sizes) {
        const auto [known, added] =
            sizes.try_emplace(recording.text(stack.symbol), std::optional(stack.bytes));
        if (!added && known->second != stack.bytes) known->second.reset();
    }
    return sizes;
}

std::unordered_map<std::string, FunctionSource> function_sources(const Recording& recording) {
    std::unordered_map<std::string, FunctionSource> sources;
    for (const FunctionPlace& function : recording.records.function_places) {
        FunctionSource source{{}, function.code_bytes};
        const std::string& file = recording.text(function.file);
        if (std::filesystem::path(file).is_absolute() && util::printable(file) == file) {
            source.place = {file, function.line};
        }
        const auto [known, added] = sources.try_emplace(recording.text(function.symbol), source);
        if (added) continue;
        if (known->second.place != source.place) known->second.place = {};
        if (known->second.code_bytes != source.code_bytes) known->second.code_bytes.reset();
    }
    return sources;
}

std::vector<KernelSummary> kernels_of(const Timeline& timeline, std::span<const Work> work) {
    struct Seen {
        std::vector<std::uint64_t> lengths;
        std::map<std::uint32_t, std::size_t> configurations;
        std::map<std::array<std::array<std::uint32_t, 3>, 2>, std::vector<std::uint64_t>> sizes;
        std::size_t order = 0;
    };
    const Recording& recording = timeline.recording();
    std::unordered_map<std::string, Seen> by_symbol;
    for (const Work& each : work) {
        if (each.kind != WorkKind::kernel) continue;
        const LaunchConfiguration& launch = timeline.configuration(each);
        Seen& seen = by_symbol[recording.text(launch.symbol)];
        if (seen.order == 0) seen.order = by_symbol.size();
        seen.lengths.push_back(each.time.length());
        seen.sizes[{launch.grid, launch.block}].push_back(each.time.length());
        ++seen.configurations[recording.records.kernels[each.index].configuration];
    }
    const auto code = machine_code(recording);
    std::vector<KernelSummary> kernels;
    for (auto& [symbol, seen] : by_symbol) {
        KernelSummary kernel;
        kernel.symbol = symbol;
        kernel.name = util::demangled(symbol);
        if (const auto known = code.find(symbol); known != code.end()) {
            kernel.fingerprint = known->second;
        }
        kernel.time = durations(std::move(seen.lengths));
        kernel.order = seen.order;
        kernel.configurations = seen.configurations.size();
        const auto most = std::ranges::max_element(
            seen.configurations, [](const auto& a, const auto& b) { return a.second < b.second; });
        kernel.most_common = recording.configurations[most->first];
        for (auto& [size, lengths] : seen.sizes) {
            kernel.sizes.push_back({{size[0], size[1]}, durations(std::move(lengths))});
        }
        std::ranges::stable_sort(kernel.sizes, [](const SizeSummary& a, const SizeSummary& b) {
            return a.time.total_ns > b.time.total_ns;
        });
        kernels.push_back(std::move(kernel));
    }
    std::ranges::sort(kernels, [](const auto& a, const auto& b) {
        return a.time.total_ns != b.time.total_ns ? a.time.total_ns > b.time.total_ns
                                                  : a.symbol < b.symbol;
    });
    return kernels;
}

}  // namespace perfgate::activity
