// SPDX-License-Identifier: Apache-2.0
// For what differs from process to process: each that asks is told its number.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace fault {

/// Notes this process in the file that FAULT_PROCESSES names, once. Its number, from 1; without
/// that variable 0.
inline std::uintmax_t process_number() {
    static const std::uintmax_t number = []() -> std::uintmax_t {
        const char* file = std::getenv("FAULT_PROCESSES");
        if (!file) return 0;
        std::ofstream(file, std::ios::app) << '.';
        return std::filesystem::file_size(file);
    }();
    return number;
}

/// True from the third process on.
inline bool is_late() {
    return process_number() >= 3;
}

}  // namespace fault
