// SPDX-License-Identifier: Apache-2.0
#include "elf/cubin.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <exception>
#include <filesystem>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "elf/cursor.hpp"
#include "util/text.hpp"

namespace perfgate::elf {
namespace {

constexpr std::size_t longest_path = 4096;
constexpr std::size_t most_files = 65536;  ///< of a unit; and as many folders

// Names as in the DWARF standard, version 5, sections 6.2 and 7.22, without their prefixes.
namespace standard_opcode {
enum : std::uint8_t {
    copy = 1,
    advance_pc = 2,
    advance_line = 3,
    set_file = 4,
    const_add_pc = 8,
    fixed_advance_pc = 9,
};
}  // namespace standard_opcode
namespace extended_opcode {
enum : std::uint8_t {
    end_sequence = 1,
    set_address = 2,
    define_file = 3,
    /// NVIDIA's: the following rows are of a function that was inlined at the row of that number in
    /// the sequence; 0: of the function itself. The offset of the inlined one's name follows.
    inlined_call = 0x90,
};
}  // namespace extended_opcode
namespace content_type {
enum : std::uint8_t { path = 1, directory_index = 2 };
}  // namespace content_type
namespace form {
enum : std::uint8_t {
    data2 = 0x05,
    data4 = 0x06,
    data8 = 0x07,
    string = 0x08,
    block = 0x09,
    data1 = 0x0b,
    strp = 0x0e,
    udata = 0x0f,
    data16 = 0x1e,
    line_strp = 0x1f,
};
}  // namespace form

struct File {
    std::string_view name;
    std::uint64_t folder = 0;
};

/// What a unit begins with.
struct Header {
    std::uint16_t version = 0;
    std::uint8_t instruction_bytes = 1;
    std::int8_t line_base = 0;
    std::uint8_t line_range = 1;
    std::uint8_t opcode_base = 1;
    std::vector<std::uint8_t> operands;  ///< of the standard opcodes, from 1
    std::vector<std::string_view> folders;
    std::vector<File> files;
};

/// Tables of names that version 5 refers to.
struct Names {
    std::span<const char> strings, line_strings;
};

template <class Entry>
void add(Entry entry, std::vector<Entry>& list) {
    if (list.size() >= most_files) damaged_cubin("its line table has too many files");
    list.push_back(std::move(entry));
}

File plain_file(std::string_view name, Cursor& from) {
    const File file{name, from.uleb()};
    from.uleb();  // time
    from.uleb();  // size
    return file;
}

/// Versions 2 to 4 count files from 1 and folders from 1; folder 0, the compiler's, is not in the
/// table.
void read_plain_names(Cursor& from, Header& header) {
    header.folders.emplace_back();
    header.files.emplace_back();
    for (;;) {
        const std::string_view folder = from.text();
        if (folder.empty()) break;
        add(folder, header.folders);
    }
    for (;;) {
        const std::string_view name = from.text();
        if (name.empty()) break;
        add(plain_file(name, from), header.files);
    }
}

/// As elf_text. Entries share texts, so that a long one would be searched for its end many times.
std::string_view text_at(std::span<const char> strings, std::uint64_t offset) {
    if (offset >= strings.size()) damaged_cubin("a name is outside its table");
    const std::span<const char> from = strings.subspan(offset);
    return elf_text(from.first(std::min(from.size(), longest_path + 1)), 0);
}

/// One of version 5's values, as text or as a number.
struct Value {
    std::string_view text;
    std::uint64_t number = 0;
};

/// Each form takes at least a byte, so that the table bounds the number of entries.
Value value_of(std::uint64_t kind, Cursor& from, const Names& names) {
    switch (kind) {
        case form::string:
            return {from.text()};
        case form::strp:
            return {text_at(names.strings, from.number<std::uint32_t>())};
        case form::line_strp:
            return {text_at(names.line_strings, from.number<std::uint32_t>())};
        case form::udata:
            return {{}, from.uleb()};
        case form::data1:
            return {{}, from.number<std::uint8_t>()};
        case form::data2:
            return {{}, from.number<std::uint16_t>()};
        case form::data4:
            return {{}, from.number<std::uint32_t>()};
        case form::data8:
            return {{}, from.number<std::uint64_t>()};
        case form::data16:
            from.bytes(16);
            return {};
        case form::block:
            from.bytes(from.uleb());
            return {};
        default:
            damaged_cubin("its line table has a value of unknown form");
    }
}

/// A list of version 5: its format, then as many entries as it says.
std::vector<File> read_entries(Cursor& from, const Names& names) {
    std::vector<std::pair<std::uint64_t, std::uint64_t>> format(from.number<std::uint8_t>());
    for (auto& [content, kind] : format) {
        content = from.uleb();
        kind = from.uleb();
    }
    const std::uint64_t count = from.uleb();
    if (count > 0 && format.empty()) damaged_cubin("its line table has files without names");
    std::vector<File> entries;
    for (std::uint64_t i = 0; i < count; ++i) {
        File entry;
        for (const auto& [content, kind] : format) {
            const Value value = value_of(kind, from, names);
            if (content == content_type::path) entry.name = value.text;
            if (content == content_type::directory_index) entry.folder = value.number;
        }
        add(entry, entries);
    }
    return entries;
}

/// The rest of a header after its version; nothing for code whose instructions come in bundles,
/// which no GPU has.
std::optional<Header> read_header(Cursor& unit, std::uint16_t version, const Names& names) {
    Header header;
    header.version = version;
    if (version >= 5) unit.bytes(2);  // sizes of addresses and segments
    Cursor from(unit.bytes(unit.number<std::uint32_t>()));
    header.instruction_bytes = from.number<std::uint8_t>();
    if (version >= 4 && from.number<std::uint8_t>() != 1) return std::nullopt;
    from.bytes(1);  // whether rows are statements, which does not matter here
    header.line_base = from.number<std::int8_t>();
    header.line_range = from.number<std::uint8_t>();
    header.opcode_base = from.number<std::uint8_t>();
    if (header.line_range == 0 || header.opcode_base == 0) {
        damaged_cubin("its line table has a wrong header");
    }
    for (int i = 1; i < header.opcode_base; ++i) {
        header.operands.push_back(from.number<std::uint8_t>());
    }
    if (version < 5) {
        read_plain_names(from, header);
    } else {
        for (const File& folder : read_entries(from, names)) header.folders.push_back(folder.name);
        header.files = read_entries(from, names);
    }
    return header;
}

/// The beginning of a function's own code, as far as it was read.
struct Beginning {
    std::uint64_t address = std::numeric_limits<std::uint64_t>::max();
    std::int64_t line = 0;
    std::string_view first_folder, folder, file;  ///< the first one is what others are relative to
};

/// Absolute, without ".."; empty if it is not, or has characters that a report cannot show.
std::string path_of(const Beginning& beginning) {
    if (beginning.first_folder.size() + beginning.folder.size() + beginning.file.size() >
        longest_path) {
        return {};
    }
    const std::filesystem::path path = std::filesystem::path(beginning.first_folder) /
                                       beginning.folder / std::filesystem::path(beginning.file);
    if (!path.is_absolute() || !path.has_filename()) return {};
    std::string text = path.lexically_normal().generic_string();
    return util::printable(text, longest_path + 2) == text ? text : std::string();
}

class LineTable {
  public:
    explicit LineTable(const ElfImage& image, const ElfSection& section)
        : image_(image), section_(section) {
        const auto content = [&](std::string_view name) {
            const ElfSection* found = image.find(name);
            return found == nullptr ? std::span<const char>() : found->content;
        };
        names_ = {content(".debug_str"), content(".debug_line_str")};
        const std::size_t index = static_cast<std::size_t>(&section - image.sections().data());
        for (const ElfSection& other : image.sections()) {
            if (other.header.sh_info != index) continue;
            const bool adds_to_place = other.header.sh_type == SHT_REL;
            for (const ElfRelocation& entry : image.relocations(other)) {
                targets_.emplace(entry.offset, Target{entry.symbol.st_shndx,
                                                      entry.symbol.st_value +
                                                          static_cast<std::uint64_t>(entry.addend),
                                                      adds_to_place});
            }
        }
    }

