// SPDX-License-Identifier: Apache-2.0
// At level `code`: the modules of chosen functions, as files beside the recording, and samples of
// the functions' program counters, as records (`pc_samples`).
#pragma once

#include <cuda.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <tuple>

#include "activity/writer.hpp"
#include "cupti/pc_sampling.hpp"
#include "elf/cubin.hpp"

namespace perfgate::inject {

class CodeSampler {
  public:
    /// `functions`: fingerprints of machine code (Settings::functions).
    CodeSampler(const cupti::Api& api, activity::Writer& writer, std::string_view functions);

    /// The recording's file is open: modules are kept beside it.
    void keep_beside(std::string file) { file_ = std::move(file); }

    // In CUPTI's callbacks, which come on any thread, and within calls of CUPTI that are made here.

    /// A context was created: its kernels are sampled.
    void begin(CUcontext context);
    /// A module was loaded into a context, with these functions.
    void keep(CUcontext context, std::string_view image,
              const std::map<std::string, elf::MachineCode>& functions);
    /// A module of the context will be unloaded.
    void take(CUcontext context);
    /// The context will be destroyed.
    void end(CUcontext context);

    /// Ends all sampling and writes what was sampled. Nothing is done from here on.
    void finish();

  private:
    using Contexts = std::map<CUcontext, std::unique_ptr<cupti::PcSampling>>;

    using Lock = std::unique_lock<std::recursive_timed_mutex>;

    /// Not owned after a while: two threads are in CUPTI, which may have locks of its own.
    [[nodiscard]] Lock enter();
    [[nodiscard]] cupti::PcSampling::Visit visit();
    void close(Contexts::iterator context);

    const cupti::Api& api_;
    activity::Writer& writer_;
    std::set<std::string, std::less<>> wanted_;
    std::string file_;

    std::recursive_timed_mutex mutex_;
    std::set<std::string, std::less<>> symbols_;  ///< of the wanted functions
    std::size_t modules_ = 0, module_bytes_ = 0;
    Contexts contexts_;
    /// By symbol, offset and reason.
    std::map<std::tuple<std::string, std::uint64_t, std::string>, std::int64_t> samples_;
    std::int64_t all_ = 0, dropped_ = 0;  ///< of all functions
    bool overflowed_ = false;
    std::atomic<bool> missed_{false};  ///< something that a thread could not wait for
    bool over_ = false;
};

}  // namespace perfgate::inject
