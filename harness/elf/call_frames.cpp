// SPDX-License-Identifier: Apache-2.0
#include "elf/call_frames.hpp"

#include <string_view>
#include <utility>
#include <vector>

#include "elf/cursor.hpp"

namespace perfgate::elf {
namespace {

constexpr std::uint32_t longest_entry = 1U << 16;
constexpr std::size_t most_remembered = 16;

// Registers by their DWARF numbers for x86-64.
constexpr std::uint64_t frame_pointer = 6, stack_pointer = 7, return_address = 16;

// Names as in the DWARF standard, version 5, section 7.24.
namespace call_frame {
enum : std::uint8_t {
    nop = 0x00,
    advance_loc1 = 0x02,
    advance_loc2 = 0x03,
    advance_loc4 = 0x04,
    offset_extended = 0x05,
    restore_extended = 0x06,
    undefined = 0x07,
    same_value = 0x08,
    in_register = 0x09,
    remember_state = 0x0a,
    restore_state = 0x0b,
    def_cfa = 0x0c,
    def_cfa_register = 0x0d,
    def_cfa_offset = 0x0e,
    def_cfa_expression = 0x0f,
    expression = 0x10,
    offset_extended_sf = 0x11,
    def_cfa_sf = 0x12,
    def_cfa_offset_sf = 0x13,
    val_offset = 0x14,
    val_expression = 0x16,
    gnu_args_size = 0x2e,
    // The highest two bits; the others are an operand.
    advance_loc = 0x40,
    offset = 0x80,
    restore = 0xc0,
};
}  // namespace call_frame

template <class Number>
Number read(const ModuleMemory& memory, std::uint64_t from) {
    Number value{};
    if (!memory(from, &value, sizeof value)) damaged_cubin("a table ends too early");
    return value;
}

/// A number in one of the formats of the exception tables (LSB, section 10.5); `at` is its address.
std::uint64_t encoded(Cursor& from, std::uint8_t encoding, std::uint64_t at) {
    std::uint64_t value = 0;
    switch (encoding & 0x0f) {
        case 0x00:
        case 0x04:
        case 0x0c:
            value = from.number<std::uint64_t>();
            break;
        case 0x03:
            value = from.number<std::uint32_t>();
            break;
        case 0x0b:
            value = static_cast<std::uint64_t>(std::int64_t{from.number<std::int32_t>()});
            break;
        default:
            damaged_cubin("a number is of unknown format");
    }
    const int base = encoding & 0x70;
    if (base != 0 && base != 0x10) damaged_cubin("a number is of unknown format");
    return base == 0 ? value : value + at;
}

/// Bytes of a module and where they are in memory.
struct Entry {
    std::uint64_t at = 0;  ///< of the first of them
    std::vector<char> bytes;
};

Entry entry_at(const ModuleMemory& memory, std::uint64_t at) {
    const auto length = read<std::uint32_t>(memory, at);
    if (length == 0 || length > longest_entry) damaged_cubin("a table has a wrong length");
    Entry entry{at + sizeof length, std::vector<char>(length)};
    if (!memory(entry.at, entry.bytes.data(), length)) damaged_cubin("a table ends too early");
    return entry;
}

/// What entries have in common.
struct Common {
    std::uint64_t code_factor = 1;
    std::int64_t data_factor = 1;
    std::uint8_t encoding = 0;  ///< of addresses
    bool sized = false;         ///< entries have augmentation data
    std::span<const char> instructions;
};

Common common_of(const Entry& entry) {
    Cursor from(entry.bytes);
    Common common;
    if (from.number<std::uint32_t>() != 0) damaged_cubin("a table has no head");
    const auto version = from.number<std::uint8_t>();
    if (version != 1 && version != 3) damaged_cubin("a table is of unknown version");
    std::string_view letters = from.text();
    common.code_factor = from.uleb();
    common.data_factor = from.sleb();
    const std::uint64_t register_of_return =
        version == 1 ? from.number<std::uint8_t>() : from.uleb();
    if (register_of_return != return_address) damaged_cubin("a table is of another machine");
    if (letters.starts_with('z')) {
        common.sized = true;
        Cursor data(from.bytes(from.uleb()));
        for (const char letter : letters.substr(1)) {
            if (letter == 'R') {
                common.encoding = data.number<std::uint8_t>();
            } else if (letter == 'L') {
                data.number<std::uint8_t>();
            } else if (letter == 'P') {
                const auto encoding = data.number<std::uint8_t>();
                encoded(data, encoding & 0x0f, 0);
            } else {  // 'S': the kernel called it for a signal, where registers are elsewhere
                damaged_cubin("a table has an unknown augmentation");
            }
        }
    } else if (!letters.empty()) {
        damaged_cubin("a table has an unknown augmentation");
    }
    common.instructions = from.rest();
    return common;
}

class Rows {
  public:
    Rows(const Common& common, std::uint64_t first, std::uint64_t address)
        : common_(common), at_(first), address_(address) {
        run(common.instructions);
        initial_ = row_;
    }

