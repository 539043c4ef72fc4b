// SPDX-License-Identifier: Apache-2.0
#include "activity/writer.hpp"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>

namespace perfgate::activity {
namespace {

/// What is kept free for the counts, problems and the end of a recording that is full.
constexpr std::uint64_t reserve_bytes = std::uint64_t{64} << 10;
/// Texts of a program without end ("step 1", "step 2", …) must not fill its memory: the table is
/// emptied at this size, and a text that comes again has a second id.
constexpr std::size_t max_interned = std::size_t{1} << 16;
constexpr std::size_t max_interned_bytes = std::size_t{64} << 20;
/// Blocks are cut to this, so that a torn file loses little.
constexpr std::size_t block_bytes = std::size_t{1} << 20;

template <class Value>
std::span<const std::byte> bytes_of(const Value& value) {
    return std::as_bytes(std::span(&value, 1));
}

std::span<const std::byte> bytes_of(std::string_view text) {
    return std::as_bytes(std::span(text));
}

void add_bytes(std::vector<std::byte>& to, std::span<const std::byte> bytes) {
    to.insert(to.end(), bytes.begin(), bytes.end());
}

void add_text(std::vector<std::byte>& to, std::string_view text) {
    const auto length = static_cast<std::uint32_t>(text.size());
    add_bytes(to, bytes_of(length));
    add_bytes(to, bytes_of(text));
}

/// A write beyond the program's limit on file sizes raises SIGXFSZ, which would end the program.
class WithoutSizeSignal {
  public:
    WithoutSizeSignal() {
        sigemptyset(&size_);
        sigaddset(&size_, SIGXFSZ);
        pthread_sigmask(SIG_BLOCK, &size_, &before_);
    }
    ~WithoutSizeSignal() {
        if (raised_ && sigismember(&before_, SIGXFSZ) == 0) {
            const timespec now{};
            sigtimedwait(&size_, nullptr, &now);
        }
        pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    }
    WithoutSizeSignal& operator=(WithoutSizeSignal&&) = delete;  // nor copied

    void raised() { raised_ = true; }

  private:
    sigset_t size_{}, before_{};
    bool raised_ = false;
};

/// 0, or the errno.
int write_all(int descriptor, std::span<const std::byte> bytes) {
    WithoutSizeSignal signal;
    while (!bytes.empty()) {
        const ssize_t count = ::write(descriptor, bytes.data(), bytes.size());
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) {
            const int error = errno;
            if (error == EFBIG) signal.raised();
            return error;
        }
        bytes = bytes.subspan(static_cast<std::size_t>(count));
    }
    return 0;
}

}  // namespace

Writer::~Writer() {
    if (descriptor_ >= 0) ::close(descriptor_);
}

int Writer::open(const char* path, const Header& header, std::uint64_t limit_bytes) noexcept {
    try {
        const std::lock_guard lock(mutex_);
        const int descriptor =
            ::open(path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC | O_NOCTTY, 0666);
        if (descriptor < 0) return errno;
        descriptor_ = descriptor;
        limit_bytes_ = limit_bytes;
        const Prologue prologue;
        add_bytes(blocks_, bytes_of(prologue));
        std::vector<std::byte> payload;
        for (const auto& [key, value] : header) {
            add_text(payload, std::string_view(key).substr(0, max_string_bytes));
            add_text(payload, std::string_view(value).substr(0, max_string_bytes));
        }
        add_block(BlockKind::header, payload);
        if (!write_blocks(limit_bytes)) return ENOSPC;
        refused_ = false;
        return 0;
    } catch (...) {
        return ENOMEM;
    }
}

std::uint32_t Writer::intern(Interned& known, std::string_view key, bool& added) {
    const auto found = known.ids.find(key);
    added = found == known.ids.end();
    if (!added) return found->second;
    if (known.ids.size() >= max_interned || known.bytes >= max_interned_bytes) {
        known.ids.clear();
        known.bytes = 0;
    }
    known.ids.emplace(key, known.next);
    known.bytes += key.size();
    return known.next++;
}

StringId Writer::string(std::string_view text) noexcept {
    // Asked before the lock, which may stay locked in a child after fork.
    if (text.empty() || refused_) return 0;
    text = text.substr(0, max_string_bytes);
    const std::lock_guard lock(mutex_);
    if (refused_) return 0;
    try {
        bool added = false;
        const std::uint32_t id = intern(strings_, text, added);
        if (added) {
            add_bytes(new_strings_, bytes_of(id));
            add_text(new_strings_, text);
        }
        if (new_strings_.size() >= block_bytes) {
            add_names();
            write_records();
        }
        return id;
    } catch (...) {
        fail(ENOMEM);
        return 0;
    }
}

std::uint32_t Writer::configuration(LaunchConfiguration configuration) noexcept {
    if (refused_) return 0;
    configuration.id = 0;
    const std::string_view key(reinterpret_cast<const char*>(&configuration),
                               sizeof(configuration));
    const std::lock_guard lock(mutex_);
    if (refused_) return 0;
    try {
        bool added = false;
        const std::uint32_t id = intern(configurations_, key, added);
        if (added) {
            configuration.id = id;
            new_configurations_.push_back(configuration);
        }
        return id;
    } catch (...) {
        fail(ENOMEM);
        return 0;
    }
}

