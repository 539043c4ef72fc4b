// SPDX-License-Identifier: Apache-2.0
// The memory of a process, read so that no address can do harm.
#pragma once

#include <sys/types.h>
#include <sys/uio.h>

#include <cstddef>
#include <cstdint>

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

  private:
    pid_t process_;
};

}  // namespace perfgate::stacks
