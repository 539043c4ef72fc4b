// SPDX-License-Identifier: Apache-2.0
#include "stacks/python.hpp"

#include <dlfcn.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

namespace perfgate::stacks {
namespace {

constexpr std::uint16_t none = PythonLayout::none;

/// Up to 3.12 the offsets are the same in all releases of a minor version.
constexpr PythonLayout layouts[] = {
    {10, 32, 0, 8, 8, 16, 24, none, 176, 24, 32, 96, 104, 112, 40, 120, 0, 48, 72},
    {11, 40, 0, 16, 8, 16, 56, 8, 160, 48, 32, 56, 112, 128, 72, 136, 184, 48, 72},
    {12, 40, 0, 72, 8, 16, 56, 0, 144, 8, 0, 56, 112, 128, 68, 136, 192, 40, 56},
};

constexpr std::size_t most_text = 512, most_line_table = 16384, most_threads = 4096;
constexpr std::size_t most_functions = 65536, most_bytes = std::size_t{64} << 20;
constexpr std::uint32_t not_kept = ~std::uint32_t{0};
constexpr Address type_of_object = 8, length_of_text = 16, state_of_text = 32;
constexpr Address size_of_bytes = 16, data_of_bytes = 32;

/// Of _Py_DebugOffsets, the 64-bit numbers behind the cookie: version, free_threaded, then for each
/// structure its size and offsets. Later versions added some.
std::optional<PythonLayout> from_table(const Memory& memory, Address runtime,
                                       std::string& why_not) {
    std::array<std::uint64_t, 64> table{};
    if (!memory.read(runtime + 8, table)) {
        why_not = "its memory cannot be read";
        return std::nullopt;
    }
    const auto minor = static_cast<int>(table[0] >> 16 & 0xff);
    if (table[0] >> 24 != 3 || minor < 13 || minor > 14) {
        why_not = "its version is not known";
        return std::nullopt;
    }
    if (table[1] != 0) {
        why_not = "it is free-threaded";
        return std::nullopt;
    }
    const std::size_t interpreter = 5, thread = minor == 13 ? 18 : 21, frame = thread + 9;
    const std::size_t code = frame + (minor == 13 ? 6 : 8);
    bool plausible = true;
    // Each offset must lie within its structure, whose size comes first.
    const auto at = [&](std::size_t structure, std::size_t field) {
        const std::uint64_t offset = table[structure + field];
        plausible = plausible && offset < table[structure] && offset < none;
        return static_cast<std::uint16_t>(offset);
    };
    PythonLayout layout;
    layout.minor = minor;
    layout.first_interpreter = at(2, 2);
    layout.next_interpreter = at(interpreter, 2);
    layout.first_thread = at(interpreter, 3);
    layout.next_thread = at(thread, 2);
    layout.interpreter = at(thread, 3);
    layout.frame = at(thread, 4);
    layout.thread_id = at(thread, 6);
    layout.caller = at(frame, 1);
    layout.code = at(frame, 2);
    layout.instruction = at(frame, 3);
    layout.file = at(code, 1);
    layout.name = at(code, 3);
    layout.lines = at(code, 4);
    layout.first_line = at(code, 5);
    layout.instructions = at(code, 9);
    layout.ascii_text = 40;
    layout.other_text = 56;
    if (!plausible) {
        why_not = "its table of offsets is not as expected";
        return std::nullopt;
    }
    return layout;
}

void append_utf8(std::string& to, std::uint32_t c) {
    if (c < 0x80) {
        to += static_cast<char>(c);
        return;
    }
    const int more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
    constexpr unsigned int first[] = {0, 0xc0, 0xe0, 0xf0};
    to += static_cast<char>(first[more] | c >> 6 * more);
    for (int i = more; i-- > 0;) to += static_cast<char>(0x80 | (c >> 6 * i & 0x3f));
}

/// Numbers of the line table of 3.11 and later, 6 bits a byte.
class Numbers {
  public:
    explicit Numbers(std::string_view bytes) : bytes_(bytes) {}
    [[nodiscard]] bool empty() const { return bytes_.empty(); }
    unsigned int byte() {
        if (bytes_.empty()) return 0;
        const auto value = static_cast<unsigned char>(bytes_.front());
        bytes_.remove_prefix(1);
        return value;
    }
    std::int64_t unsigned_number() {
        std::int64_t value = 0;
        unsigned int shift = 0, next = 0;
        do {
            next = byte();
            value |= static_cast<std::int64_t>(next & 63) << shift;
            shift += 6;
        } while ((next & 64) != 0 && shift < 36);
        return value;
    }
    std::int64_t signed_number() {
        const std::int64_t value = unsigned_number();
        return (value & 1) != 0 ? -(value >> 1) : value >> 1;
    }

