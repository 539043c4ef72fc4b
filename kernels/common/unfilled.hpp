// SPDX-License-Identifier: Apache-2.0
// For large arrays that are written next: zeroing them first would take as long as writing them.
#pragma once

#include <memory>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

namespace common {

// Elements that get no value have none.
template <class T>
struct Unfilled : std::allocator<T> {
    static_assert(std::is_trivially_default_constructible_v<T>, "there is nothing to leave out");

    template <class Other>
    struct rebind {
        using other = Unfilled<Other>;
    };
    void construct(T* at) { ::new (static_cast<void*>(at)) T; }
    template <class... Arguments>
    void construct(T* at, Arguments&&... arguments) {
        ::new (static_cast<void*>(at)) T(std::forward<Arguments>(arguments)...);
    }
};

template <class T>
using UnfilledVector = std::vector<T, Unfilled<T>>;

}  // namespace common
