// SPDX-License-Identifier: Apache-2.0
// Numbers and texts of DWARF, one behind the other.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <type_traits>

#include "elf/elf_image.hpp"

namespace perfgate::elf {

/// Reads from the front. Throws util::InputError at the end.
class Cursor {
  public:
    explicit Cursor(std::span<const char> bytes) : left_(bytes) {}

    bool at_end() const { return left_.empty(); }
    const char* position() const { return left_.data(); }
    std::span<const char> rest() const { return left_; }

    std::span<const char> bytes(std::uint64_t count) {
        if (count > left_.size()) damaged_cubin("a table ends too early");
        const std::span<const char> taken = left_.first(count);
        left_ = left_.subspan(count);
        return taken;
    }

    template <class Number>
    Number number() {
        static_assert(std::is_integral_v<Number>);
        Number value = 0;
        std::memcpy(&value, bytes(sizeof value).data(), sizeof value);
        return value;
    }

    std::uint64_t uleb() { return leb().bits; }

    std::int64_t sleb() {
        const Leb value = leb();
        std::uint64_t bits = value.bits;
        if (value.negative && value.width < 64) bits |= ~std::uint64_t{0} << value.width;
        return static_cast<std::int64_t>(bits);
    }

    std::string_view text() {
        const std::string_view found = elf_text(left_, 0);
        bytes(found.size() + 1);
        return found;
    }

  private:
    struct Leb {
        std::uint64_t bits = 0;
        unsigned width = 0;
        bool negative = false;  ///< its highest bit
    };
    Leb leb() {
        Leb value;
        for (;;) {
            const auto byte = number<std::uint8_t>();
            if (value.width >= 64) damaged_cubin("a number of a table is too long");
            value.bits |= std::uint64_t{byte & 0x7fU} << value.width;
            value.width += 7;
            value.negative = (byte & 0x40U) != 0;
            if ((byte & 0x80U) == 0) return value;
        }
    }

    std::span<const char> left_;
};

}  // namespace perfgate::elf
