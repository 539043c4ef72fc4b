// SPDX-License-Identifier: Apache-2.0
// Names of kernels once a module was unloaded. CUPTI knows a kernel's name by its function's
// address, so that the record of a later module's kernel may carry the name of an unloaded one. The
// name that the launch's callback got wins.
#pragma once

#include <cupti.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "activity/writer.hpp"

namespace perfgate::inject {

/// All functions may be called from any thread; they throw only std::bad_alloc.
class LaunchNames {
  public:
    /// Launches are reported to launch(), from now on.
    void watch_launches() { watching_ = true; }
    /// A module is about to be unloaded. Until then nothing is kept.
    void unload(std::uint64_t time_ns);
    [[nodiscard]] bool unloaded() const { return unloaded_ns_ != 0; }

    /// The kernel is about to be launched.
    void launch(std::uint32_t correlation, const char* symbol);
    /// There will be no record of the launch.
    void forget(std::uint32_t correlation);

    /// The node of a graph is captured from a launch of the kernel, or is a copy of another node.
    void capture(std::uint64_t node, const char* symbol);
    void copy_node(std::uint64_t from, std::uint64_t to);
    /// Nodes may launch other kernels from now on.
    void forget_nodes();

    /// The name of a kernel on record; asked once for each record.
    const char* name_of(const CUpti_ActivityKernel10& record);

    /// Why names may be those of unloaded kernels; empty if there is no sign of it.
    [[nodiscard]] std::string doubt() const;

  private:
    /// Null beyond a limit. The caller holds the lock.
    const std::string* kept(const char* symbol);

    std::atomic<bool> watching_{false};
    std::atomic<std::uint64_t> unloaded_ns_{0};  ///< 0: never
    std::atomic<std::uint64_t> in_graphs_{0}, unwatched_{0}, not_kept_{0};
    std::mutex mutex_;
    std::unordered_set<std::string, activity::TextHash, std::equal_to<>> symbols_;
    std::unordered_map<std::uint32_t, const std::string*> launches_;  ///< by correlation
    std::unordered_map<std::uint64_t, const std::string*> nodes_;     ///< of graphs, by their id
};

}  // namespace perfgate::inject
