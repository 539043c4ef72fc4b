// SPDX-License-Identifier: Apache-2.0
#include "sass/difference.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "elf/instruction_listing.hpp"

namespace perfgate::sass {
namespace {

/// Reading the loops of a listing takes no more steps than this; later loops count as different.
constexpr std::size_t most_loop_steps = 5'000'000;

using Name = std::pair<std::string, int>;  ///< a register's file and number

Name name_of(const Register& of) {
    return {of.file, of.number};
}

Name next_to(const Name& name, int offset) {
    return {name.first, name.second + offset};
}

/// Which register of the other side has a value, since which step.
struct Partner {
    Name name;
    std::size_t since = 0;
};

class Matching {
  public:
    Matching(const Side& before, const Side& after,
             const std::vector<std::pair<std::size_t, std::size_t>>& pairs)
        : before_(before), after_(after), pairs_(pairs) {}

    std::vector<bool> differing() {
        find_loops();
        std::vector<bool> result(pairs_.size());
        std::size_t left = 0, right = 0;
        for (step_ = 0; step_ < pairs_.size(); ++step_) {
            const auto& [of_before, of_after] = pairs_[step_];
            // What only one side writes has no partner.
            for (; left < of_before; ++left) overwrite(before_, left, partners_);
            for (; right < of_after; ++right) overwrite(after_, right, reverse_);
            left = of_before + 1;
            right = of_after + 1;
            const auto loop = loops_.find(step_);
            if (loop != loops_.end()) loop->second = partners_;
            result[step_] = differs(of_before, of_after);
        }
        return result;
    }

  private:
    using Partners = std::map<Name, Partner>;

    /// The first pair from a label on, on one side.
    std::optional<std::size_t> target(const Side& side, const std::string& label,
                                      bool of_before) const {
        const auto at = side.listing.labels.find(label);
        if (at == side.listing.labels.end()) return std::nullopt;
        const auto found = std::ranges::partition_point(
            pairs_, [&](const auto& p) { return (of_before ? p.first : p.second) < at->second; });
        return static_cast<std::size_t>(found - pairs_.begin());
    }

    void find_loops() {
        for (std::size_t i = 0; i < pairs_.size(); ++i) {
            const std::string& label = before_.normalised[pairs_[i].first].label;
            if (label.empty()) continue;
            const auto at = target(before_, label, true);
            if (at && *at <= i) loops_.try_emplace(*at);
        }
    }

    static void overwrite(const Side& side, std::size_t at, Partners& partners) {
        for (const Register& each : side.normalised[at].registers) {
            if (!each.result) continue;
            const int width = result_width(elf::opcode_of(side.listing.instructions[at]));
            for (int i = 0; i < width; ++i) partners.erase(next_to(name_of(each), i));
        }
    }

    bool differs(std::size_t of_before, std::size_t of_after) {
        const Normalised& left = before_.normalised[of_before];
        const Normalised& right = after_.normalised[of_after];
        bool differ = left.registers.size() != right.registers.size();
        const std::size_t count = std::min(left.registers.size(), right.registers.size());
        for (std::size_t i = 0; i < count; ++i) {
            if (left.registers[i].reuse != right.registers[i].reuse) differ = true;
            if (left.registers[i].result) continue;
            if (!holds_same(name_of(left.registers[i]), name_of(right.registers[i]))) differ = true;
        }
        for (std::size_t i = 0; i < count; ++i) {
            if (!left.registers[i].result) continue;
            const int width = result_width(elf::opcode_of(before_.listing.instructions[of_before]));
            for (int k = 0; k < width; ++k) {
                bind(next_to(name_of(left.registers[i]), k),
                     next_to(name_of(right.registers[i]), k));
            }
        }
        return differ || branches_elsewhere(left, right, of_before);
    }

    /// Also binds them, so that one difference is reported once.
    bool holds_same(const Name& left, const Name& right) {
        const auto known = partners_.find(left);
        const auto back = reverse_.find(right);
        if (known == partners_.end() || back == reverse_.end()) {
            bind(left, right);
            for (auto& [pair, at_begin] : loops_) {
                if (pair <= step_) at_begin.try_emplace(left, Partner{right, step_});
            }
            return true;
        }
        if (known->second.name == right && back->second.name == left) return true;
        // A result may have more registers than its opcode shows.
        for (int offset = 1; offset < 4; ++offset) {
            const auto begin = partners_.find(next_to(left, -offset));
            if (begin == partners_.end() || begin->second.since < known->second.since) continue;
            if (begin->second.name == next_to(right, -offset)) {
                bind(left, right);
                return true;
            }
        }
        bind(left, right);
        return false;
    }

    void bind(const Name& left, const Name& right) {
        partners_[left] = {right, step_};
        reverse_[right] = {left, step_};
    }

    bool branches_elsewhere(const Normalised& left, const Normalised& right,
                            std::size_t of_before) {
        if (left.label.empty() && right.label.empty()) return false;
        const auto before = target(before_, left.label, true);
        const auto after = target(after_, right.label, false);
        if (!before || !after) return left.label != right.label;
        if (*before != *after) return true;
        const auto loop = loops_.find(*before);
        if (*before > step_ || loop == loops_.end()) return false;
        return hands_on_otherwise(loop->second, pairs_[*before].first, of_before);
    }

    /// Whether what the loop reads first is elsewhere at its end than at its begin.
    bool hands_on_otherwise(const Partners& at_begin, std::size_t begin, std::size_t end) {
        if (end - begin > most_loop_steps - loop_steps_) return true;
        loop_steps_ += end - begin;
        std::set<Name> written;
        for (std::size_t i = begin; i <= end; ++i) {
            for (const Register& each : before_.normalised[i].registers) {
                const Name name = name_of(each);
                if (each.result || written.contains(name)) continue;
                const auto then = at_begin.find(name);
                const auto now = partners_.find(name);
                if (then != at_begin.end() && now != partners_.end() &&
                    then->second.name != now->second.name) {
                    return true;
                }
            }
            const int width = result_width(elf::opcode_of(before_.listing.instructions[i]));
            for (const Register& each : before_.normalised[i].registers) {
                for (int k = 0; each.result && k < width; ++k) {
                    written.insert(next_to(name_of(each), k));
                }
            }
        }
        return false;
    }

    Side before_, after_;
    const std::vector<std::pair<std::size_t, std::size_t>>& pairs_;
    std::size_t step_ = 0, loop_steps_ = 0;
    Partners partners_, reverse_;
    std::map<std::size_t, Partners> loops_;  ///< by the pair that a loop begins with
};

}  // namespace

std::vector<bool> differing_operands(
    const Side& before, const Side& after,
    const std::vector<std::pair<std::size_t, std::size_t>>& pairs) {
    return Matching(before, after, pairs).differing();
}

}  // namespace perfgate::sass