    FrameRule after(std::span<const char> instructions) {
        run(instructions);
        return row_;
    }

  private:
    /// The registers that are of interest; others only have their operands read.
    void saved(std::uint64_t number, std::optional<std::int64_t> where) {
        if (number == frame_pointer) {
            row_.frame_pointer = where;
            row_.saves_frame_pointer = true;
        } else if (number == return_address) {
            row_.return_address = where;
        }
    }
    void restored(std::uint64_t number) {
        if (number == frame_pointer) {
            row_.frame_pointer = initial_.frame_pointer;
            row_.saves_frame_pointer = initial_.saves_frame_pointer;
        } else if (number == return_address) {
            row_.return_address = initial_.return_address;
        }
    }
    void based_on(std::uint64_t number) {
        row_.base = number == stack_pointer   ? FrameRule::Base::stack_pointer
                    : number == frame_pointer ? FrameRule::Base::frame_pointer
                                              : FrameRule::Base::none;
        row_.frame_pointer_since = at_;
    }
    std::int64_t scaled(std::int64_t number) const {
        // Of hostile numbers nothing is needed but that they do no harm.
        return static_cast<std::int64_t>(static_cast<std::uint64_t>(number) *
                                         static_cast<std::uint64_t>(common_.data_factor));
    }

    void run(std::span<const char> instructions) {
        Cursor from(instructions);
        while (!from.at_end() && at_ <= address_) {
            const auto opcode = from.number<std::uint8_t>();
            const std::uint8_t operand = opcode & 0x3f;
            switch (opcode & 0xc0) {
                case call_frame::advance_loc:
                    advance(operand, from);
                    break;
                case call_frame::offset:
                    saved(operand, scaled(static_cast<std::int64_t>(from.uleb())));
                    break;
                case call_frame::restore:
                    restored(operand);
                    break;
                default:
                    run(opcode, from);
            }
        }
    }

    /// The instructions behind it are for code further on.
    void advance(std::uint64_t units, Cursor& from) {
        at_ += units * common_.code_factor;
        if (at_ > address_) from.bytes(from.rest().size());
    }

