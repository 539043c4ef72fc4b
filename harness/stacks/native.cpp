// SPDX-License-Identifier: Apache-2.0
#include "stacks/native.hpp"

#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "util/error.hpp"
#include "util/file.hpp"

namespace perfgate::stacks {
namespace {

constexpr std::size_t most_frames = 64, most_known = 1U << 16, most_modules = 1024;
constexpr std::size_t head_bytes = 1024;
constexpr Address largest_frame = Address{1} << 24;
/// Reading the mappings takes longest: each so many looks if an address is in none of them.
constexpr std::uint64_t looks_between_reads = 64, most_looks_between_reads = 1024;

util::Descriptor opened(const std::string& path, std::uint64_t inode) {
    util::Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    struct stat status {};
    const bool same = file.get() >= 0 && ::fstat(file.get(), &status) == 0 &&
                      S_ISREG(status.st_mode) && status.st_ino == inode;
    return same ? std::move(file) : util::Descriptor();
}

struct Headers {
    Address distance = 0;  ///< of the addresses in memory from those in the file
    Address table = 0;     ///< of call frame information, as in the file; 0: none
};

/// Empty if nothing is mapped there.
std::string head_at(const Memory& memory, Address begin) {
    std::string head(head_bytes, '\0');
    return memory.read(begin, head.data(), head.size()) ? head : std::string();
}

std::optional<Headers> headers_at(const Memory& memory, Address begin) {
    Elf64_Ehdr header{};
    if (!memory.read(begin, header) || header.e_ident[EI_MAG0] != ELFMAG0 ||
        header.e_ident[EI_MAG1] != ELFMAG1 || header.e_phentsize != sizeof(Elf64_Phdr) ||
        header.e_phnum > 64) {
        return std::nullopt;
    }
    std::vector<Elf64_Phdr> segments(header.e_phnum);
    if (!memory.read(begin + header.e_phoff, segments.data(),
                     segments.size() * sizeof(Elf64_Phdr))) {
        return std::nullopt;
    }
    Headers found;
    for (const Elf64_Phdr& each : segments) {
        if (each.p_type == PT_LOAD && each.p_offset == 0) found.distance = begin - each.p_vaddr;
        if (each.p_type == PT_GNU_EH_FRAME) found.table = each.p_vaddr;
    }
    return found;
}

/// What a function takes of the stack once it has set its frame pointer at `begin`: the registers
/// that it pushes, then one subtraction. If it takes more, no call is where the caller should be.
std::optional<Address> frame_size(const Memory& memory, Address begin, Address end) {
    std::array<std::uint8_t, 64> code{};
    if (end <= begin) return std::nullopt;
    const std::size_t size = std::min<Address>(end - begin, code.size() - 8);
    if (!memory.read(begin, code.data(), size)) return std::nullopt;
    Address taken = 0;
    for (std::size_t at = 0; at < size;) {
        const bool prefix = (code[at] & 0xf0) == 0x40;
        const std::uint8_t* const opcode = code.data() + at + (prefix ? 1 : 0);
        const bool between_registers = (opcode[1] & 0xc0) == 0xc0;
        if ((opcode[0] & 0xf8) == 0x50) {  // push
            taken += 8;
            at += prefix ? 2 : 1;
        } else if (prefix && opcode[0] == 0x83 && opcode[1] == 0xec) {  // sub imm8,%rsp
            return taken + static_cast<Address>(static_cast<std::int8_t>(opcode[2]));
        } else if (prefix && opcode[0] == 0x81 && opcode[1] == 0xec) {  // sub imm32,%rsp
            std::int32_t number = 0;
            std::memcpy(&number, opcode + 2, sizeof number);
            return taken + static_cast<Address>(std::int64_t{number});
        } else if ((opcode[0] == 0x89 || opcode[0] == 0x31) && between_registers) {  // mov, xor
            at += prefix ? 3 : 2;
        } else if (prefix && opcode[0] == 0x83 && opcode[1] == 0xe4) {  // and imm8,%rsp
            return std::nullopt;
        } else {
            break;
        }
    }
    return taken;
}

/// The call that the byte is the last one of.
struct Call {
    std::optional<Address> target;  ///< nothing: it depends
};
std::optional<Call> call_at(const Memory& memory, Address address) {
    std::array<std::uint8_t, 7> code{};
    if (!memory.read(address - 6, code)) return std::nullopt;
    if (code[2] == 0xe8) {
        std::int32_t distance = 0;
        std::memcpy(&distance, code.data() + 3, sizeof distance);
        return Call{address + 1 + static_cast<Address>(std::int64_t{distance})};
    }
    for (std::size_t at = 0; at + 2 <= code.size(); ++at) {
        const int mode = code[at + 1] >> 6, base = code[at + 1] & 7;
        if (code[at] != 0xff || (code[at + 1] >> 3 & 7) != 2) continue;
        const bool indexed = mode != 3 && base == 4;
        const int last = indexed ? code[std::min(at + 2, code.size() - 1)] & 7 : base;
        const bool far = mode == 2 || (mode == 0 && last == 5);
        const std::size_t size = 2 + (indexed ? 1 : 0) + (far ? 4 : mode == 1 ? 1 : 0);
        if (at + size == code.size()) return Call{};
    }
    return std::nullopt;
}

}  // namespace

struct Native::Known {
    std::optional<elf::FrameRule> rule;
    std::optional<std::uint32_t> function;
    /// How far the stack pointer is below the frame pointer, by the prologue.
    std::optional<Address> frame_size;
    std::optional<Call> call;  ///< at its end the address is, as the caller's must be
};

struct Native::Module {
    std::string file;
    std::uint64_t inode = 0;
    bool asked = false;  ///< for its names
    std::optional<elf::FunctionNames> names;
    Address table = 0;
    std::unordered_map<Address, Known> known;  ///< by addresses of the file
};

Native::Native() = default;
Native::~Native() = default;

void Native::read(Places& places, std::uint64_t look) {
    places.places_.clear();
    const Memory memory(places.process_);
    std::vector<Mapping> mappings = mappings_of(places.process_);
    for (auto each = mappings.begin(); each != mappings.end();) {
        const auto end = std::find_if(each, mappings.end(), [&](const Mapping& other) {
            return other.file != each->file || other.inode != each->inode;
        });
        const bool runs =
            std::any_of(each, end, [](const Mapping& mapping) { return mapping.executable; });
        const auto headers = runs ? headers_at(memory, each->begin) : std::nullopt;
        if (headers) {
            const std::pair key(each->file, each->inode);
            auto module = modules_.find(key);
            if (module == modules_.end() && modules_.size() < most_modules) {
                module = modules_.emplace(key, std::make_unique<Module>()).first;
                module->second->file = each->file;
                module->second->inode = each->inode;
                module->second->table = headers->table;
            }
            if (module != modules_.end()) {
                places.places_.push_back({each->begin, std::prev(end)->end, headers->distance,
                                          module->second.get(), head_at(memory, each->begin),
                                          look});
            }
        }
        each = end;
    }
}

std::optional<std::uint32_t> Native::function(Module& module, Address address) {
    // Large libraries have many symbols, and no thread is in most of them.
    if (!std::exchange(module.asked, true) && named_modules_ < most_named_modules) {
        ++named_modules_;
        try {
            module.names.emplace(opened(module.file, module.inode));
        } catch (const util::InputError&) {
            // Its functions have no names.
        }
    }
    std::string name = module.names ? module.names->at(address) : std::string();
    if (name.empty()) return std::nullopt;
    const auto next = static_cast<std::uint32_t>(functions_.size());
    const auto [found, added] = numbers_.try_emplace({std::move(name), module.file}, next);
    if (added) functions_.push_back(found->first);
    return found->second;
}

const Native::Known& Native::known(pid_t process, const Places::Place& place, Address address) {
    static const Known nothing;
    Module& module = *place.module;
    const auto found = module.known.find(address - place.distance);
    if (found != module.known.end()) return found->second;
    if (known_ == most_known) return nothing;
    Known known;
    known.function = function(module, address - place.distance);
    const Memory memory(process);
    known.call = call_at(memory, address);
    if (known.call && known.call->target) *known.call->target -= place.distance;
    if (module.table != 0) {
        const auto read = [memory](Address from, void* to, std::size_t size) {
            return memory.read(from, to, size);
        };
        try {
            known.rule = elf::frame_rule(read, module.table + place.distance, address);
            if (known.rule->base == elf::FrameRule::Base::frame_pointer) {
                known.frame_size = frame_size(memory, known.rule->frame_pointer_since, address);
            }
            known.rule->function -= place.distance;  // in the file, as all that is kept
        } catch (const util::InputError&) {
            // Its caller is not known.
        }
    }
    // Other code may have come there meanwhile.
    if (head_at(memory, place.begin) != place.head) return nothing;
    ++known_;
    return module.known.emplace(address - place.distance, known).first->second;
}

void Native::stack(const elf::ModuleMemory& memory, Places& places, std::uint64_t look,
                   Registers registers, std::vector<std::uint32_t>& to) {
    to.clear();
#ifdef __x86_64__
    bool derived = false;  // the caller is not from call frame information alone
    Address callee = 0;
    const Module* callee_module = nullptr;
    for (std::size_t depth = 0; depth < most_frames; ++depth) {
        // The call may be the last instruction of its function.
        const Address address = registers.instruction - (depth == 0 ? 0 : 1);
        const Places::Place* const place = this->place(places, address, look);
        if (place == nullptr) return;
        const Known& here = known(places.process_, *place, address);
        if (depth != 0 && !here.call) return;
        // A call within a module is of the function that was called.
        if (derived && here.call->target && place->module == callee_module &&
            *here.call->target != callee) {
            return;
        }
        if (here.function) to.push_back(*here.function);
        if (!here.rule || !here.rule->return_address) return;
        const elf::FrameRule& rule = *here.rule;
        if (rule.base == elf::FrameRule::Base::none) return;
        const bool by_stack = rule.base == elf::FrameRule::Base::stack_pointer;
        derived = !by_stack && !registers.frame;
        callee = rule.function;
        callee_module = place->module;
        if (derived) {
            if (!here.frame_size) return;
            registers.frame = registers.stack + *here.frame_size;
        }
        const Address base = by_stack ? registers.stack : *registers.frame;
        const Address caller = base + static_cast<Address>(rule.cfa_offset);
        if (caller <= registers.stack || caller - registers.stack > largest_frame) return;
        const auto read_at = [&](std::int64_t offset, Address& value) {
            return memory(caller + static_cast<Address>(offset), &value, sizeof value);
        };
        if (!read_at(*rule.return_address, registers.instruction)) return;
        if (rule.saves_frame_pointer) {
            Address frame = 0;
            const bool read = rule.frame_pointer && read_at(*rule.frame_pointer, frame);
            registers.frame = read ? std::optional(frame) : std::nullopt;
        }
        registers.stack = caller;
    }
#endif
}

const Native::Places::Place* Native::place(Places& places, Address address, std::uint64_t look) {
    const auto find = [&]() -> Places::Place* {
        const auto found = std::ranges::find_if(places.places_, [&](const Places::Place& each) {
            return each.begin <= address && address < each.end;
        });
        return found == places.places_.end() ? nullptr : &*found;
    };
    Places::Place* found = find();
    const auto is_there = [&] {
        if (found->checked == look) return true;
        found->checked = look;
        return head_at(Memory(places.process_), found->begin) == found->head;
    };
    if (found != nullptr ? is_there() : look < places.next_read_) return found;
    read(places, look);
    found = find();
    // Code that is in no file is asked for again and again.
    places.pause_ = found != nullptr ? looks_between_reads
                                     : std::min(2 * places.pause_, most_looks_between_reads);
    places.next_read_ = look + places.pause_;
    return found;
}

}  // namespace perfgate::stacks