  private:
    std::string_view bytes_;
};

}  // namespace

std::optional<PythonLayout> python_layout(std::string_view version, const Memory& memory,
                                          Address runtime, std::string& why_not) {
    std::array<char, 8> cookie{};
    if (!memory.read(runtime, cookie)) {
        why_not = "its memory cannot be read";
        return std::nullopt;
    }
    if (std::string_view(cookie.data(), cookie.size()) == "xdebugpy") {
        return from_table(memory, runtime, why_not);
    }
    for (const PythonLayout& layout : layouts) {
        if (version.starts_with("3." + std::to_string(layout.minor) + ".")) return layout;
    }
    why_not = "its version is not known";
    return std::nullopt;
}

std::uint32_t line_at(std::string_view table, int minor, std::uint32_t first_line,
                      std::uint32_t byte_offset) {
    std::int64_t line = first_line;
    std::uint32_t end = 0;
    Numbers numbers(table);
    while (!numbers.empty()) {
        bool has_line = true;
        const unsigned int first = numbers.byte();
        if (minor == 10) {
            const auto change = static_cast<std::int8_t>(numbers.byte());
            has_line = change != -128;
            if (has_line) line += change;
            end += first;
        } else {
            const unsigned int kind = first >> 3 & 15;
            end += 2 * ((first & 7) + 1);
            if (kind == 15) {
                has_line = false;
            } else if (kind == 14) {
                line += numbers.signed_number();
                for (int i = 0; i < 3; ++i) numbers.unsigned_number();
            } else if (kind == 13) {
                line += numbers.signed_number();
            } else if (kind >= 10) {
                line += kind - 10;
                numbers.byte(), numbers.byte();
            } else {
                numbers.byte();
            }
        }
        if (byte_offset < end) {
            return has_line && line > 0 ? static_cast<std::uint32_t>(line) : 0;
        }
    }
    return 0;
}

std::optional<Python> Python::find(std::string& about) {
    const auto address = [](const char* name) {
        return reinterpret_cast<Address>(dlsym(RTLD_DEFAULT, name));
    };
    Python python;
    python.runtime_ = address("_PyRuntime");
    if (python.runtime_ == 0) return std::nullopt;
    python.code_type_ = address("PyCode_Type");
    python.text_type_ = address("PyUnicode_Type");
    const auto version_of =
        reinterpret_cast<const char* (*)()>(dlsym(RTLD_DEFAULT, "Py_GetVersion"));
    about = version_of == nullptr ? "" : version_of();
    about = about.substr(0, about.find(' '));
    const auto refuse = [&](const std::string& why) {
        about = "no functions of Python " + about + ": " + why;
        return std::nullopt;
    };
    const Memory memory(getpid());
    std::string why;
    const auto layout = python_layout(about, memory, python.runtime_, why);
    if (!layout) return refuse(why);
    python.layout_ = *layout;
    if (python.code_type_ == 0 || python.text_type_ == 0) return refuse("its types are not found");
    if (layout->minor == 10) {
        // Where glibc keeps the kernel's number of a thread, as this thread's own shows.
        std::array<std::int32_t, 512> own{};
        if (!memory.read(pthread_self(), own)) return refuse("its threads cannot be told apart");
        const auto* const at = std::ranges::find(own, gettid());
        if (at == own.end()) return refuse("its threads cannot be told apart");
        python.thread_id_in_pthread_ = 4 * static_cast<std::size_t>(at - own.begin());
    }
    const std::vector<Mapping> mappings = mappings_of(getpid());
    for (const Mapping& each : mappings) {
        if (each.begin <= python.code_type_ && python.code_type_ < each.end) {
            python.module_ = each.file;
        }
    }
    python.module_at_ = first_of(mappings, python.module_).value_or(0);
    return python;
}

std::optional<Address> Python::distance_in(pid_t process) const {
    const auto at = first_of(mappings_of(process), module_);
    return at ? std::optional(*at - module_at_) : std::nullopt;
}

bool Python::threads(RepeatedReads& memory, Address distance, std::vector<Thread>& to) const {
    to.clear();
    Address interpreter = 0;
    if (!memory.read(runtime_ + distance + layout_.first_interpreter, interpreter)) return false;
    for (std::size_t interpreters = 0; interpreter != 0 && interpreters < 64; ++interpreters) {
        Address thread = 0;
        if (!memory.read(interpreter + layout_.first_thread, thread)) return false;
        while (thread != 0) {
            std::array<std::byte, 256> state{};
            if (!memory.read(thread, state) || to.size() == most_threads) return false;
            const auto field = [&](std::uint16_t offset) {
                Address value = 0;
                if (offset + sizeof(value) <= state.size()) {
                    std::memcpy(&value, state.data() + offset, sizeof(value));
                }
                return value;
            };
            if (field(layout_.interpreter) != interpreter) return false;
            Thread found{field(layout_.thread_id), field(layout_.frame)};
            if (layout_.frame_of_cframe != none && found.frame != 0) {
                Address frame = 0;
                memory.read(found.frame + layout_.frame_of_cframe, frame);
                found.frame = frame;
            }
            if (layout_.minor == 10) {
                std::uint32_t id = 0;
                memory.read(found.id + thread_id_in_pthread_, id);
                found.id = id;
            }
            to.push_back(found);
            thread = field(layout_.next_thread);
        }
        if (!memory.read(interpreter + layout_.next_interpreter, interpreter)) return false;
    }
    return !to.empty();
}

bool Python::text(const Memory& memory, Address at, Address distance, std::string& to) const {
    std::array<Address, 5> head{};  // references, type, length, hash, state
    if (!memory.read(at, head) || head[type_of_object / 8] != text_type_ + distance) return false;
    auto state = static_cast<std::uint32_t>(head[state_of_text / 8]);
    // Whether it is interned takes two bits, in some releases of 3.14 sixteen.
    state >>= (state & 0xfffc) == 0 ? 16 : 2;
    const std::size_t unit = state & 7;
    const bool compact = (state & 8) != 0, ascii = (state & 16) != 0;
    if (!compact || (unit != 1 && unit != 2 && unit != 4)) return false;
    const std::size_t length = std::min<std::size_t>(head[length_of_text / 8], most_text);
    std::string data(length * unit, '\0');
    if (!memory.read(at + (ascii ? layout_.ascii_text : layout_.other_text), data.data(),
                     data.size()) &&
        length != 0) {
        return false;
    }
    to.clear();
    for (std::size_t i = 0; i < length; ++i) {
        std::uint32_t c = 0;
        std::memcpy(&c, data.data() + i * unit, unit);
        if (c > 0x10ffff) return false;
        append_utf8(to, c);
    }
    return true;
}

std::optional<std::uint32_t> Python::function(RepeatedReads& reads, pid_t process, Address distance,
                                              Address code) {
    std::array<std::byte, 256> object{};
    // Its instructions follow, so that it may be shorter than that.
    const std::size_t size = std::max({layout_.file, layout_.name, layout_.lines}) + 8u;
    if (size > object.size() || !reads.read(code, object.data(), size)) return std::nullopt;
    const auto field = [&](std::size_t offset) {
        Address value = 0;
        std::memcpy(&value, object.data() + offset, sizeof(value));
        return value;
    };
    if (field(type_of_object) != code_type_ + distance) return std::nullopt;
    const Code found{field(layout_.file), field(layout_.name), field(layout_.lines),
                     static_cast<std::uint32_t>(field(layout_.first_line))};
    // Addresses of user space have 47 bits.
    const std::uint64_t key = code ^ static_cast<std::uint64_t>(process) << 47;
    const auto known = codes_.find(key);
    if (known != codes_.end() && known->second.code == found) return known->second.function;
    const Memory memory(process);
    Function function;
    if (!text(memory, found.name, distance, function.name) ||
        !text(memory, found.file, distance, function.file)) {
        return std::nullopt;
    }
    std::uint64_t bytes = 0;
    if (memory.read(found.lines + size_of_bytes, bytes) && bytes <= most_line_table) {
        function.lines.resize(bytes);
        if (!memory.read(found.lines + data_of_bytes, function.lines.data(), bytes)) {
            function.lines.clear();
        }
    }
    function.first_line = found.first_line;
    const std::uint32_t number = number_of(std::move(function));
    if (number == not_kept) return number;
    if (codes_.size() >= 4 * most_functions) codes_.clear();  // of processes that have ended
    codes_[key] = {found, number};
    return number;
}

std::uint32_t Python::number_of(Function function) {
    const std::hash<std::string> hash;
    const std::size_t key = hash(function.name) ^ 3 * hash(function.file) ^
                            5 * hash(function.lines) ^ function.first_line;
    const auto [first, last] = same_.equal_range(key);
    for (auto each = first; each != last; ++each) {
        const Function& other = functions_[each->second];
        if (other.name == function.name && other.file == function.file &&
            other.lines == function.lines && other.first_line == function.first_line) {
            return each->second;
        }
    }
    const std::size_t bytes = function.name.size() + function.file.size() + function.lines.size();
    if (functions_.size() == most_functions || bytes > most_bytes - bytes_) return not_kept;
    const auto number = static_cast<std::uint32_t>(functions_.size());
    functions_.push_back(std::move(function));
    bytes_ += bytes;
    same_.emplace(key, number);
    return number;
}

bool Python::stack(RepeatedReads& memory, pid_t process, Address distance, Address frame,
                   std::vector<Frame>& to) {
    to.clear();
    const std::size_t size = std::max({layout_.caller, layout_.code, layout_.instruction}) + 8u;
    for (std::size_t depth = 0; frame != 0 && depth < 2 * most_frames; ++depth) {
        std::array<std::byte, 128> object{};
        if (size > object.size() || !memory.read(frame, object.data(), size)) return false;
        const auto field = [&](std::size_t offset) {
            Address value = 0;
            std::memcpy(&value, object.data() + offset, sizeof(value));
            return value;
        };
        const Address code = field(layout_.code) & ~Address{7};
        const auto known = function(memory, process, distance, code);
        if (known == not_kept) return false;
        if (known) {
            Function& own = functions_[*known];
            const Address at = field(layout_.instruction);
            const Address offset = layout_.instructions == 0 ? 2 * (at & 0xffffffff)
                                                             : at - code - layout_.instructions;
            const bool inside = offset < most_line_table * 64;
            if (inside && (own.line == 0 || own.offset != offset)) {
                own.offset = static_cast<std::uint32_t>(offset);
                own.line = line_at(own.lines, layout_.minor, own.first_line, own.offset);
            }
            const std::uint32_t line = inside ? own.line : 0;
            // Later versions have frames of their own between those of the program.
            const bool internal = own.name == "<interpreter trampoline>";
            if (!internal && to.size() < most_frames) to.push_back({*known, line});
        } else if (layout_.minor < 12) {
            return false;  // later versions have frames without code, too
        }
        frame = field(layout_.caller);
    }
    return !to.empty() && frame == 0;
}

}  // namespace perfgate::stacks