    std::map<std::string, model::SourcePlace> places() {
        Cursor units(section_.content);
        while (!units.at_end()) {
            const auto size = units.number<std::uint32_t>();
            if (size >= 0xfffffff0) break;  // 64-bit DWARF, which no compiler writes for a GPU
            Cursor unit(units.bytes(size));
            const auto version = unit.number<std::uint16_t>();
            if (version < 2 || version > 5) continue;
            std::optional<Header> header = read_header(unit, version, names_);
            if (!header) continue;
            header_ = std::move(*header);
            run(unit);
        }
        std::map<std::string, model::SourcePlace> places;
        for (const auto& [section, beginning] : beginnings_) {
            std::string path = path_of(beginning);
            if (path.empty()) continue;
            places.emplace(image_.function_in(section),
                           model::SourcePlace{std::move(path), beginning.line});
        }
        return places;
    }

  private:
    /// What is patched into the table.
    struct Target {
        std::size_t section = 0;
        std::uint64_t address = 0;   ///< in that section
        bool adds_to_place = false;  ///< what is already there is added
    };

    /// The registers of the line program that matter here.
    struct State {
        std::optional<std::size_t> function;  ///< its section; nothing: not known
        std::uint64_t address = 0;            ///< in that section
        std::uint64_t file = 1;
        std::uint64_t line = 1;  ///< wraps around as the standard's unsigned integer
        bool inlined = false;
    };

