// SPDX-License-Identifier: Apache-2.0
// How large a kernel's launch is. Header only: the injection library uses it too.
#pragma once

#include <array>
#include <cstdint>
#include <string>

namespace perfgate::model {

/// Blocks of the grid and threads of a block, in x, y and z. As a condition, zeros allow any.
struct LaunchSize {
    std::array<std::uint32_t, 3> grid{}, block{};

    bool operator==(const LaunchSize&) const = default;

    [[nodiscard]] bool is_any() const { return *this == LaunchSize{}; }
    /// Whether a launch of that size meets this condition.
    [[nodiscard]] bool allows(const LaunchSize& launch) const {
        return (grid == LaunchSize{}.grid || grid == launch.grid) &&
               (block == LaunchSize{}.block || block == launch.block);
    }
};

/// "grid 64x1x1 and block 128x1x1", without what is any.
inline std::string in_words(const LaunchSize& size) {
    const auto words = [](const char* what, const std::array<std::uint32_t, 3>& of) {
        return of == std::array<std::uint32_t, 3>{}
                   ? std::string()
                   : std::string(what) + std::to_string(of[0]) + 'x' + std::to_string(of[1]) + 'x' +
                         std::to_string(of[2]);
    };
    const std::string grid = words("grid ", size.grid), block = words("block ", size.block);
    return grid + (grid.empty() || block.empty() ? "" : " and ") + block;
}

}  // namespace perfgate::model
