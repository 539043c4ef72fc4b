// SPDX-License-Identifier: Apache-2.0
#include "inject/range_watch.hpp"

#include <unistd.h>

#include <utility>

#include "util/text.hpp"

namespace perfgate::inject {

RangeWatch::RangeWatch(const std::vector<CounterLabel>& labels) {
    for (const CounterLabel& label : labels) {
        Label& own = labels_.emplace_back();
        own.within = label.within;
        own.own_thread = label.own_thread;
        own.to_skip = label.skip;
        if (!label.within.empty()) watching_ = true;
    }
}

activity::StringId RangeWatch::text(std::string_view text) noexcept {
    if (!watching_ || text.empty()) return 0;
    try {
        const std::lock_guard lock(mutex_);
        const auto [known, added] =
            ids_.try_emplace(std::string(text), static_cast<activity::StringId>(texts_.size()));
        if (added) texts_.emplace_back(text);
        return known->second;
    } catch (...) {
        failed_ = true;
        return 0;
    }
}

std::uint32_t RangeWatch::begin(activity::StringId domain, activity::StringId name) noexcept {
    std::uint32_t id = next_.fetch_add(1);
    if (id == 0) id = next_.fetch_add(1);  // 0 is not a range id in NVTX
    if (!watching_) return id;
    try {
        const std::lock_guard lock(mutex_);
        const std::string full = domain == 0 ? texts_[name] : texts_[domain] + ":" + texts_[name];
        Open open{static_cast<std::uint32_t>(gettid()), {}};
        for (std::size_t i = 0; i < labels_.size(); ++i) {
            Label& label = labels_[i];
            if (label.within.empty()) continue;
            const auto [match, added] = label.matches.try_emplace(full, false);
            if (added) match->second = util::glob_match(label.within, full);
            if (!match->second) continue;
            if (label.to_skip > 0) {
                --label.to_skip;
                continue;
            }
            open.labels.push_back(i);
            ++label.open;
            ++label.open_by_thread[open.thread];
        }
        if (!open.labels.empty()) open_.emplace(id, std::move(open));
    } catch (...) {
        failed_ = true;
    }
    return id;
}

void RangeWatch::end(std::uint32_t id) noexcept {
    if (!watching_) return;
    try {
        const std::lock_guard lock(mutex_);
        const auto found = open_.find(id);
        if (found == open_.end()) return;
        for (const std::size_t i : found->second.labels) {
            --labels_[i].open;
            --labels_[i].open_by_thread[found->second.thread];
        }
        open_.erase(found);
    } catch (...) {
        failed_ = true;
    }
}

bool RangeWatch::is_inside(std::size_t label, std::uint32_t thread) {
    const std::lock_guard lock(mutex_);
    const Label& own = labels_[label];
    if (!own.own_thread) return own.open > 0;
    const auto found = own.open_by_thread.find(thread);
    return found != own.open_by_thread.end() && found->second > 0;
}

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
        const std::string name = util::demangled(symbol);
        for (std::size_t i = 0; i < states_.size(); ++i) {
            const std::string& pattern = states_[i].label.kernel;
            if (util::glob_match(pattern, symbol) || util::glob_match(pattern, name)) {
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
    return util::printable(util::demangled(symbol), longest_name);
}

}  // namespace perfgate::inject
