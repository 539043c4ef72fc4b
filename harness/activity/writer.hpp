// SPDX-License-Identifier: Apache-2.0
// Writes a recording from inside the recorded program, so it must not harm that program: nothing
// throws, nothing is printed, the file is bounded, a full disk ends the recording and not the
// program. Needs zlib alone.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "activity/format.hpp"

namespace perfgate::activity {

/// For containers of texts that are searched without making a std::string.
struct TextHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
        return std::hash<std::string_view>{}(text);
    }
};

/// One file. All functions may be called from any thread.
class Writer {
  public:
    Writer() = default;
    ~Writer();                             ///< closes the file, without an `end` block
    Writer& operator=(Writer&&) = delete;  // nor copied

    using Header = std::vector<std::pair<std::string, std::string>>;

    /// Creates `path`, which must not exist, and writes prologue and header. The file never grows
    /// beyond `limit_bytes`. 0, or the errno.
    int open(const char* path, const Header& header, std::uint64_t limit_bytes) noexcept;

    [[nodiscard]] bool is_open() const noexcept { return descriptor_ >= 0; }

    /// The id to refer to the text by; 0 where memory ran out or records are refused.
    StringId string(std::string_view text) noexcept;
    /// The id of the configuration, whose own is ignored.
    std::uint32_t configuration(LaunchConfiguration configuration) noexcept;

    /// Writes the records, in one write where they fit a few blocks. False: they are not in the
    /// file, because it is full or could not be written; from then on all calls are refused.
    bool append(const Records& records) noexcept;
    bool append(const Counts& counts) noexcept;
    /// A reason why the recording is incomplete: one line of UTF-8.
    bool problem(std::string_view text) noexcept;

    /// Writes the `end` block and closes the file.
    void end(std::string_view how) noexcept;

    /// After fork, in the child: closes the descriptor and takes no lock, as the parent's other
    /// threads may have held it.
    void abandon() noexcept;

  private:
    struct Interned {
        std::unordered_map<std::string, std::uint32_t, TextHash, std::equal_to<>> ids;
        std::uint32_t next = 1;
        std::size_t bytes = 0;  ///< of the keys
    };

    static std::uint32_t intern(Interned& known, std::string_view key, bool& added);
    void add_block(BlockKind kind, std::span<const std::byte> payload);
    void add_text_block(BlockKind kind, std::string_view text);
    void add_names();
    bool write_blocks(std::uint64_t limit);
    bool write_records();
    void fail(int error) noexcept;

    std::mutex mutex_;
    int descriptor_ = -1;
    std::uint64_t limit_bytes_ = 0;
    std::uint64_t written_bytes_ = 0;
    /// Nothing more is kept or written but counts, problems and the end: the file is full or
    /// closed, or a write failed.
    std::atomic<bool> refused_{true};
    int failure_ = 0;  ///< errno of a failed write; not yet in the file
    Interned strings_, configurations_;
    std::vector<std::byte> new_strings_;
    std::vector<LaunchConfiguration> new_configurations_;
    std::vector<std::byte> blocks_;  ///< about to be written
};

}  // namespace perfgate::activity
