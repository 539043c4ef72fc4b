// SPDX-License-Identifier: Apache-2.0
#include "inject/code_sampler.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <utility>

namespace perfgate::inject {
namespace {

/// A sample of each SM every 2^14 cycles: the hardware's buffer lasts for seconds.
constexpr std::uint32_t period = 14;
constexpr std::size_t most_module_bytes = std::size_t{512} << 20;
constexpr std::chrono::seconds longest_wait{5};

bool write_new_file(const std::string& path, std::string_view content) {
    const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file < 0) return false;
    while (!content.empty()) {
        const ssize_t written = ::write(file, content.data(), content.size());
        if (written <= 0) break;
        content.remove_prefix(static_cast<std::size_t>(written));
    }
    return ::close(file) == 0 && content.empty();
}

}  // namespace

CodeSampler::CodeSampler(const cupti::Api& api, activity::Writer& writer,
                         std::string_view functions)
    : api_(api), writer_(writer) {
    while (!functions.empty()) {
        const std::size_t end = std::min(functions.find(','), functions.size());
        wanted_.emplace(functions.substr(0, end));
        functions.remove_prefix(std::min(end + 1, functions.size()));
    }
}

CodeSampler::Lock CodeSampler::enter() {
    Lock lock(mutex_, longest_wait);
    if (!lock.owns_lock()) missed_ = true;
    return lock;
}

cupti::PcSampling::Visit CodeSampler::visit() {
    return [this](const cupti::PcSample& sample) {
        if (!symbols_.contains(sample.function)) return;
        samples_[{std::string(sample.function), sample.offset, std::string(sample.reason)}] +=
            sample.count;
    };
}

void CodeSampler::begin(CUcontext context) {
    const Lock lock = enter();
    if (!lock.owns_lock() || over_ || contexts_.contains(context)) return;
    try {
        auto sampling = std::make_unique<cupti::PcSampling>(api_, context, period);
        sampling->start();
        contexts_[context] = std::move(sampling);
    } catch (const util::Error& error) {
        contexts_[context] = nullptr;
        writer_.problem(std::string("no program counters were sampled: ") + error.what());
    }
}

void CodeSampler::keep(CUcontext context, std::string_view image,
                       const std::map<std::string, elf::MachineCode>& functions) {
    const Lock lock = enter();
    if (!lock.owns_lock() || over_) return;
    take(context);
    bool any = false;
    for (const auto& [symbol, code] : functions) {
        if (!wanted_.contains(code.fingerprint)) continue;
        any = true;
        symbols_.insert(symbol);
    }
    if (!any) return;
    module_bytes_ += image.size();
    const std::string path = file_ + "." + std::to_string(modules_++) + ".cubin";
    if (module_bytes_ > most_module_bytes) {
        writer_.problem("machine code is missing: the program's modules are larger than 512 MiB");
    } else if (!write_new_file(path, image)) {
        writer_.problem("machine code is missing: its file could not be written");
    }
}

void CodeSampler::take(CUcontext context) {
    const Lock lock = enter();
    if (!lock.owns_lock()) return;
    const auto found = contexts_.find(context);
    if (over_ || found == contexts_.end() || found->second == nullptr) return;
    found->second->take_put_aside(visit());
}

void CodeSampler::close(Contexts::iterator context) {
    if (const auto sampling = std::move(context->second)) {
        try {
            sampling->stop(visit());
            sampling->finish(visit());
        } catch (const util::Error& error) {
            writer_.problem(std::string("samples are missing: ") + error.what());
        }
        all_ += sampling->all();
        dropped_ += sampling->dropped();
        overflowed_ = overflowed_ || sampling->overflowed();
    }
    contexts_.erase(context);
}

void CodeSampler::end(CUcontext context) {
    const Lock lock = enter();
    if (!lock.owns_lock()) return;
    const auto found = contexts_.find(context);
    if (!over_ && found != contexts_.end()) close(found);
}

void CodeSampler::finish() {
    const Lock lock = enter();
    if (missed_) writer_.problem("samples or machine code are missing: a thread waited in CUPTI");
    if (!lock.owns_lock()) return;
    while (!contexts_.empty()) close(contexts_.begin());
    over_ = true;
    activity::Records records;
    for (const auto& [at, count] : samples_) {
        const auto& [symbol, offset, reason] = at;
        constexpr std::int64_t most = std::numeric_limits<std::uint32_t>::max();
        records.pc_samples.push_back({offset, writer_.string(symbol), writer_.string(reason),
                                      static_cast<std::uint32_t>(std::min(count, most)), 0});
    }
    writer_.append(records);
    const std::int64_t kept = all_ - dropped_;
    if (dropped_ > kept) {
        writer_.problem("the device dropped " + std::to_string(dropped_) +
                        " samples of the program counter and kept " + std::to_string(kept));
    }
    if (overflowed_) writer_.problem("samples are missing: a buffer of CUPTI's was full");
}

}  // namespace perfgate::inject
