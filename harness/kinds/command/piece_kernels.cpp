// SPDX-License-Identifier: Apache-2.0
// The kernels, copies and memsets of a piece: kernels_of and memory_operations_of in pieces.hpp.
#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <system_error>
#include <unordered_map>
#include <utility>

#include "activity/analysis.hpp"
#include "kinds/command/instances.hpp"
#include "kinds/command/pieces.hpp"
#include "util/text.hpp"

namespace perfgate::command {
namespace {

using activity::Timeline;
using activity::Work;
using activity::WorkKind;

/// Gathers launches by name and launch configuration, over all processes.
class KernelList {
  public:
    void add(const Timeline& timeline, const Work& work) {
        const std::uint32_t id = timeline.configuration(work).id;
        const auto [place, fresh] = places_.try_emplace({&timeline, id}, 0);
        if (fresh) place->second = place_of(timeline, timeline.configuration(work));
        lengths_[place->second].push_back(work.time.length());
    }

    /// Merges the configurations of each name if there are more than most_kernels entries; empty if
    /// that does not suffice.
    std::vector<model::Kernel> take(std::size_t instances) {
        if (kernels_.size() > most_kernels) merge_configurations();
        if (kernels_.size() > most_kernels) return {};
        for (std::size_t i = 0; i < kernels_.size(); ++i) {
            const activity::Durations time = activity::durations(std::move(lengths_[i]));
            kernels_[i].duration_ns = as_double(time.median_ns);
            kernels_[i].launches = as_double(time.count) / as_double(instances);
            kernels_[i].time_ns = as_double(time.total_ns) / as_double(instances);
        }
        return std::move(kernels_);
    }

  private:
    std::size_t place_of(const Timeline& timeline, const activity::LaunchConfiguration& launch) {
        const std::string& symbol = timeline.recording().text(launch.symbol);
        activity::LaunchConfiguration key = launch;
        key.id = key.symbol = 0;  // those of one recording
        const auto [known, is_new] = known_.try_emplace(
            {symbol, std::string(reinterpret_cast<const char*>(&key), sizeof key)},
            kernels_.size());
        if (!is_new) return known->second;
        const auto sizes = [](const std::array<std::uint32_t, 3>& from) {
            return std::array<std::int64_t, 3>{from[0], from[1], from[2]};
        };
        model::Kernel kernel;
        kernel.name = util::valid_utf8(util::demangled(symbol));
        kernel.grid = sizes(launch.grid);
        kernel.block = sizes(launch.block);
        kernel.cluster = sizes(launch.cluster);
        kernel.registers = launch.registers_per_thread;
        kernel.static_smem = launch.static_smem_bytes;
        kernel.dynamic_smem = launch.dynamic_smem_bytes;
        kernel.local_bytes = launch.local_bytes_per_thread;
        kernel.cooperative = launch.cooperative != 0;
        const auto [code, fresh] = code_.try_emplace(&timeline);
        if (fresh) code->second = activity::machine_code(timeline.recording());
        const auto fingerprint = code->second.find(symbol);
        if (fingerprint != code->second.end()) kernel.code = fingerprint->second;
        const auto [stacks, first] = stacks_.try_emplace(&timeline);
        if (first) stacks->second = activity::stack_sizes(timeline.recording());
        const auto stack = stacks->second.find(symbol);
        if (stack != stacks->second.end()) kernel.stack_bytes = stack->second;
        const auto [sources, unread] = sources_.try_emplace(&timeline);
        if (unread) sources->second = activity::function_sources(timeline.recording());
        const auto source = sources->second.find(symbol);
        if (source != sources->second.end()) {
            std::error_code no_folder;
            kernel.code_bytes = source->second.code_bytes;
            kernel.source =
                model::relative_to(std::filesystem::current_path(no_folder), source->second.place);
        }
        kernels_.push_back(std::move(kernel));
        lengths_.emplace_back();
        return kernels_.size() - 1;
    }

    /// One of each name, with its first grid and block and the most that a launch takes.
    void merge_configurations() {
        std::map<std::string, std::size_t> places;
        std::vector<model::Kernel> kernels;
        std::vector<std::vector<std::uint64_t>> lengths;
        for (std::size_t i = 0; i < kernels_.size(); ++i) {
            const auto [place, fresh] = places.try_emplace(kernels_[i].name, kernels.size());
            if (fresh) {
                kernels.push_back(std::move(kernels_[i]));
                lengths.emplace_back();
            } else {
                merge(kernels_[i], kernels[place->second]);
            }
            std::vector<std::uint64_t>& all = lengths[place->second];
            all.insert(all.end(), lengths_[i].begin(), lengths_[i].end());
        }
        kernels_ = std::move(kernels);
        lengths_ = std::move(lengths);
    }

