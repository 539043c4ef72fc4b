// SPDX-License-Identifier: Apache-2.0
#include "stacks/native.hpp"

#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>

#include "util/descriptor.hpp"
#include "util/error.hpp"

namespace perfgate::stacks {
namespace {

constexpr std::size_t most_frames = 64, most_known = 1U << 16, most_modules = 1024,
                      most_named_modules = 64;
constexpr Address largest_frame = Address{1} << 24;
/// Reading the mappings takes longest: each so many looks if an address is in none of them, and in
/// any case, because others may have taken their places.
constexpr std::uint64_t looks_between_reads = 64, looks_between_checks = 1024;

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

}  // namespace

struct Native::Known {
    std::optional<elf::FrameRule> rule;
    std::optional<std::uint32_t> function;
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

void Native::read(Places& places) {
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
                places.places_.push_back(
                    {each->begin, std::prev(end)->end, headers->distance, module->second.get()});
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
    if (module.table != 0) {
        const auto read = [memory = Memory(process)](Address from, void* to, std::size_t size) {
            return memory.read(from, to, size);
        };
        try {
            known.rule = elf::frame_rule(read, module.table + place.distance, address);
        } catch (const util::InputError&) {
            // Its caller is not known.
        }
    }
    ++known_;
    return module.known.emplace(address - place.distance, known).first->second;
}

void Native::stack(RepeatedReads& memory, Places& places, std::uint64_t look, Registers registers,
                   std::vector<std::uint32_t>& to) {
    to.clear();
#ifdef __x86_64__
    for (std::size_t depth = 0; depth < most_frames; ++depth) {
        // The call may be the last instruction of its function.
        const Address address = registers.instruction - (depth == 0 ? 0 : 1);
        const auto find = [&]() -> const Places::Place* {
            const auto found = std::find_if(places.places_.begin(), places.places_.end(),
                                            [&](const Places::Place& each) {
                                                return each.begin <= address && address < each.end;
                                            });
            return found == places.places_.end() ? nullptr : &*found;
        };
        if (look >= places.next_read_ + looks_between_checks) places.places_.clear();
        const Places::Place* place = find();
        if (place == nullptr && look >= places.next_read_) {
            places.next_read_ = look + looks_between_reads;
            read(places);
            place = find();
        }
        if (place == nullptr) return;
        const Known& here = known(places.process_, *place, address);
        if (here.function) to.push_back(*here.function);
        if (!here.rule || !here.rule->return_address) return;
        const elf::FrameRule& rule = *here.rule;
        if (rule.base == elf::FrameRule::Base::none) return;
        const bool by_stack = rule.base == elf::FrameRule::Base::stack_pointer;
        if (!by_stack && !registers.frame) return;
        const Address base = by_stack ? registers.stack : *registers.frame;
        const Address caller = base + static_cast<Address>(rule.cfa_offset);
        if (caller <= registers.stack || caller - registers.stack > largest_frame) return;
        if (!memory.read(caller + static_cast<Address>(*rule.return_address),
                         registers.instruction)) {
            return;
        }
        if (rule.saves_frame_pointer) {
            Address frame = 0;
            const bool read =
                rule.frame_pointer &&
                memory.read(caller + static_cast<Address>(*rule.frame_pointer), frame);
            registers.frame = read ? std::optional(frame) : std::nullopt;
        }
        registers.stack = caller;
    }
#endif
}

}  // namespace perfgate::stacks
