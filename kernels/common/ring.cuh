// SPDX-License-Identifier: Apache-2.0
// A walk round the stages of a ring in shared memory, whose barriers tell one round from the next
// by a parity.
#pragma once

namespace common {

template <int kStages>
struct RingPlace {
    int stage = 0;
    unsigned parity = 0;

    __device__ __forceinline__ void next() {
        if (++stage == kStages) {
            stage = 0;
            parity ^= 1;
        }
    }
};

}  // namespace common