    static void merge(const model::Kernel& other, model::Kernel& kernel) {
        if (kernel.code != other.code) kernel.code.clear();
        if (kernel.source != other.source) kernel.source = {};
        if (kernel.code_bytes != other.code_bytes) kernel.code_bytes.reset();
        kernel.registers = std::max(kernel.registers, other.registers);
        kernel.static_smem = std::max(kernel.static_smem, other.static_smem);
        kernel.dynamic_smem = std::max(kernel.dynamic_smem, other.dynamic_smem);
        kernel.local_bytes = std::max(kernel.local_bytes, other.local_bytes);
        if (!kernel.stack_bytes || !other.stack_bytes) {
            kernel.stack_bytes.reset();
        } else {
            kernel.stack_bytes = std::max(*kernel.stack_bytes, *other.stack_bytes);
        }
    }

    std::map<std::pair<const Timeline*, std::uint32_t>, std::size_t> places_;
    /// By symbol and configuration.
    std::map<std::pair<std::string, std::string>, std::size_t> known_;
    std::map<const Timeline*, std::unordered_map<std::string, std::string>> code_;
    std::map<const Timeline*, std::unordered_map<std::string, std::optional<std::uint32_t>>>
        stacks_;
    std::map<const Timeline*, std::unordered_map<std::string, activity::FunctionSource>> sources_;
    std::vector<model::Kernel> kernels_;
    std::vector<std::vector<std::uint64_t>> lengths_;  ///< of the launches of each, ns
};

/// Visits what the piece's instances launched on the device. Returns the number of instances: of
/// kernels that are not in ranges each launch is one, and all of a program.
template <class Visit>
std::size_t visit_work(const Recorded& recorded, const Piece& piece, const Visit& visit) {
    const bool of_kernels = piece.kind == Piece::Kind::kernels;
    const bool in_ranges =
        piece.kind == Piece::Kind::range || (of_kernels && !piece.within.empty());
    KernelPattern pattern(piece);
    std::size_t instances = 0, launches = 0;
    const auto add = [&](const Timeline& timeline, std::span<const Work> all,
                         std::optional<std::uint32_t> thread, std::int64_t skip) {
        for (const Work& work : all) {
            if (thread && work.thread != *thread) continue;
            const bool is_kernel = work.kind == WorkKind::kernel;
            if (of_kernels && !(is_kernel && pattern.matches(timeline, work))) continue;
            if (is_kernel && skip-- > 0) continue;
            visit(timeline, work);
            ++launches;
        }
    };
    if (in_ranges) {
        const std::string& ranges = of_kernels ? piece.within : piece.pattern;
        for (const Instance& each : instances_of(recorded, ranges, piece, piece.skip).counted) {
            add(*each.timeline, each.timeline->launched_in(each.time), each.thread, 0);
            ++instances;
        }
    } else {
        for (const auto& [timeline, part] : recorded.processes()) {
            add(timeline, part.launched(timeline), std::nullopt, piece.skip);
        }
    }
    return in_ranges ? instances : of_kernels ? launches : 1;
}

}  // namespace

std::vector<model::Kernel> kernels_of(const Recorded& recorded, const Piece& piece) {
    KernelList kernels;
    const std::size_t instances =
        visit_work(recorded, piece, [&](const Timeline& timeline, const Work& work) {
            if (work.kind == WorkKind::kernel) kernels.add(timeline, work);
        });
    return kernels.take(instances);
}

std::optional<std::vector<model::MemoryOperation>> memory_operations_of(const Recorded& recorded,
                                                                        const Piece& piece) {
    if (piece.kind == Piece::Kind::kernels) return std::nullopt;
    std::set<model::MemoryOperation> found;
    visit_work(recorded, piece, [&](const Timeline& timeline, const Work& work) {
        if (work.kind == WorkKind::copy) {
            const activity::Copy& copy = timeline.copy(work);
            const auto number = [](auto kind) { return static_cast<std::uint32_t>(kind); };
            found.insert({model::operation_kind_of(number(copy.kind)),
                          static_cast<std::int64_t>(copy.bytes),
                          model::memory_kind_of(number(copy.source)),
                          model::memory_kind_of(number(copy.destination))});
        } else if (work.kind == WorkKind::memset) {
            const auto& records = timeline.recording().records;
            found.insert({model::MemoryOperationKind::memset,
                          static_cast<std::int64_t>(records.memsets.at(work.index).bytes)});
        }
    });
    if (found.size() > most_kernels) return std::nullopt;
    return std::vector<model::MemoryOperation>(found.begin(), found.end());
}

}  // namespace perfgate::command