    void run(std::uint8_t opcode, Cursor& from) {
        std::uint64_t number = 0;
        switch (opcode) {
            case call_frame::nop:
                break;
            case call_frame::advance_loc1:
                advance(from.number<std::uint8_t>(), from);
                break;
            case call_frame::advance_loc2:
                advance(from.number<std::uint16_t>(), from);
                break;
            case call_frame::advance_loc4:
                advance(from.number<std::uint32_t>(), from);
                break;
            case call_frame::offset_extended:
                number = from.uleb();
                saved(number, scaled(static_cast<std::int64_t>(from.uleb())));
                break;
            case call_frame::offset_extended_sf:
                number = from.uleb();
                saved(number, scaled(from.sleb()));
                break;
            case call_frame::restore_extended:
                restored(from.uleb());
                break;
            case call_frame::undefined:
                saved(from.uleb(), std::nullopt);
                break;
            case call_frame::same_value:
                if (from.uleb() == frame_pointer) row_.saves_frame_pointer = false;
                break;
            case call_frame::in_register:
            case call_frame::val_offset:
                saved(from.uleb(), std::nullopt);
                from.uleb();
                break;
            case call_frame::expression:
            case call_frame::val_expression:
                saved(from.uleb(), std::nullopt);
                from.bytes(from.uleb());
                break;
            case call_frame::remember_state:
                if (remembered_.size() == most_remembered) damaged_cubin("a table is too deep");
                remembered_.push_back(row_);
                break;
            case call_frame::restore_state:
                if (remembered_.empty()) damaged_cubin("a table restores what it has not kept");
                row_ = remembered_.back();
                remembered_.pop_back();
                break;
            case call_frame::def_cfa:
                based_on(from.uleb());
                row_.cfa_offset = static_cast<std::int64_t>(from.uleb());
                break;
            case call_frame::def_cfa_sf:
                based_on(from.uleb());
                row_.cfa_offset = scaled(from.sleb());
                break;
            case call_frame::def_cfa_register:
                based_on(from.uleb());
                break;
            case call_frame::def_cfa_offset:
                row_.cfa_offset = static_cast<std::int64_t>(from.uleb());
                break;
            case call_frame::def_cfa_offset_sf:
                row_.cfa_offset = scaled(from.sleb());
                break;
            case call_frame::def_cfa_expression:
                row_.base = FrameRule::Base::none;
                from.bytes(from.uleb());
                break;
            case call_frame::gnu_args_size:
                from.uleb();
                break;
            default:
                damaged_cubin("a table has an unknown instruction");
        }
    }

    const Common& common_;
    std::uint64_t at_, address_;
    FrameRule row_, initial_;
    std::vector<FrameRule> remembered_;
};

/// The entry that may describe the instruction: the last one that begins before it.
std::uint64_t search(const ModuleMemory& memory, std::uint64_t table, std::uint64_t address) {
    // Version 1, an address of 4 bytes, their number, then pairs of offsets from the table's begin.
    constexpr std::uint32_t usual_formats = 0x3b031b01;
    struct Pair {
        std::int32_t code, entry;
    };
    if (read<std::uint32_t>(memory, table) != usual_formats) {
        damaged_cubin("a table is of unknown version");
    }
    const std::uint64_t first = table + 12;
    std::uint64_t low = 0, high = read<std::uint32_t>(memory, table + 8);
    const auto distance = static_cast<std::int64_t>(address - table);
    Pair found{};
    while (low < high) {
        const std::uint64_t middle = low + (high - low) / 2;
        const auto pair = read<Pair>(memory, first + middle * sizeof(Pair));
        if (pair.code <= distance) {
            found = pair;
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    if (low == 0) damaged_cubin("a table lacks an address");
    return table + static_cast<std::uint64_t>(std::int64_t{found.entry});
}

}  // namespace

FrameRule frame_rule(const ModuleMemory& memory, std::uint64_t table, std::uint64_t address) {
    const Entry entry = entry_at(memory, search(memory, table, address));
    Cursor from(entry.bytes);
    const auto back = from.number<std::uint32_t>();
    if (back == 0) damaged_cubin("a table has a wrong entry");
    const Entry head = entry_at(memory, entry.at - back);
    const Common common = common_of(head);
    const auto place = [&] {
        return entry.at + static_cast<std::uint64_t>(from.position() - entry.bytes.data());
    };
    const std::uint64_t begin = encoded(from, common.encoding, place());
    const std::uint64_t size = encoded(from, common.encoding & 0x0f, 0);
    if (address < begin || address - begin >= size) damaged_cubin("a table lacks an address");
    if (common.sized) from.bytes(from.uleb());
    FrameRule rule = Rows(common, begin, address).after(from.rest());
    rule.function = begin;
    return rule;
}

}  // namespace perfgate::elf
