// SPDX-License-Identifier: Apache-2.0
// The memory of a process, read so that no address can do harm.
#pragma once

#include <sys/types.h>
#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

namespace perfgate::stacks {

using Address = std::uint64_t;

class Memory {
  public:
    explicit Memory(pid_t process) : process_(process) {}

    /// False if not all of it can be read: nothing is mapped there, or that is not allowed.
    bool read(Address from, void* to, std::size_t size) const noexcept {
        const iovec local{to, size};
        const iovec remote{reinterpret_cast<void*>(from), size};
        return from != 0 &&
               process_vm_readv(process_, &local, 1, &remote, 1, 0) == static_cast<ssize_t>(size);
    }
    template <class Value>
    bool read(Address from, Value& to) const noexcept {
        return read(from, &to, sizeof(to));
    }

    /// How many bytes of `parts`, read one behind the other, could be read until one could not.
    std::size_t read(const std::vector<iovec>& parts, void* to, std::size_t size) const noexcept {
        const iovec local{to, size};
        const ssize_t count = process_vm_readv(process_, &local, 1, parts.data(), parts.size(), 0);
        return count < 0 ? 0 : static_cast<std::size_t>(count);
    }

  private:
    pid_t process_;
};

/// The reads of a look, which are mostly those of the look before: these are repeated by one call.
class RepeatedReads {
  public:
    explicit RepeatedReads(const Memory& memory) : memory_(memory) {}

    /// Begins a look.
    void repeat() {
        parts_.swap(next_);
        next_.clear();
        std::size_t size = 0;
        for (const iovec& part : parts_) size += part.iov_len;
        bytes_.resize(size);
        valid_ = parts_.empty() ? 0 : memory_.read(parts_, bytes_.data(), size);
        at_ = offset_ = 0;
    }

    /// As Memory::read.
    bool read(Address from, void* to, std::size_t size) {
        auto* const address = reinterpret_cast<void*>(from);
        if (next_.size() < most_parts && size != 0) next_.push_back({address, size});
        // What was called returned meanwhile, or calls more: the rest is in the same order.
        for (std::size_t i = at_, offset = offset_; i < parts_.size(); ++i) {
            if (parts_[i].iov_base == address && parts_[i].iov_len == size &&
                offset + size <= valid_) {
                std::memcpy(to, bytes_.data() + offset, size);
                at_ = i + 1;
                offset_ = offset + size;
                return true;
            }
            offset += parts_[i].iov_len;
        }
        return memory_.read(from, to, size);
    }
    template <class Value>
    bool read(Address from, Value& to) {
        return read(from, &to, sizeof(to));
    }

  private:
    static constexpr std::size_t most_parts = 1024;  // of the call

    Memory memory_;
    std::vector<iovec> parts_, next_;
    std::vector<std::byte> bytes_;
    std::size_t valid_ = 0, at_ = 0, offset_ = 0;
};

// The files that are mapped into a process.

struct Mapping {
    Address begin = 0, end = 0;
    std::string file;         ///< with the words that the kernel adds: " (deleted)"
    std::uint64_t inode = 0;  ///< of the file
    bool executable = false;
};

/// By address; none if the process has ended or may not be looked at.
std::vector<Mapping> mappings_of(pid_t process);
/// Where the file is mapped first.
std::optional<Address> first_of(const std::vector<Mapping>& mappings, const std::string& file);

}  // namespace perfgate::stacks
