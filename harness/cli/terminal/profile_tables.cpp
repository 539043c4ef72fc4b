// SPDX-License-Identifier: Apache-2.0
#include "cli/terminal/texts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "activity/analysis.hpp"
#include "activity/samples.hpp"
#include "model/kernel_name.hpp"
#include "model/quantity.hpp"
#include "report/columns.hpp"
#include "util/text.hpp"

namespace perfgate::cli {
namespace {

using activity::Profile;
using Rows = std::vector<std::vector<std::string>>;

/// Of the kernels of one range; so many does the reason of a failed case name, too.
constexpr std::size_t most_changes = 5;

std::string time(std::uint64_t ns) {
    return model::quantity_text(static_cast<double>(ns), "ns");
}

std::string bytes(std::uint64_t count) {
    return model::quantity_text(static_cast<double>(count), "bytes");
}

std::string number(std::uint64_t count) {
    return fmt::format("{}", count);
}

std::string dimensions(const std::array<std::uint32_t, 3>& size) {
    return fmt::format("{}x{}x{}", size[0], size[1], size[2]);
}

class Text {
  public:
    explicit Text(const ProfileTables& options) : options_(options) {}

    /// A heading and a table under it, numbers to the right; nothing for no rows.
    template <class Items, class Row>
    void add(std::string_view title, const Items& items, std::vector<std::string> heads,
             const Row& row) {
        if (items.empty()) return;
        Rows rows;
        rows.push_back(std::move(heads));
        std::size_t shown_rows = 0;
        for (const auto& item : items) {
            if (shown_rows++ == options_.rows) break;
            rows.push_back(row(item));
        }
        fit(rows);
        // The last column is a name, the others are numbers.
        const report::TableLayout layout{
            .align = std::vector(rows.front().size() - 1, report::Align::right)};
        text_ += fmt::format("\n{}\n{}", title, report::table(rows, layout));
        if (items.size() > options_.rows) {
            text_ += fmt::format("  ... and {} more\n", items.size() - options_.rows);
        }
    }

    void line(const std::string& text) { text_ += text + '\n'; }
    template <class First, class... Rest>
    void line(fmt::format_string<First, Rest...> text, First&& first, Rest&&... rest) {
        line(fmt::format(text, std::forward<First>(first), std::forward<Rest>(rest)...));
    }
    void fitted(const std::string& text) {
        line(options_.terminal == 0 ? text : report::cut_middle(text, options_.terminal));
    }

    [[nodiscard]] std::string name(std::string_view name) const {
        return report::cut_middle(util::printable(name, 2000),
                                  std::max<std::size_t>(options_.width / 2, 20));
    }

    std::string take() { return std::move(text_); }

  private:
    using TableRows = std::vector<std::vector<std::string>>;

    static std::size_t width_of(const TableRows& rows, std::size_t column) {
        std::size_t width = 0;
        for (const auto& row : rows) width = std::max(width, report::display_width(row[column]));
        return width;
    }

    /// Leaves out what tells least until the rows fit the terminal, then cuts their names.
    void fit(TableRows& rows) const {
        constexpr std::size_t least_name = 24;
        constexpr std::array<std::string_view, 9> first_to_go{
            "block", "grid", "regs", "min size", "max size", "min", "max", "syncs", "copies"};
        const auto width_but_name = [&] {
            std::size_t width = 0;
            for (std::size_t i = 0; i + 1 < rows.front().size(); ++i) {
                width += 2 + width_of(rows, i);
            }
            return width + 2;
        };
        if (options_.terminal == 0) return;
        for (const std::string_view title : first_to_go) {
            const std::size_t name = std::min(width_of(rows, rows.front().size() - 1), least_name);
            if (width_but_name() + name <= options_.terminal) break;
            const auto found = std::ranges::find(rows.front(), title);
            const auto column = found - rows.front().begin();
            if (found == rows.front().end()) continue;
            for (auto& row : rows) row.erase(row.begin() + column);
        }
        const std::size_t taken = width_but_name();
        const std::size_t left = options_.terminal > taken ? options_.terminal - taken : 0;
        for (auto& row : rows) {
            row.back() = report::cut_middle(row.back(), std::max(left, least_name));
        }
    }

