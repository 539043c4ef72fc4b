// SPDX-License-Identifier: Apache-2.0
// The outputs of `perfgate profile`: a database, a trace, the data of its page, and a document.
// Each is in a .cpp file of its own.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "activity/profile.hpp"
#include "activity/timeline.hpp"

namespace perfgate::activity {

// Recordings as a SQLite database (docs/profile-database.md).

/// All that is on record, with one profile for each process. The file is replaced when the new one
/// is whole. Throws Error where it cannot be written.
void write_database(const std::filesystem::path& file, const std::vector<Timeline>& processes,
                    const std::vector<Profile>& profiles);

// Recordings in the Trace Event Format, which Perfetto and chrome://tracing read: streams as
// threads of a device, NVTX ranges and API calls on the host's threads, a flow from each launch to
// its work.

/// Times are microseconds from the first record of all processes, as the format wants them.
std::string write_trace(const std::vector<Timeline>& processes);

// Data of the page of `perfgate profile --report html:FILE` (profile_fields.hpp), as JSON on one
// line. It has no version, because the page comes from the same build.

struct PageLimits {
    std::size_t events = 200'000;  ///< of all timelines together
    std::size_t processes = 16;
    std::size_t tracks = 128;            ///< of a process
    std::size_t rows = 1000;             ///< of a table
    std::size_t text_bytes = 8'000'000;  ///< of names; what comes later is cut short
};

/// The page says what the limits leave out. Names are made printable, but may contain markup: the
/// page's writer escapes it.
std::string page_data(const std::vector<Timeline>& processes, const std::vector<Profile>& profiles,
                      const PageLimits& limits = {});

// Profiles as a document.

/// JSON, schema "perfgate.profile" version 1: one element for each process.
std::string write_profiles(const std::vector<Profile>& profiles);

/// Throws util::InputError, with the place, for a text that is no such document.
std::vector<Profile> parse_profiles(std::string_view json, std::string_view source);

}  // namespace perfgate::activity
