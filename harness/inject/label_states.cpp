// SPDX-License-Identifier: Apache-2.0
#include "inject/label_states.hpp"

#include <algorithm>

#include "model/text.hpp"

namespace perfgate::inject {
namespace {

constexpr std::size_t longest_name = 120;

}  // namespace

LabelStates::LabelStates(const std::vector<CounterLabel>& labels, RangeWatch& ranges)
    : ranges_(ranges), open_(labels.size()) {
    for (const CounterLabel& label : labels) states_.push_back({label});
}

const std::vector<std::size_t>& LabelStates::matching(const std::string& symbol) {
    const auto [known, added] = matching_.try_emplace(symbol);
    if (added) {
        const std::string name = model::demangled(symbol);
        for (std::size_t i = 0; i < states_.size(); ++i) {
            const std::string& pattern = states_[i].label.kernel;
            if (model::glob_match(pattern, symbol) || model::glob_match(pattern, name)) {
                known->second.push_back(i);
            }
        }
    }
    return known->second;
}

std::vector<std::size_t> LabelStates::due(const std::string& symbol, const model::LaunchSize& size,
                                          std::uint32_t thread) {
    std::vector<std::size_t> labels;
    for (const std::size_t i : matching(symbol)) {
        State& state = states_[i];
        if (state.done || !state.label.size.allows(size)) continue;
        const bool counts = state.label.within.empty() ? state.matched++ >= state.label.skip
                                                       : ranges_.is_inside(i, thread);
        if (counts) labels.push_back(i);
    }
    return labels;
}

void LabelStates::count(std::size_t label) {
    State& state = states_[label];
    if (++state.counted >= state.label.count) finish(label);
}

void LabelStates::finish(std::size_t label) {
    if (states_[label].done) return;
    states_[label].done = true;
    --open_;
}

bool LabelStates::refuse(std::size_t label) {
    finish(label);
    const bool first = !states_[label].refused;
    states_[label].refused = true;
    return first;
}

std::string readable(const std::string& symbol) {
    return model::printable(model::demangled(symbol), longest_name);
}

}  // namespace perfgate::inject
