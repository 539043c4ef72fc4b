// SPDX-License-Identifier: Apache-2.0
#include "activity/analysis.hpp"
#include "activity/host_stacks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "model/quantity.hpp"
#include "util/text.hpp"

namespace perfgate::activity {
namespace {

struct Suggestion {
    double share = 0;  ///< of the program's span that it is about
    std::string text;
};

std::string time_text(std::uint64_t ns) {
    return model::quantity_text(static_cast<double>(ns), "ns");
}

std::string percent(double share) {
    return fmt::format("{:.1f} %", share * 100);
}

constexpr std::uint64_t longest_launch_ns = 100'000;

/// Suggestions about less than this share of the time are not worth a line.
constexpr double least_share = 0.02;

/// A range in which the host submits nothing for so much of its time, and of the program's, comes
/// first: neither launches nor waiting are the cause there.
constexpr double mostly_idle = 0.5, least_of_program = 0.1;

}  // namespace

std::vector<std::string> advice(const Profile& profile, std::size_t count) {
    const WorkSummary& program = profile.program;
    if (program.kernels == 0) return {};
    const auto span = static_cast<double>(std::max<std::uint64_t>(program.span_ns, 1));
    const auto share = [&](std::uint64_t ns) { return static_cast<double>(ns) / span; };
    std::vector<Suggestion> all;

    const IdleRange& range = profile.idle_range;
    const double unsubmitted = share(range.unsubmitted_ns);
    if (unsubmitted >= least_of_program && static_cast<double>(range.unsubmitted_ns) >=
                                               mostly_idle * static_cast<double>(range.length_ns)) {
        const double idle = static_cast<double>(range.idle_ns) /
                            static_cast<double>(std::max<std::uint64_t>(range.length_ns, 1));
        const std::string host = host_text(range.host);
        all.push_back(
            {1 + unsubmitted,
             fmt::format("In the range '{}' the GPU was idle for {} of the time ({} in "
                         "{}, {} of the program's): the host submitted nothing for {} "
                         "of it; {}.",
                         util::printable(range.name, 80), percent(idle), time_text(range.idle_ns),
                         util::counted(range.instances, "instance"), percent(share(range.idle_ns)),
                         time_text(range.unsubmitted_ns),
                         host.empty() ? "look at what the program does there on the CPU"
                                      : "while the GPU was idle there, the host was " + host)});
    }

    std::uint64_t idle_after_waits = 0;
    for (const CallSummary& wait : profile.waits) idle_after_waits += wait.idle_ns;
    if (!profile.waits.empty() && profile.waits.front().idle_ns != 0) {
        const CallSummary& worst = profile.waits.front();
        all.push_back(
            {share(worst.idle_ns),
             fmt::format(
                 "{} left the GPU idle for {} ({} of the time, {} calls): the "
                 "next work was submitted after it returned; wait less often, or "
                 "submit work before waiting{}.",
                 util::printable(worst.name, 80), time_text(worst.idle_ns),
                 percent(share(worst.idle_ns)), worst.time.count,
                 worst.caller.empty() ? "" : "; in these waits the host was " + worst.caller)});
    }
    const std::uint64_t other_idle = program.idle_ns - std::min(program.idle_ns, idle_after_waits);
    const std::string host = host_text(profile.host);
    // Where samples say what the host did, gaps far longer than a launch are not due to launching.
    const bool launches = program.short_kernels * 2 > program.kernels &&
                          (host.empty() || other_idle < longest_launch_ns * program.kernels);
    if (launches && other_idle != 0) {
        all.push_back(
            {share(other_idle),
             fmt::format("{} of {} kernels took less than 10 µs, and the GPU was idle for {} of "
                         "the time: launching is the limit; fuse kernels or use CUDA graphs.",
                         program.short_kernels, program.kernels, percent(share(other_idle)))});
    } else if (other_idle != 0) {
        const bool with_calls = !profile.calls.empty();
        all.push_back(
            {share(other_idle),
             fmt::format("The GPU was idle for {} ({} of the time) without waiting being the "
                         "reason: {}.",
                         time_text(other_idle), percent(share(other_idle)),
                         !host.empty() ? "the host was " + host
                         : with_calls  ? "look at the longest gaps for what the host did instead"
                                       : "record with --level api to see what the host did")});
    }
    for (const CopySummary& copy : profile.copies) {
        if (copy.memory != "pageable" || copy.time.total_ns == 0) continue;
        all.push_back({share(copy.time.total_ns),
                       fmt::format("{} {} from or to pageable memory moved {} at {} in {}: pinned "
                                   "memory is faster and lets copies overlap with kernels.",
                                   util::counted(copy.time.count, "copy"), to_text(copy.kind),
                                   model::quantity_text(static_cast<double>(copy.bytes), "bytes"),
                                   model::quantity_text(copy.bytes_per_s(), "bytes/s"),
                                   time_text(copy.time.total_ns))});
    }
    if (const std::uint64_t alone =
            program.copy_time_ns - std::min(program.copy_time_ns, program.overlapped_copy_ns);
        alone != 0) {
        all.push_back({share(alone),
                       fmt::format("Copies ran alone for {} ({} of the time): on a stream of their "
                                   "own they can overlap with kernels.",
                                   time_text(alone), percent(share(alone)))});
    }
    if (program.underfilled_time_ns != 0 && profile.knows_sms()) {
        const double busy = static_cast<double>(program.span_ns - program.idle_ns) / span;
        all.push_back(
            {program.underfilled_share() * busy / 2,
             fmt::format("The GPU was busy for {} of the time, but {} of the kernel time is in "
                         "kernels with fewer blocks than half of its SMs: give a launch more work, "
                         "or run such kernels concurrently on several streams.",
                         percent(busy), percent(program.underfilled_share()))});
    }
    if (program.exposed_communication_ns != 0) {
        all.push_back(
            {share(program.exposed_communication_ns),
             fmt::format("Communication ran without computation beside it for {} ({} of the time).",
                         time_text(program.exposed_communication_ns),
                         percent(share(program.exposed_communication_ns)))});
    }
    if (profile.compiling_ns != 0) {
        all.push_back(
            {share(profile.compiling_ns),
             fmt::format("The driver compiled PTX for {} ({} of the time): ship machine code for "
                         "this GPU, or let the driver's cache keep it from run to run.",
                         time_text(profile.compiling_ns), percent(share(profile.compiling_ns)))});
    }
    if (profile.loading_ns != 0) {
        all.push_back(
            {share(profile.loading_ns),
             fmt::format(
                 "The driver loaded modules and functions for {} ({} of the time) after the "
                 "first kernel: leave the first iterations out of what is measured, or set "
                 "CUDA_MODULE_LOADING=EAGER.",
                 time_text(profile.loading_ns), percent(share(profile.loading_ns)))});
    }
    if (!profile.kernels.empty()) {
        const KernelSummary& hottest = profile.kernels.front();
        const std::uint64_t total = std::max<std::uint64_t>(program.kernel_time_ns, 1);
        all.push_back(
            {share(hottest.time.total_ns) / 2,
             fmt::format(
                 "The hottest kernel, {}, has {} of the kernel time: {} "
                 "with a median of {}.",
                 util::printable(hottest.name, 120),
                 percent(static_cast<double>(hottest.time.total_ns) / static_cast<double>(total)),
                 util::counted(hottest.time.count, "launch"), time_text(hottest.time.median_ns))});
    }
    std::ranges::stable_sort(all, std::greater{}, &Suggestion::share);
    std::vector<std::string> sentences;
    for (const Suggestion& each : all) {
        if (each.share >= least_share && sentences.size() < count) sentences.push_back(each.text);
    }
    return sentences;
}

std::vector<std::string> notes(const Profile& profile) {
    std::vector<std::string> all;
    const auto level = profile.header.find("level");
    if (!profile.note.empty()) all.push_back(profile.note);
    if (!profile.ranges.empty() && !profile.by_launch) {
        all.emplace_back(
            "Ranges have the work that the device began in them, as launches are not on record: "
            "work that was launched in a range and ran later is missing there (--level callbacks "
            "has it).");
    }
    if (level != profile.header.end() && level->second == "api" && profile.program.idle_ns != 0) {
        all.emplace_back(
            "Recording API calls slows launching: of a program that launches short kernels the "
            "idle time reads too high (--level records costs least).");
    }
    if (profile.overhead_ns != 0) {
        all.push_back(
            fmt::format("CUPTI itself took {} of host time.", time_text(profile.overhead_ns)));
    }
    if (profile.sampling.looks != 0) {
        const HostSampling& sampling = profile.sampling;
        const auto length =
            static_cast<double>(std::max<std::uint64_t>(sampling.end_ns - sampling.start_ns, 1));
        std::string note = fmt::format(
            "Stacks of the host were sampled {:.0f} times a second, which took {} of a "
            "processor{}.",
            static_cast<double>(sampling.looks) * 1e9 / length,
            percent(static_cast<double>(sampling.cpu_ns) / length),
            sampling.late_looks == 0
                ? ""
                : fmt::format("; {} came too late", util::counted(sampling.late_looks, "look")));
        if (profile.python.starts_with("no ")) note += " " + util::printable(profile.python) + ".";
        all.push_back(std::move(note));
    }
    std::string by_driver;
    for (const OverheadSummary& each : profile.overheads) {
        if (each.source != OverheadSource::driver) continue;
        by_driver +=
            fmt::format("{}{} {} ({})", by_driver.empty() ? "" : ", ", each.name,
                        time_text(each.time.total_ns), util::counted(each.time.count, "time"));
    }
    if (!by_driver.empty()) {
        all.push_back(
            fmt::format("Host time of the driver, with or without recording: {}.", by_driver));
    }
    return all;
}

}  // namespace perfgate::activity