    const ProfileTables& options_;
    std::string text_;
};

void add_head(Text& text, const Profile& profile) {
    const auto field = [&](const char* key) {
        const auto found = profile.header.find(key);
        return found == profile.header.end() ? std::string() : util::printable(found->second);
    };
    std::string head = fmt::format("process {}", field("pid"));
    if (!field("rank").empty()) head += fmt::format(", rank {}", field("rank"));
    text.fitted(fmt::format("{}: {}", head, field("command")));
    for (const std::string& reason : profile.incomplete) {
        text.line("INCOMPLETE: {}", util::printable(reason));
    }
}

void add_program(Text& text, const Profile& profile) {
    const activity::WorkSummary& program = profile.program;
    std::string quality;
    if (program.kernels != 0 && profile.knows_sms()) {
        quality =
            fmt::format("; {} of kernel time fills less than half of the SMs",
                        model::share_text(program.underfilled_time_ns, program.kernel_time_ns));
    }
    text.line("GPU busy {} of {} ({}), idle {}{}", time(program.span_ns - program.idle_ns),
              time(program.span_ns),
              model::share_text(program.span_ns - program.idle_ns, program.span_ns),
              time(program.idle_ns), quality);
    text.line("{} ({} under 10 µs), {} ({} pageable), {}, {}, {}",
              util::counted(program.kernels, "kernel"), program.short_kernels,
              util::counted(program.copies, "copy"), program.pageable_copies,
              util::counted(program.memsets, "memset"),
              util::counted(program.graph_launches, "graph launch"),
              profile.calls.empty() ? "unrecorded synchronisations"
                                    : util::counted(program.synchronisations, "synchronisation"));
    if (program.copies != 0) {
        text.line("copies ran for {}, {} of it while a kernel ran", time(program.copy_time_ns),
                  model::share_text(program.overlapped_copy_ns, program.copy_time_ns));
    }
    if (program.communication_ns != 0) {
        text.line("communication ran for {}, {} of it while another kernel ran",
                  time(program.communication_ns),
                  model::share_text(program.communication_ns - program.exposed_communication_ns,
                                    program.communication_ns));
    }
    for (const activity::DeviceSummary& device : profile.devices) {
        text.line("GPU {} {}: busy {}, {}{}", device.device, util::printable(device.name),
                  time(device.busy_ns), util::counted(device.kernels, "kernel"),
                  device.peak_memory_bytes == 0
                      ? ""
                      : fmt::format(", at most {} allocated", bytes(device.peak_memory_bytes)));
    }
}

/// What the GPU measured about itself: means, and of shares the part of the time below 50 %.
void add_samples(Text& text, const Profile& profile) {
    struct Row {
        const activity::SampledMeans* means;
        std::string name;
    };
    std::vector<Row> rows;
    if (!profile.sampled.empty()) rows.push_back({&profile.sampled, "the program"});
    for (const activity::RangeSummary& range : profile.ranges) {
        if (!range.sampled.empty()) rows.push_back({&range.sampled, range.name});
    }
    if (rows.empty()) return;
    std::vector<std::string> heads;
    for (const activity::SampledRow& row : activity::sampled_rows()) heads.emplace_back(row.label);
    heads.emplace_back("name");
    text.add("the GPU over time: means (and the share of the time below 50 %)", rows, heads,
             [&](const Row& row) {
                 std::vector<std::string> cells;
                 for (const activity::SampledRow& column : activity::sampled_rows()) {
                     const auto mean = row.means->find(column.mean_name());
                     if (mean == row.means->end()) {
                         cells.emplace_back("-");
                     } else if (!column.is_share) {
                         cells.push_back(model::quantity_text(mean->second.value, "bytes/s"));
                     } else {
                         cells.push_back(fmt::format("{:.1f} % ({:.0f} %)", mean->second.value,
                                                     100 * mean->second.low_share));
                     }
                 }
                 cells.push_back(text.name(row.name));
                 return cells;
             });
}

void add_tables(Text& text, const Profile& profile) {
    const activity::WorkSummary& program = profile.program;
    text.add("kernels", profile.kernels,
             {"time", "share", "count", "median", "min", "max", "regs", "grid", "block", "name"},
             [&](const activity::KernelSummary& kernel) -> std::vector<std::string> {
                 return {time(kernel.time.total_ns),
                         model::share_text(kernel.time.total_ns, program.kernel_time_ns),
                         number(kernel.time.count),
                         time(kernel.time.median_ns),
                         time(kernel.time.minimum_ns),
                         time(kernel.time.maximum_ns),
                         number(kernel.most_common.registers_per_thread),
                         dimensions(kernel.most_common.grid),
                         dimensions(kernel.most_common.block),
                         text.name(kernel.name)};
             });
    text.add(
        "copies", profile.copies,
        {"time", "count", "bytes", "min size", "median size", "max size", "rate", "memory", "kind"},
        [&](const activity::CopySummary& copy) -> std::vector<std::string> {
            return {time(copy.time.total_ns),
                    number(copy.time.count),
                    bytes(copy.bytes),
                    bytes(copy.minimum_bytes),
                    bytes(copy.median_bytes),
                    bytes(copy.maximum_bytes),
                    model::quantity_text(copy.bytes_per_s(), "bytes/s"),
                    copy.memory,
                    std::string(activity::to_text(copy.kind))};
        });
    text.add(
        "communication (NCCL)", profile.communication,
        {"time", "calls", "size", "median", "bus rate", "last", "waited", "communicator", "name"},
        [&](const activity::CollectiveSummary& each) -> std::vector<std::string> {
            const bool ran = each.time.count != 0;
            return {ran ? time(each.time.total_ns) : "-",
                    number(each.calls),
                    bytes(each.bytes),
                    ran ? time(each.time.median_ns) : "-",
                    each.bus_bytes_per_s() == 0
                        ? "-"
                        : model::quantity_text(each.bus_bytes_per_s(), "bytes/s"),
                    each.last ? fmt::format("{} of {}", *each.last, each.compared) : "-",
                    each.wait_ns ? time(*each.wait_ns) : "-",
                    fmt::format("{}:{}", util::printable(each.communicator), each.ranks),
                    text.name(each.name)};
        });
    add_samples(text, profile);
    text.add("NVTX ranges", profile.ranges,
             {"host", "count", "median", "GPU", "idle", "kernels", "copies", "syncs", "name"},
             [&](const activity::RangeSummary& range) -> std::vector<std::string> {
                 return {time(range.host_time.total_ns),
                         number(range.host_time.count),
                         time(range.host_time.median_ns),
                         time(range.total.gpu_time_ns),
                         model::share_text(range.total.idle_ns, range.total.span_ns),
                         number(range.total.kernels),
                         number(range.total.copies),
                         number(range.total.synchronisations),
                         text.name(range.name)};
             });
    text.add("CUDA calls", profile.calls, {"time", "count", "median", "max", "name"},
             [&](const activity::CallSummary& call) -> std::vector<std::string> {
                 return {time(call.time.total_ns), number(call.time.count),
                         time(call.time.median_ns), time(call.time.maximum_ns),
                         text.name(call.name)};
             });
    text.add("synchronisations", profile.waits, {"idle after", "waited", "count", "name"},
             [&](const activity::CallSummary& call) -> std::vector<std::string> {
                 return {time(call.idle_ns), time(call.time.total_ns), number(call.time.count),
                         text.name(call.name)};
             });
    text.add("calls that a CUDA graph cannot capture", profile.uncapturable,
             {"count", "range", "why", "name"},
             [&](const activity::UncapturableCall& call) -> std::vector<std::string> {
                 return {number(call.count), text.name(call.range), call.why, text.name(call.name)};
             });
    text.add("what the host did while the GPU was idle", profile.host.waiting,
             {"time", "share", "state", "function"},
             [&](const activity::HostActivity& host) -> std::vector<std::string> {
                 return {time(host.time_ns),
                         model::share_text(host.time_ns, profile.host.sampled_ns),
                         host.state.empty() ? "-" : host.state, text.name(host.name)};
             });
    text.add("longest gaps", profile.gaps, {"length", "at", "in calls", "cause", "range", "before"},
             [&](const activity::Gap& gap) -> std::vector<std::string> {
                 std::string cause(activity::to_text(gap.cause));
                 std::replace(cause.begin(), cause.end(), '_', ' ');
                 if (!gap.call.empty()) cause += ": " + text.name(gap.call);
                 if (!gap.host.empty()) cause += " in " + text.name(gap.host);
                 return {
                     time(gap.time.length()),
                     time(gap.time.begin - std::min(gap.time.begin, profile.window.begin)),
                     gap.cause == activity::GapCause::not_recorded ? "-" : time(gap.in_calls_ns),
                     cause,
                     gap.range.empty() ? "-" : text.name(gap.range),
                     text.name(gap.after)};
             });
}

std::string change(const activity::Change& change) {
    return change.before == 0 ? std::string(change.after == 0 ? "-" : "new")
                              : fmt::format("{:+.1f} %", (change.after / change.before - 1) * 100);
}

std::string times(const activity::Change& change) {
    return fmt::format("{} → {}", model::quantity_text(change.before, "ns"),
                       model::quantity_text(change.after, "ns"));
}

std::string numbers(const activity::Change& change) {
    const auto number = [](double value) { return fmt::format("{:.4g}", value); };
    return change.before == change.after
               ? number(change.after)
               : fmt::format("{} → {}", number(change.before), number(change.after));
}

std::vector<std::string> piece_row(const activity::PieceDifference& piece, bool calls,
                                   std::string name) {
    return {times(piece.gpu_time_ns),
            change(piece.gpu_time_ns),
            times(piece.span_ns),
            change(piece.span_ns),
            numbers(piece.kernels),
            numbers(piece.copies),
            calls ? numbers(piece.synchronisations) : "-",
            std::move(name)};
}

/// "replaced by softmax_warp_forward and 2 others".
std::string kernel_remark(const activity::KernelDifference& kernel) {
    if (kernel.counterparts != 0) {
        const char* words = kernel.launches.before == 0 ? "replaces" : "replaced by";
        const std::string other = model::distinct_kernel_name(kernel.counterpart, kernel.name);
        return kernel.counterparts == 1
                   ? fmt::format("{} {}", words, other)
                   : fmt::format("{} {} and {}", words, other,
                                 util::counted(kernel.counterparts - 1, "other"));
    }
    if (kernel.launches.before == 0) return "added";
    if (kernel.launches.after == 0) return "removed";
    return kernel.code_changed ? "code changed" : "";
}

/// The kernels of each range, by what changed.
void add_range_changes(Text& text, const activity::ProfileDifference& difference,
                       const ProfileTables& options) {
    std::vector<const activity::PieceDifference*> changed;
    for (const activity::PieceDifference& range : difference.ranges) {
        if (!range.changes.empty()) changed.push_back(&range);
    }
    if (changed.empty()) return;
    text.line("\nkernels that changed, per instance of each range");
    for (std::size_t i = 0; i < std::min(changed.size(), options.rows); ++i) {
        const activity::PieceDifference& range = *changed[i];
        text.line("  {}", text.name(range.name));
        const std::size_t shown = std::min(range.changes.size(), most_changes);
        for (std::size_t j = 0; j < shown; ++j) {
            text.line("    " + model::sentence_of(range.changes[j], "instance"));
        }
        if (const std::size_t left = range.changes.size() - shown; left != 0) {
            text.line("    ... and {}", util::counted(left, "smaller change"));
        }
    }
    if (changed.size() > options.rows) {
        text.line("  ... and {} more", changed.size() - options.rows);
    }
}

}  // namespace

std::string difference_text(const activity::ProfileDifference& difference,
                            const ProfileTables& options) {
    Text text(options);
    const std::vector<std::string> heads{"GPU time", "",       "span",  "",
                                         "kernels",  "copies", "syncs", "name"};
    text.add("program", std::vector{difference.program}, heads,
             [&](const activity::PieceDifference& piece) {
                 return piece_row(piece, difference.calls_on_record, "program");
             });
    std::vector<std::string> range_heads = heads;
    range_heads.insert(range_heads.begin(), "instances");
    text.add("NVTX ranges, means per instance", difference.ranges, range_heads,
             [&](const activity::PieceDifference& piece) {
                 std::vector<std::string> row =
                     piece_row(piece, difference.calls_on_record, text.name(piece.name));
                 row.insert(row.begin(), numbers(piece.instances));
                 return row;
             });
    text.add("kernels", difference.kernels, {"time", "", "launches", "", "name"},
             [&](const activity::KernelDifference& kernel) -> std::vector<std::string> {
                 return {times(kernel.total_ns), change(kernel.total_ns), numbers(kernel.launches),
                         kernel_remark(kernel), text.name(kernel.name)};
             });
    add_range_changes(text, difference, options);
    for (const std::string& note : difference.notes) {
        text.line("\nnote: {}", util::printable(note));
    }
    text.line(
        "\nBased on one run each: differences may be noise. To gate the program, draft a suite "
        "with perfgate profile --report suite:FILE.");
    return text.take();
}

std::string profile_text(const Profile& profile, const ProfileTables& options) {
    Text text(options);
    add_head(text, profile);
    add_program(text, profile);
    add_tables(text, profile);
    for (const std::string& note : activity::notes(profile)) text.line("\n" + note);
    const std::vector<std::string> sentences = activity::advice(profile);
    if (!sentences.empty()) text.line("");
    for (std::size_t i = 0; i < sentences.size(); ++i) {
        text.line("{}. {}", i + 1, sentences[i]);
    }
    return text.take();
}

}  // namespace perfgate::cli
