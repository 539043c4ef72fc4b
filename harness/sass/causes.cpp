// SPDX-License-Identifier: Apache-2.0
#include "sass/difference.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "elf/instruction_listing.hpp"
#include "sass/normalised.hpp"

namespace perfgate::sass {
namespace {

/// Following operands takes no more steps than this; later instructions keep their samples.
constexpr std::size_t most_steps = 2'000'000;

/// What a reason waits for: the result of an instruction of these classes or with these opcodes.
struct Awaited {
    std::string_view reason;
    std::vector<std::string_view> classes, opcodes;
};

const std::vector<Awaited>& awaited_results() {
    static const std::vector<Awaited> all{
        {"long_scoreboard", {"global memory", "local memory", "texture", "atomics"}, {}},
        {"short_scoreboard",
         {"shared memory", "special functions", "conversion", "constant memory",
          "shuffle and vote"},
         {"S2R", "S2UR"}},
    };
    return all;
}

/// What a reason waits for: that this instruction, which was issued last, is done.
struct Before {
    std::string_view reason;
    std::vector<std::string_view> opcodes;
};

const std::vector<Before>& awaited_instructions() {
    static const std::vector<Before> all{
        {"barrier", {"BAR"}},
        {"branch_resolving", {"BRA", "BRX", "BRXU", "CALL", "RET", "JMP", "JMX", "BSYNC"}},
        {"membar", {"MEMBAR", "ERRBAR", "FENCE"}},
    };
    return all;
}

template <class Names>
bool contains(const Names& names, std::string_view name) {
    return std::ranges::find(names, name) != std::end(names);
}

class Causes {
  public:
    explicit Causes(const model::Listing& listing) : listing_(listing) {
        const std::size_t count = listing.instructions.size();
        code_.reserve(count);
        for (const model::Instruction& each : listing.instructions) {
            code_.push_back(normalise(each));
            widths_.push_back(result_width(elf::opcode_of(each)));
        }
        comes_from_.resize(count);
        for (std::size_t i = 0; i < count; ++i) {
            const auto target = listing.labels.find(code_[i].label);
            if (target != listing.labels.end() && target->second < count && opcode(i) != "CALL") {
                comes_from_[target->second].push_back(i);
            }
            if (i + 1 < count && goes_on(i)) comes_from_[i + 1].push_back(i);
        }
        seen_.resize(count, 0);
    }

    std::vector<model::Samples> samples() {
        std::vector<model::Samples> all(code_.size());
        const std::optional<std::size_t> store = only_store();
        for (std::size_t i = 0; i < code_.size(); ++i) {
            for (const auto& [reason, count] : listing_.instructions[i].samples.reasons) {
                const auto at = reason == "drain" ? store : cause(i, reason).value_or(i);
                if (at) all[*at].reasons[reason] += count;
            }
        }
        return all;
    }

  private:
    std::string_view opcode(std::size_t i) const {
        const std::string_view whole = elf::opcode_of(listing_.instructions[i]);
        return whole.substr(0, whole.find('.'));
    }
    const model::SourcePlace& place(std::size_t i) const { return listing_.instructions[i].place; }
    bool is_predicated(std::size_t i) const {
        return listing_.instructions[i].text.starts_with("@");
    }
    /// Whether the next instruction may follow it.
    bool goes_on(std::size_t i) const {
        constexpr std::string_view leaves[] = {"BRA", "BRX", "BRXU", "EXIT", "RET", "JMP", "JMX"};
        return is_predicated(i) || !contains(leaves, opcode(i));
    }

    /// The last store, if all are of one source line.
    std::optional<std::size_t> only_store() const {
        constexpr std::string_view stores[] = {"ST", "STG", "STL", "RED", "REDG", "SUST"};
        std::optional<std::size_t> found;
        for (std::size_t i = 0; i < code_.size(); ++i) {
            if (!contains(stores, opcode(i))) continue;
            if (found && place(*found) != place(i)) return std::nullopt;
            found = i;
        }
        return found;
    }

    std::optional<std::size_t> cause(std::size_t i, const std::string& reason) {
        for (const Before& each : awaited_instructions()) {
            if (each.reason != reason) continue;
            if (i == 0 || !contains(each.opcodes, opcode(i - 1))) return std::nullopt;
            return i - 1;
        }
        for (const Awaited& each : awaited_results()) {
            if (each.reason == reason) return producer(i, each);
        }
        return std::nullopt;
    }

    bool makes(std::size_t i, const Awaited& awaited) const {
        return contains(awaited.opcodes, opcode(i)) ||
               contains(awaited.classes, class_of(elf::opcode_of(listing_.instructions[i])));
    }

    /// What makes the awaited operand of `i`; if several may, of one source line, the last of them.
    std::optional<std::size_t> producer(std::size_t i, const Awaited& awaited) {
        std::optional<std::size_t> found;
        for (const Register& read : code_[i].registers) {
            if (read.result) continue;
            const auto all = writers(i, read);
            if (!all) return std::nullopt;
            for (const std::size_t writer : *all) {
                if (!makes(writer, awaited)) continue;
                if (found && place(*found) != place(writer)) return std::nullopt;
                if (!found || writer > *found) found = writer;
            }
        }
        return found;
    }

    bool writes(std::size_t i, const Register& read) const {
        const auto& registers = code_[i].registers;
        return std::ranges::any_of(registers, [&](const Register& each) {
            const int offset = read.number - each.number;
            return each.result && each.file == read.file && offset >= 0 && offset < widths_[i];
        });
    }

    /// The last instructions that write the register on the ways that lead to `i`; nothing if not
    /// all ways are known: a function that is called may write it, and its caller is not known.
    std::optional<std::vector<std::size_t>> writers(std::size_t i, const Register& read) {
        ++search_;
        std::vector<std::size_t> found, next = comes_from_[i];
        if (next.empty() && i > 0) return std::nullopt;
        while (!next.empty()) {
            const std::size_t at = next.back();
            next.pop_back();
            if (std::exchange(seen_[at], search_) == search_) continue;
            if (++steps_ > most_steps || opcode(at) == "CALL") return std::nullopt;
            const bool written = writes(at, read);
            if (written) found.push_back(at);
            if (written && !is_predicated(at)) continue;
            const std::vector<std::size_t>& earlier = comes_from_[at];
            if (earlier.empty() && at > 0) return std::nullopt;
            next.insert(next.end(), earlier.begin(), earlier.end());
        }
        return found;
    }

    const model::Listing& listing_;
    std::vector<Normalised> code_;
    std::vector<int> widths_;                           ///< of the results, in registers
    std::vector<std::vector<std::size_t>> comes_from_;  ///< what may be issued just before
    std::vector<std::uint32_t> seen_;                   ///< the last search that was there
    std::uint32_t search_ = 0;
    std::size_t steps_ = 0;
};

}  // namespace

std::vector<model::Samples> samples_by_cause(const model::Listing& listing) {
    const auto& all = listing.instructions;
    if (std::ranges::all_of(all, [](const auto& each) { return each.samples.reasons.empty(); })) {
        return std::vector<model::Samples>(all.size());
    }
    return Causes(listing).samples();
}

}  // namespace perfgate::sass
