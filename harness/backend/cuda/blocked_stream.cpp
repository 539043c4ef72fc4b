// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/blocked_stream.hpp"

namespace perfgate::backend::cuda {

StreamBlocker::StreamBlocker(std::chrono::milliseconds limit)
    : flag_(sizeof(std::uint32_t)), limit_(limit) {
    write_flag(0);
    watchdog_ = std::thread([this] { watch(); });
}

StreamBlocker::~StreamBlocker() {
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
        write_flag(epoch_);
    }
    changed_.notify_all();
    watchdog_.join();
    // The device may still be about to read the word; it must not be unmapped before that.
    driver().cuCtxSynchronize();
}

void StreamBlocker::write_flag(std::uint32_t value) {
    std::atomic_ref<std::uint32_t>(*static_cast<std::uint32_t*>(flag_.host()))
        .store(value, std::memory_order_seq_cst);
}

StreamBlocker::Block StreamBlocker::block(CUstream stream) {
    {
        const std::lock_guard lock(mutex_);
        if (armed_) throw util::Error("a stream is blocked already: release it first");
        ++epoch_;
        armed_ = true;
        fired_ = false;
        deadline_ = std::chrono::steady_clock::now() + limit_;
    }
    changed_.notify_all();
    const CUresult code =
        driver().cuStreamWaitValue32(stream, flag_.device(), epoch_, CU_STREAM_WAIT_VALUE_GEQ);
    if (code != CUDA_SUCCESS) {
        release();
        throw CudaError(code, "cannot block the stream");
    }
    return Block(*this);
}

bool StreamBlocker::release() {
    bool in_time = false;
    {
        const std::lock_guard lock(mutex_);
        write_flag(epoch_);
        in_time = !fired_;
        armed_ = false;
    }
    changed_.notify_all();
    return in_time;
}

void StreamBlocker::watch() {
    std::unique_lock lock(mutex_);
    while (!stopping_) {
        if (!armed_ || fired_) {
            changed_.wait(lock);
        } else if (std::chrono::steady_clock::now() >= deadline_) {
            fired_ = true;
            write_flag(epoch_);
        } else {
            changed_.wait_until(lock, deadline_);
        }
    }
}

StreamBlocker::Block::~Block() {
    if (owner_ != nullptr) owner_->release();
}

bool StreamBlocker::Block::release() {
    return owner_ == nullptr || std::exchange(owner_, nullptr)->release();
}

}  // namespace perfgate::backend::cuda
