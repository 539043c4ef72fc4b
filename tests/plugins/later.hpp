// SPDX-License-Identifier: Apache-2.0
// For faults that the first process does not show: the third one that asks is told so.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace fault {

/// Notes this process in the file that FAULT_PROCESSES names, once; true from the third process on.
/// Without that variable no process is late.
inline bool is_late() {
    static const bool late = [] {
        const char* file = std::getenv("FAULT_PROCESSES");
        if (!file) return false;
        std::ofstream(file, std::ios::app) << '.';
        return std::filesystem::file_size(file) >= 3;
    }();
    return late;
}

}  // namespace fault
