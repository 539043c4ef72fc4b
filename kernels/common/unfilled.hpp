// SPDX-License-Identifier: Apache-2.0
// An allocator for large vectors that are overwritten at once: zeroing them first would take as
// long.
#pragma once

#include <memory>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

namespace common {

// With it, vector(n) leaves its elements uninitialised.
template <class T>
struct Unfilled : std::allocator<T> {
    static_assert(std::is_trivially_default_constructible_v<T>,
                  "T must be trivially default constructible");

    Unfilled() = default;
    template <class Other>
    Unfilled(const Unfilled<Other>& /*other*/) noexcept {}

    void construct(T* at) { ::new (static_cast<void*>(at)) T; }
    template <class... Arguments>
    void construct(T* at, Arguments&&... arguments) {
        ::new (static_cast<void*>(at)) T(std::forward<Arguments>(arguments)...);
    }
};

template <class T>
using UnfilledVector = std::vector<T, Unfilled<T>>;

}  // namespace common