void Writer::add_block(BlockKind kind, std::span<const std::byte> payload) {
    BlockHeader header;
    header.kind = static_cast<std::uint32_t>(kind);
    header.payload_bytes = static_cast<std::uint32_t>(payload.size());
    header.checksum = block_checksum(header, payload);
    add_bytes(blocks_, bytes_of(header));
    add_bytes(blocks_, payload);
}

void Writer::add_text_block(BlockKind kind, std::string_view text) {
    std::vector<std::byte> payload;
    add_text(payload, text.substr(0, max_string_bytes));
    add_block(kind, payload);
}

void Writer::add_names() {
    // Strings are whole in a block, so they are cut between two.
    std::span<const std::byte> strings(new_strings_);
    while (!strings.empty()) {
        std::size_t size = 0;
        while (size < strings.size() && size < block_bytes) {
            std::uint32_t length = 0;
            std::memcpy(&length, strings.data() + size + sizeof(StringId), sizeof(length));
            size += sizeof(StringId) + sizeof(length) + length;
        }
        add_block(BlockKind::strings, strings.first(size));
        strings = strings.subspan(size);
    }
    new_strings_.clear();
    std::span<const LaunchConfiguration> configurations(new_configurations_);
    while (!configurations.empty()) {
        const auto part = configurations.first(
            std::min(configurations.size(), block_bytes / sizeof(LaunchConfiguration)));
        add_block(BlockKind::configurations, std::as_bytes(part));
        configurations = configurations.subspan(part.size());
    }
    new_configurations_.clear();
}

void Writer::fail(int error) noexcept {
    blocks_.clear();
    refused_ = true;
    failure_ = error;
}

bool Writer::write_blocks(std::uint64_t limit) {
    if (written_bytes_ + blocks_.size() > limit) {
        blocks_.clear();
        return false;
    }
    if (const int error = write_all(descriptor_, blocks_); error != 0) {
        // What is there stays whole: the torn block is cut off again.
        (void)!::ftruncate(descriptor_, static_cast<off_t>(written_bytes_));
        fail(error);
        return false;
    }
    written_bytes_ += blocks_.size();
    blocks_.clear();
    return true;
}

/// Writes the blocks, or refuses all that follow.
bool Writer::write_records() {
    if (write_blocks(limit_bytes_ - std::min(limit_bytes_, reserve_bytes))) return true;
    if (refused_) return false;
    refused_ = true;
    add_text_block(BlockKind::problem, "the recording reached its limit of " +
                                           std::to_string(limit_bytes_ >> 20) +
                                           " MiB, so that what came later is missing");
    write_blocks(limit_bytes_);
    return false;
}

bool Writer::append(const Records& records) noexcept {
    if (refused_) return false;
    const std::lock_guard lock(mutex_);
    if (refused_) return false;
    try {
        add_names();
        for_each_kind(records, [&](BlockKind kind, const auto& all) {
            auto rest = std::span(all);
            while (!rest.empty()) {
                const auto part = rest.first(std::min(rest.size(), block_bytes / sizeof(rest[0])));
                add_block(kind, std::as_bytes(part));
                rest = rest.subspan(part.size());
            }
        });
        return write_records();
    } catch (...) {
        fail(ENOMEM);
        return false;
    }
}

bool Writer::append(const Counts& counts) noexcept {
    const std::lock_guard lock(mutex_);
    if (descriptor_ < 0) return false;
    try {
        add_block(BlockKind::counts, bytes_of(counts));
        return write_blocks(limit_bytes_);
    } catch (...) {
        fail(ENOMEM);
        return false;
    }
}

bool Writer::problem(std::string_view text) noexcept {
    const std::lock_guard lock(mutex_);
    if (descriptor_ < 0) return false;
    try {
        add_text_block(BlockKind::problem, text);
        return write_blocks(limit_bytes_);
    } catch (...) {
        fail(ENOMEM);
        return false;
    }
}

void Writer::end(std::string_view how) noexcept {
    const std::lock_guard lock(mutex_);
    if (descriptor_ < 0) return;
    try {
        if (!refused_) add_names();
        // In one write with the end: a recording that has one tells all that is known.
        if (failure_ != 0) {
            add_text_block(BlockKind::problem, std::string("the recording could not be written: ") +
                                                   std::strerror(failure_));
        }
        add_text_block(BlockKind::end, how);
        write_blocks(limit_bytes_);
    } catch (...) {
        blocks_.clear();
    }
    ::close(descriptor_);
    descriptor_ = -1;
    refused_ = true;
}

void Writer::abandon() noexcept {
    refused_ = true;
    if (descriptor_ >= 0) ::close(descriptor_);
    descriptor_ = -1;
}

}  // namespace perfgate::activity
