// SPDX-License-Identifier: Apache-2.0
// A recording as it was read: the records of one process, and whether they are all of them.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "activity/format.hpp"

namespace perfgate::activity {

struct Recording {
    /// As the recorder wrote them: `pid`, `start`, `command`, `level`, `cupti`, `rank` ….
    std::map<std::string, std::string> header;
    Records records;
    std::vector<std::string> strings;                 ///< by StringId; [0] is empty
    std::vector<LaunchConfiguration> configurations;  ///< by id; [0] is none
    Counts counts;
    std::string end;  ///< how recording ended; empty where nothing says

    /// Why this is not the whole activity of the process; empty: it is. One line each, from the
    /// file and so to be made printable.
    std::vector<std::string> incomplete;

    [[nodiscard]] const std::string& text(StringId id) const { return strings[id]; }
    /// The header's field as text; empty where it is absent.
    [[nodiscard]] const std::string& field(const std::string& key) const;
    /// The recording has the calls that wait, allocate or break a capture.
    [[nodiscard]] bool has_calls() const {
        return field("level") == "api" || field("waits") == "1";
    }
};

/// Reads a recording as from an enemy. What is cut, damaged or not known makes it incomplete from
/// there on. Throws InputError where the file cannot be read, is no recording at all, or is one of
/// another version.
Recording read_recording(const std::filesystem::path& file);

/// The same for a file's content; `source` names it in messages.
Recording parse_recording(std::string_view content, std::string_view source);

/// The recordings in a folder (*.activity), by name. Throws InputError for a folder that cannot be
/// read or has none.
std::vector<std::filesystem::path> recordings_in(const std::filesystem::path& folder);

}  // namespace perfgate::activity
