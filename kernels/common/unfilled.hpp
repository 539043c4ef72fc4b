// SPDX-License-Identifier: Apache-2.0
// An allocator for large vectors that are overwritten at once: zeroing them first would take as
// long, and so would getting each page of new memory from the system.
#pragma once

#include <cstddef>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

namespace common {

// Memory that vectors gave back, for the next ones: the cases of a process need much the same.
// Thread-safe.
class UsedMemory {
  public:
    static constexpr std::size_t kLeast = std::size_t{1} << 20;  // less comes from the heap anyway
    static constexpr std::size_t kMost = std::size_t{1} << 30;   // kept in all

    // The smallest that is kept and large enough, if at most half of it is too much; else null.
    // Sets `bytes` to what it has.
    void* take(std::size_t& bytes) {
        const std::lock_guard lock(mutex_);
        const auto found = kept_.lower_bound(bytes);
        if (found == kept_.end() || found->first / 2 > bytes) return nullptr;
        const auto [size, memory] = *found;
        kept_.erase(found);
        total_ -= size;
        bytes = size;
        return memory;
    }

    // Keeps it, and gives the largest back to the system if that is too much.
    void give(void* memory, std::size_t bytes) {
        const std::lock_guard lock(mutex_);
        kept_.emplace(bytes, memory);
        total_ += bytes;
        while (total_ > kMost) {
            const auto largest = std::prev(kept_.end());
            total_ -= largest->first;
            ::operator delete(largest->second);
            kept_.erase(largest);
        }
    }

  private:
    std::mutex mutex_;
    std::multimap<std::size_t, void*> kept_;
    std::size_t total_ = 0;
};

// Never ends: vectors of other statics may outlive it.
inline UsedMemory& used_memory() {
    static auto& memory = *new UsedMemory;
    return memory;
}

// With it, vector(n) leaves its elements uninitialised.
template <class T>
struct Unfilled : std::allocator<T> {
    static_assert(std::is_trivially_default_constructible_v<T>,
                  "T must be trivially default constructible");

    Unfilled() = default;
    template <class Other>
    Unfilled(const Unfilled<Other>& /*other*/) noexcept {}

    T* allocate(std::size_t count) {
        if (count * sizeof(T) < UsedMemory::kLeast) return std::allocator<T>::allocate(count);
        std::size_t bytes = count * sizeof(T) + kHeader;
        void* memory = used_memory().take(bytes);
        if (memory == nullptr) memory = ::operator new(bytes);
        ::new (memory) std::size_t(bytes);
        return reinterpret_cast<T*>(static_cast<std::byte*>(memory) + kHeader);
    }
    void deallocate(T* values, std::size_t count) {
        if (count * sizeof(T) < UsedMemory::kLeast) {
            std::allocator<T>::deallocate(values, count);
            return;
        }
        void* const memory = reinterpret_cast<std::byte*>(values) - kHeader;
        used_memory().give(memory, *static_cast<std::size_t*>(memory));
    }

    void construct(T* at) { ::new (static_cast<void*>(at)) T; }
    template <class... Arguments>
    void construct(T* at, Arguments&&... arguments) {
        ::new (static_cast<void*>(at)) T(std::forward<Arguments>(arguments)...);
    }

  private:
    static constexpr std::size_t kHeader = 64;  // in front of the elements: the size of the memory
    static_assert(alignof(T) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__);
    static_assert(kHeader % alignof(T) == 0 && kHeader >= sizeof(std::size_t));
};

template <class T>
using UnfilledVector = std::vector<T, Unfilled<T>>;

}  // namespace common
