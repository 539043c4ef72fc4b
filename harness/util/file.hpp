// SPDX-License-Identifier: Apache-2.0
// Reading and writing whole files: reads are bounded, writes are atomic.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

namespace perfgate::util {

/// Reads a regular file of at most `limit_bytes`. `what` names it in messages ("suite",
/// "baseline"). Throws InputError for a missing file, a directory, a device, a file over the limit.
std::string read_file(const std::filesystem::path& path, std::size_t limit_bytes,
                      std::string_view what);

/// Writes through a temporary file in the same folder, synchronised to disk and renamed: a reader
/// gets the old content or the new, never part of it. "-" is standard output; devices and pipes are
/// written in place; a link's target is replaced, not the link. Creates the folder.
/// Throws Error naming the path and the cause (read-only folder, no space left).
void write_file_atomically(const std::filesystem::path& path, std::string_view content);

/// The same for a library that writes files itself: `make` fills an empty file beside the target.
/// "-" and anything that is not a regular file are refused with InputError.
void make_file_atomically(const std::filesystem::path& path,
                          const std::function<void(const std::filesystem::path&)>& make);

/// The first executable file of this name in the folders of PATH; empty: there is none.
std::filesystem::path found_on_path(const std::filesystem::path& name);

/// The same for a program that runs in `folder`, with another value of PATH.
std::filesystem::path found_on_path(const std::filesystem::path& name, std::string_view folders,
                                    const std::filesystem::path& folder);

}  // namespace perfgate::util
