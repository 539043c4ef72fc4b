// SPDX-License-Identifier: Apache-2.0
#include "inject/launch_names.hpp"

#include <algorithm>
#include <string_view>

namespace perfgate::inject {
namespace {

/// Launches that wait for their record, nodes of graphs, and the names of kernels. Beyond that none
/// are kept.
constexpr std::size_t launches_at_most = std::size_t{1} << 22;
constexpr std::size_t nodes_at_most = std::size_t{1} << 20;
constexpr std::size_t symbols_at_most = std::size_t{1} << 16;

}  // namespace

void LaunchNames::unload(std::uint64_t time_ns) {
    std::uint64_t never = 0;
    unloaded_ns_.compare_exchange_strong(never, std::max(time_ns, std::uint64_t{1}));
}

const std::string* LaunchNames::kept(const char* symbol) {
    const auto known = symbols_.find(std::string_view(symbol));
    if (known != symbols_.end()) return &*known;
    return symbols_.size() < symbols_at_most ? &*symbols_.emplace(symbol).first : nullptr;
}

void LaunchNames::launch(std::uint32_t correlation, const char* symbol) {
    if (!unloaded() || symbol == nullptr) return;
    const std::lock_guard lock(mutex_);
    const std::string* name = launches_.size() < launches_at_most ? kept(symbol) : nullptr;
    if (name == nullptr) {
        ++not_kept_;
        return;
    }
    launches_[correlation] = name;
}

void LaunchNames::forget(std::uint32_t correlation) {
    if (!unloaded()) return;
    const std::lock_guard lock(mutex_);
    launches_.erase(correlation);
}

void LaunchNames::capture(std::uint64_t node, const char* symbol) {
    const std::lock_guard lock(mutex_);
    const std::string* name = nodes_.size() < nodes_at_most ? kept(symbol) : nullptr;
    if (name != nullptr) nodes_[node] = name;
}

void LaunchNames::copy_node(std::uint64_t from, std::uint64_t to) {
    const std::lock_guard lock(mutex_);
    const auto known = nodes_.find(from);
    if (known != nodes_.end() && nodes_.size() < nodes_at_most) nodes_[to] = known->second;
}

void LaunchNames::forget_nodes() {
    const std::lock_guard lock(mutex_);
    nodes_.clear();
}

const char* LaunchNames::name_of(const CUpti_ActivityKernel10& record) {
    if (!unloaded()) return record.name;
    if (record.graphNodeId != 0) {  // the callback of a graph's launch names no kernel
        const std::lock_guard lock(mutex_);
        const auto captured = nodes_.find(record.graphNodeId);
        if (captured != nodes_.end()) return captured->second->c_str();
        if (record.start > unloaded_ns_) ++in_graphs_;
        return record.name;
    }
    if (!watching_) {
        if (record.start > unloaded_ns_) ++unwatched_;
        return record.name;
    }
    const std::lock_guard lock(mutex_);
    const auto found = launches_.find(record.correlationId);
    if (found == launches_.end()) return record.name;  // launched before
    const std::string& symbol = *found->second;
    launches_.erase(found);
    return symbol.c_str();
}

std::string LaunchNames::doubt() const {
    if (not_kept_ != 0) {
        return std::to_string(not_kept_) +
               " launches after a module was unloaded are more than can be kept, and CUPTI may "
               "give their kernels the names of unloaded ones: keep modules loaded";
    }
    if (unwatched_ != 0) {
        return std::to_string(unwatched_) +
               " kernels ran after a module was unloaded, and CUPTI may give them the names of "
               "unloaded kernels: record launches, too (level callbacks)";
    }
    if (in_graphs_ != 0) {
        return std::to_string(in_graphs_) +
               " kernels in CUDA graphs ran after a module was unloaded, and CUPTI may give them "
               "the names of unloaded kernels: keep modules loaded as long as the program runs";
    }
    return {};
}

}  // namespace perfgate::inject