    void run(Cursor& program) {
        state_ = {};
        while (!program.at_end()) {
            const auto opcode = program.number<std::uint8_t>();
            if (opcode >= header_.opcode_base) {
                const unsigned adjusted = opcode - header_.opcode_base;
                advance(adjusted / header_.line_range);
                state_.line += static_cast<std::uint64_t>(std::int64_t{header_.line_base} +
                                                          adjusted % header_.line_range);
                add_row();
            } else if (opcode == 0) {
                Cursor operation(program.bytes(program.uleb()));
                if (!operation.at_end()) extended(operation);
            } else {
                standard(opcode, program);
            }
        }
    }

    void standard(std::uint8_t opcode, Cursor& program) {
        switch (opcode) {
            case standard_opcode::copy:
                add_row();
                break;
            case standard_opcode::advance_pc:
                advance(program.uleb());
                break;
            case standard_opcode::advance_line:
                state_.line += static_cast<std::uint64_t>(program.sleb());
                break;
            case standard_opcode::set_file:
                state_.file = program.uleb();
                break;
            case standard_opcode::const_add_pc:
                advance((255U - header_.opcode_base) / header_.line_range);
                break;
            case standard_opcode::fixed_advance_pc:
                state_.address += program.number<std::uint16_t>();
                break;
            default:
                for (int i = 0; i < header_.operands[opcode - 1U]; ++i) program.uleb();
                break;
        }
    }

    void extended(Cursor& operation) {
        switch (operation.number<std::uint8_t>()) {
            case extended_opcode::end_sequence:
                state_ = {};
                break;
            case extended_opcode::set_address:
                set_address(operation);
                break;
            case extended_opcode::define_file: {
                const std::string_view name = operation.text();
                add(plain_file(name, operation), header_.files);
                break;
            }
            case extended_opcode::inlined_call:
                state_.inlined = operation.uleb() != 0;
                break;
            default:
                break;
        }
    }

    /// The operand is patched: the relocation says in which function the address is.
    void set_address(Cursor& operation) {
        const auto offset =
            static_cast<std::uint64_t>(operation.position() - section_.content.data());
        const auto in_place = operation.number<std::uint64_t>();
        const auto target = targets_.find(offset);
        state_.function.reset();
        if (target == targets_.end()) return;
        const Target& found = target->second;
        if (image_.function_in(found.section).empty()) return;
        state_.function = found.section;
        state_.address = found.address + (found.adds_to_place ? in_place : 0);
    }

    void advance(std::uint64_t instructions) {
        state_.address += instructions * header_.instruction_bytes;
    }

    /// Keeps the row if it is the first of its function's own code.
    void add_row() {
        constexpr auto most_lines = static_cast<std::uint64_t>(std::numeric_limits<int>::max());
        if (!state_.function || state_.inlined || state_.line == 0 || state_.line > most_lines ||
            state_.file >= header_.files.size() ||
            state_.address >= image_.sections()[*state_.function].content.size()) {
            return;
        }
        Beginning& known = beginnings_[*state_.function];
        if (state_.address >= known.address) return;
        const File& file = header_.files[state_.file];
        if (file.folder >= header_.folders.size()) return;
        known = {state_.address, static_cast<std::int64_t>(state_.line), header_.folders[0],
                 header_.folders[file.folder], file.name};
    }

    const ElfImage& image_;
    const ElfSection& section_;
    Names names_;
    std::unordered_map<std::uint64_t, Target> targets_;  ///< by the patched offset
    std::map<std::size_t, Beginning> beginnings_;        ///< by section
    Header header_;
    State state_;
};

}  // namespace

std::map<std::string, model::SourcePlace> function_places(const ElfImage& cubin) {
    const ElfSection* section = cubin.find(".debug_line");
    if (section == nullptr) return {};
    try {
        return LineTable(cubin, *section).places();
    } catch (const std::exception&) {
        return {};  // damaged
    }
}

}  // namespace perfgate::elf
