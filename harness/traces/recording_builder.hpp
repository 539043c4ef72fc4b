// SPDX-License-Identifier: Apache-2.0
// Puts a recording together from the records of another profiler: each text and launch
// configuration once, within limits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "activity/recording.hpp"

namespace perfgate::traces {

/// Limits of a file, whose processes share them; a Timeline needs about 150 bytes for each record.
inline constexpr std::size_t most_records = std::size_t{1} << 24;
inline constexpr std::size_t most_text_bytes = std::size_t{256} << 20;

/// How much of its limits the builders of one file have taken.
struct Taken {
    std::size_t records = 0, text_bytes = 0;
};

class RecordingBuilder {
  public:
    /// `source` names the file in messages; `taken` must outlive the builder.
    RecordingBuilder(std::string source, std::string tool, Taken& taken);

    /// What comes without an end (0), or ends before it begins, is only counted.
    bool has_time(std::uint64_t begin_ns, std::uint64_t end_ns);

    /// Cut where it is longer than any text of a recording.
    activity::StringId text(std::string_view text);
    /// The id of the configuration, whose own does not count.
    std::uint32_t configuration(activity::LaunchConfiguration launch);
    /// Without an end the range stays open.
    void add_range(std::uint64_t begin_ns, std::optional<std::uint64_t> end_ns,
                   activity::Marker begin, std::uint32_t end_thread);

    template <class Record>
    void add(std::vector<Record>& records, const Record& record) {
        count_record();
        records.push_back(record);
    }

    activity::Records& records() { return recording_.records; }
    [[nodiscard]] const activity::Records& records() const { return recording_.records; }
    std::string& header(const std::string& key) { return recording_.header[key]; }
    void add_problem(std::string problem);

    /// Work whose call launched a graph is a graph's, where the records do not say so themselves.
    activity::Recording take();

  private:
    struct TextHash {
        using is_transparent = void;
        std::size_t operator()(std::string_view text) const {
            return std::hash<std::string_view>()(text);
        }
    };

    void count_record();
    /// Launches that failed, or whose work is not on record: a program that does less looks faster.
    void check_launches();

    std::string source_;
    activity::Recording recording_;
    std::unordered_map<std::string, activity::StringId, TextHash, std::equal_to<>> texts_;
    std::unordered_map<std::string, std::uint32_t, TextHash, std::equal_to<>> configurations_;
    Taken& taken_;
    std::uint32_t ranges_ = 0;
};

}  // namespace perfgate::traces
