// SPDX-License-Identifier: Apache-2.0
// What the fuzz targets share: a reader either refuses its input with an InputError or gives a
// value that, written and read again, is written the same.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "util/error.hpp"

namespace perfgate::fuzz {

inline std::string_view text_of(const std::uint8_t* data, std::size_t size) {
    return {reinterpret_cast<const char*>(data), size};
}

/// Ends the process where a value that was read is not as it must be.
inline void require(bool holds, const char* what) {
    if (holds) return;
    std::fprintf(stderr, "%s\n", what);
    std::abort();
}

template <class Read, class Write>
void check_round_trip(std::string_view input, const Read& read, const Write& write) {
    std::string first;
    try {
        first = write(read(input));
    } catch (const util::InputError&) {
        return;
    }
    // What we have written ourselves must be readable: an exception ends the process.
    const std::string second = write(read(first));
    if (first != second) {
        std::fprintf(stderr, "written:\n%s\nread and written again:\n%s\n", first.c_str(),
                     second.c_str());
        std::abort();
    }
}

}  // namespace perfgate::fuzz
