// SPDX-License-Identifier: Apache-2.0
// What is measured in processes without CUPTI, which lengthens each launch: one beside each process
// of the usual run, after it has ended.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "measure/batches.hpp"
#include "measure/device_chain.hpp"
#include "measure/preparation.hpp"
#include "measure/workers.hpp"
#include "metrics/catalogue.hpp"

namespace perfgate::measure {

namespace {

bool wants_untraced(const Item& item, bool only_first) {
    if (item.result->status != model::CaseStatus::measured || item.planned->group) return false;
    if (item.planned->target != model::Target::cuda) return false;
    return std::any_of(item.planned->metrics.begin(), item.planned->metrics.end(),
                       [&](const std::string& name) {
                           const auto metric = metrics::find_metric(name);
                           return metric && metric->source == metrics::Source::submission &&
                                  (!only_first || !item.result->metrics.contains(name));
                       });
}

/// The number of the usual process beside which it runs.
std::int64_t process_beside(const model::CaseResult& result) {
    std::int64_t last = 0;
    for (const auto& [name, series] : result.metrics) {
        for (const model::Batch& batch : series.batches) last = std::max(last, batch.process);
    }
    return last;
}

}  // namespace

void DeviceChain::untraced_pass(const std::vector<Item*>& items, std::int64_t round,
                                bool only_first) {
    Workers untraced = workers_.untraced();
    for (Item* item : items) {
        if (shared_.interrupted) return;
        if (wants_untraced(*item, only_first)) take_untraced(*item, round, untraced);
    }
}

void DeviceChain::take_untraced(Item& item, std::int64_t round, Workers& workers) {
    CaseSettings how = settings_of(item, shared_.options, process_beside(*item.result));
    how.times_only = how.untraced = true;
    how.round = round;
    model::CaseResult empty;
    empty.spec = item.result->spec;
    const Workers::Answer answer = ask(
        workers,
        [&](std::int64_t) {
            return MeasureRequest{empty, how};
        },
        shared_.options.case_limit_s, item);
    if (answer.interrupted) return;
    const CaseReply about = measured_reply(item, answer);
    if (about.reply == nullptr) {
        model::set_error(
            *item.result,
            fmt::format("when its submission was timed (process {}): {}", how.process, about.why),
            answer.log);
        shared_.journal.add(*item.suite, *item.result);
        return;
    }
    model::CaseResult more = about.reply->result;
    // The first process has no series that further batches could join.
    const bool is_new =
        std::any_of(more.metrics.begin(), more.metrics.end(),
                    [&](const auto& each) { return !item.result->metrics.contains(each.first); });
    if (is_new) {
        item.result->metrics.merge(more.metrics);
        join_notes(*item.result, more);
        item.result->wall_s += more.wall_s;
        shared_.journal.add(*item.suite, *item.result);
        return;
    }
    shared_.journal.add_batches(*item.suite, more);
    join_batches(*item.result, std::move(more));
}

}  // namespace perfgate::measure
