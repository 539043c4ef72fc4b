// SPDX-License-Identifier: Apache-2.0
#include "measure/device_chain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "measure/batches.hpp"
#include "measure/case_counters.hpp"
#include "measure/clock_stability.hpp"
#include "measure/preparation.hpp"

namespace perfgate::measure {
namespace {

using Clock = std::chrono::steady_clock;

/// Device memory that the cases of one counter session may take together, as a fraction of the
/// device's memory; the rest is for counter data and the flush buffer.
constexpr double session_memory_share = 0.4;
/// Cases of one counter session: bounds the counter data (about 1 MB per kernel) and the cost of a
/// crash.
constexpr std::size_t session_cases = 256;

/// A worker that dies before it has begun with a case was killed by something else: this many more
/// workers may try.
constexpr int tries = 3;

/// What the chain itself does: requests, replies, journal, ends of processes.
constexpr const char* between_phases = "between";
/// Starting a process, up to the case's first phase.
constexpr const char* start_phase = "start";
constexpr const char* programs_phase = "programs";

bool measured(const Item& item) {
    return item.result->status == model::CaseStatus::measured;
}

/// Whether the next batch of the group's cases is to show what recording costs.
bool needs_overhead(const std::vector<Item*>& cases, std::int64_t round,
                    const MeasureOptions& options) {
    const auto known = [&](const Item* item) {
        return options.known_overheads.contains(
            {*item->suite, model::case_id(item->planned->spec)});
    };
    const auto taken = [](const Item* item) {
        const auto series = item->result->metrics.find("tracing_overhead");
        return series == item->result->metrics.end() ? 0 : series->second.batches.size();
    };
    return std::any_of(cases.begin(), cases.end(), [&](const Item* item) {
        if (taken(item) >= overhead_batches) return false;
        return item->bare_time ||
               (item->host_time && (round > 0 || item->looks_slower || !known(item)));
    });
}

/// The cases that share processes of their own.
std::vector<std::vector<Item*>> by_group(const std::vector<Item*>& items) {
    std::vector<std::vector<Item*>> groups;
    for (Item* item : items) {
        if (!item->planned->group) continue;
        const auto known = std::find_if(groups.begin(), groups.end(), [&](const auto& group) {
            return group.front()->suite == item->suite &&
                   group.front()->planned->group == item->planned->group;
        });
        if (known == groups.end()) {
            groups.push_back({item});
        } else {
            known->push_back(item);
        }
    }
    return groups;
}

model::CaseResult without_counters(const Item& item) {
    model::CaseResult result = *item.result;
    for (const std::string& name : counter_metrics(item.planned->metrics)) {
        result.metrics.erase(name);
    }
    return result;
}

/// The counters of a case that were collected again, and nothing else of it.
model::CaseResult counters_alone(const Item& item, const model::CaseResult& collected,
                                 std::int64_t round) {
    model::CaseResult more;
    more.spec = item.result->spec;
    for (const std::string& name : counter_metrics(item.planned->metrics)) {
        const auto found = collected.metrics.find(name);
        if (found == collected.metrics.end()) continue;
        model::MetricSeries& series = more.metrics.emplace(name, found->second).first->second;
        for (model::Batch& batch : series.batches) batch.round = round;
    }
    return more;
}

void add_note(Reply& reply, std::string note) {
    if (auto* of_case = std::get_if<MeasureReply>(&reply)) {
        of_case->result.notes.push_back(std::move(note));
    } else if (auto* counters = std::get_if<CountersReply>(&reply);
               counters != nullptr && !counters->results.empty()) {
        counters->results.front().notes.push_back(std::move(note));
    }
}

}  // namespace

Item* CaseQueue::take(std::size_t chain) {
    const std::lock_guard lock(mutex_);
    const auto next = std::find_if(items_.begin(), items_.end(), [&](const Item* item) {
        return !item->chain || *item->chain == chain;
    });
    if (next == items_.end()) return nullptr;
    Item* item = *next;
    items_.erase(next);
    item->chain = chain;
    return item;
}

void DeviceChain::begin(CaseQueue& queue) {
    phases_.enter(between_phases);
    while (!shared_.interrupted) {
        Item* item = queue.take(number_);
        if (!item) break;
        items_.push_back(item);
        if (!item->begun && !item->planned->group) first(*item);
    }
    if (!shared_.interrupted && !shared_.options.verify_only) {
        collect_counters(items_, std::nullopt);
    }
    workers_.end();
    if (!shared_.options.verify_only) untraced_pass(items_, 0, true);
    std::vector<Item*> fresh;
    for (Item* item : items_) {
        if (!item->begun) fresh.push_back(item);
    }
    for (const std::vector<Item*>& cases : by_group(fresh)) {
        if (!shared_.interrupted) take_batch(cases, 0);
    }
    phases_.enter({});
}

void DeviceChain::measure(CaseQueue& queue) {
    begin(queue);
    if (shared_.interrupted || shared_.options.verify_only) return;
    fill_up(items_, shared_.options.processes);
}

void DeviceChain::replace_excluded() {
    const std::size_t processes = shared_.options.processes;
    for (std::size_t more = 0; more < processes; ++more) {
        std::vector<Item*> thin;
        for (Item* item : items_) {
            if (!measured(*item)) continue;
            exclude_other_clocks(*item->result);
            const std::size_t wanted = item->wanted == 0 ? processes : item->wanted;
            if (!too_thin(*item->result, wanted).empty()) thin.push_back(item);
        }
        if (thin.empty() || shared_.interrupted) break;
        pass(thin, 0);
    }
}

void DeviceChain::fill_up(const std::vector<Item*>& items, std::size_t processes,
                          std::size_t collections) {
    std::size_t most = collections;
    for (Item* item : items) {
        item->wanted = processes;
        if (!item->planned->group && item->passes < processes) {
            most = std::max(most, processes - item->passes);
        }
    }
    workers_.expect(std::max(most, workers_.expected()));
    // Interleaved: each process takes a batch of every case, so that drift affects all of them
    // equally.
    for (;;) {
        std::vector<Item*> missing;
        for (Item* item : items) {
            if (measured(*item) && item->passes < processes) missing.push_back(item);
        }
        if (missing.empty() || shared_.interrupted) break;
        pass(missing, 0, collections > 0 ? items : std::vector<Item*>());
        if (collections > 0) --collections;
    }
    for (; collections > 0 && !shared_.interrupted; --collections) collect_again(items, 0);
}

void DeviceChain::pass(const std::vector<Item*>& items, std::int64_t round,
                       const std::vector<Item*>& counted) {
    phases_.enter(between_phases);
    workers_.end();
    for (Item* item : items) {
        if (shared_.interrupted) break;
        if (measured(*item) && !item->planned->group) again(*item, round);
    }
    if (!shared_.interrupted) collect_counters(counted, round);
    workers_.end();
    untraced_pass(items, round, false);
    for (const std::vector<Item*>& cases : by_group(items)) {
        if (!shared_.interrupted) take_batch(cases, round);
    }
    phases_.enter({});
}

void DeviceChain::first(Item& item) {
    const auto start = Clock::now();
    const auto answer = ask(
        workers_,
        [&](std::int64_t process) {
            return MeasureRequest{*item.result, settings_of(item, shared_.options, process)};
        },
        shared_.options.case_limit_s, item);
    if (answer.interrupted) return;
    item.begun = true;
    item.passes = 1;
    if (const CaseReply about = case_reply(item, answer); about.reply != nullptr) {
        *item.result = about.reply->result;
        if (about.reply->device_lost) item.result->log = answer.log;
    } else {
        model::set_error(*item.result, about.why, answer.log);
        item.result->wall_s = seconds_since(start);
    }
    shared_.journal.add(*item.suite, *item.result);
    ++shared_.done;
}

void DeviceChain::again(Item& item, std::int64_t round) {
    const auto start = Clock::now();
    model::CaseResult empty;
    empty.spec = item.result->spec;
    std::int64_t number = 0;
    const auto answer = ask(
        workers_,
        [&](std::int64_t process) {
            CaseSettings how = settings_of(item, shared_.options, process);
            how.times_only = true;
            // Two processes tell which arguments are addresses.
            how.arguments_too = item.passes == 1 && !item.result->kernels.empty();
            how.round = round;
            number = process;
            return MeasureRequest{empty, std::move(how)};
        },
        shared_.options.case_limit_s, item);
    if (answer.interrupted) return;
    ++item.passes;
    ++shared_.done;
    const CaseReply about = measured_reply(item, answer);
    if (about.reply == nullptr) {
        // A case that fails once has failed: its earlier measurements are of no use.
        model::set_error(
            *item.result,
            fmt::format("when it was measured again (process {}): {}", number, about.why),
            answer.log);
        item.result->wall_s += seconds_since(start);
        shared_.journal.add(*item.suite, *item.result);
        return;
    }
    shared_.journal.add_batches(*item.suite, about.reply->result);
    join_batches(*item.result, about.reply->result);
}

/// The next batch, or the first, of the cases of one group. No worker runs meanwhile.
void DeviceChain::take_batch(const std::vector<Item*>& cases, std::int64_t round) {
    ProgramRequest request;
    request.board = shared_.capabilities.environment.device.board;
    request.round = round;
    request.first = !cases.front()->begun;
    request.verify_only = shared_.options.verify_only;
    request.overhead = needs_overhead(cases, round, shared_.options);
    std::vector<model::CaseResult> results;
    for (const Item* item : cases) {
        request.cases.push_back(item->planned);
        request.gated.push_back(item->gated);
        request.process = std::max(request.process, last_process(*item->result, request.board) + 1);
        model::CaseResult& result = results.emplace_back();
        if (request.first) {
            result = *item->result;
        } else {
            result.spec = item->result->spec;
        }
    }
    const auto observe = [&](std::string_view phase) { shared_.tell(*cases.front(), phase); };
    phases_.enter(programs_phase);
    const bool finished = shared_.options.programs->measure(request, results, observe);
    phases_.enter(between_phases);
    if (round == stacks_round) {
        // All is measured already: without stacks a detail is missing.
        for (std::size_t i = 0; i < cases.size(); ++i) {
            ++shared_.done;
            if (finished && results[i].status == model::CaseStatus::measured) {
                join_batches(*cases[i]->result, std::move(results[i]));
            }
        }
        return;
    }
    if (!finished) {
        shared_.interrupted = true;
        return;
    }
    for (std::size_t i = 0; i < cases.size(); ++i) {
        Item& item = *cases[i];
        model::CaseResult& result = results[i];
        ++item.passes;
        ++shared_.done;
        item.begun = true;
        if (!request.first && result.status == model::CaseStatus::measured) {
            shared_.journal.add_batches(*item.suite, result);
            join_batches(*item.result, std::move(result));
            continue;
        }
        if (request.first) {
            *item.result = std::move(result);
        } else {
            model::set_error(*item.result,
                             fmt::format("when it was measured again (process {}): {}",
                                         request.process, result.reason),
                             result.log);
            if (result.status == model::CaseStatus::invalid) {
                item.result->status = model::CaseStatus::invalid;
            }
            join_notes(*item.result, result);
        }
        shared_.journal.add(*item.suite, *item.result);
    }
}

Workers::Answer DeviceChain::ask(Workers& workers,
                                 const std::function<Request(std::int64_t process)>& request,
                                 double limit_s, const Item& item) {
    for (int attempt = 1;; ++attempt) {
        phases_.enter(start_phase);
        const std::int64_t process = workers.process(item.planned->spec.workload);
        Workers::Answer answer =
            workers.ask(request(process), limit_s, [&](const std::string& phase) {
                phases_.enter(phase);
                shared_.tell(item, phase);
            });
        phases_.enter(between_phases);
        if (answer.interrupted) shared_.interrupted = true;
        if (answer.timed_out) {
            answer.why += ": it was ended; raise --time-limit if the work takes that long";
        }
        if (answer.not_begun && attempt < tries) continue;
        const std::vector<std::string> deaths = workers.take_deaths();
        if (answer.reply && !deaths.empty()) {
            add_note(*answer.reply,
                     fmt::format("workers that died before process {} began: {} ({})", process,
                                 deaths.size(), deaths.back()));
        }
        return answer;
    }
}

/// The counters of all measured cases: in sessions of many cases, halved if a worker dies, until
/// the case that kills it is isolated.
void DeviceChain::collect_counters(const std::vector<Item*>& items,
                                   std::optional<std::int64_t> again) {
    std::vector<Item*> wanting;
    for (Item* item : items) {
        if (!measured(*item) || item->planned->group || (!again && item->counted)) continue;
        if (item->planned->target != model::Target::cuda) continue;
        if (counter_metrics(item->planned->metrics).empty()) continue;
        wanting.push_back(item);
    }
    // Counters depend on where in memory a case's buffers are: their spread is to contain it.
    if (again && !wanting.empty()) backwards_ = !backwards_;
    if (again && backwards_) std::ranges::reverse(wanting);
    const auto host_of = [&](const Item& item) {
        return workers_.host_of(item.planned->spec.workload);
    };
    std::vector<Item*> session;
    const auto flush = [&] {
        if (!session.empty()) collect_session(session, again);
        session.clear();
    };
    double bytes = 0;
    const double limit = session_memory_share *
                         static_cast<double>(shared_.capabilities.environment.device.memory_bytes);
    for (Item* item : wanting) {
        const double needs = static_cast<double>(item->facts.memory_bytes);
        const bool alike =
            session.empty() || (session.front()->planned->metrics == item->planned->metrics &&
                                host_of(*session.front()) == host_of(*item));
        if (!alike || bytes + needs > limit || session.size() >= session_cases) {
            flush();
            bytes = 0;
        }
        session.push_back(item);
        bytes += needs;
        if (shared_.interrupted) return;
    }
    flush();
}

void DeviceChain::collect_again(const std::vector<Item*>& items, std::int64_t round) {
    phases_.enter(between_phases);
    workers_.end();
    collect_counters(items, round);
    workers_.end();
    phases_.enter({});
}

void DeviceChain::collect_session(std::vector<Item*> session, std::optional<std::int64_t> again) {
    if (shared_.interrupted || session.empty()) return;
    const double limit = shared_.options.case_limit_s * static_cast<double>(session.size());
    const auto answer = ask(
        workers_,
        [&](std::int64_t process) {
            CountersRequest request;
            for (const Item* item : session) {
                request.jobs.push_back({again ? without_counters(*item) : *item->result,
                                        settings_of(*item, shared_.options, process)});
            }
            return request;
        },
        limit, *session.front());
    if (answer.interrupted) return;
    const auto* collected = answer.reply ? std::get_if<CountersReply>(&*answer.reply) : nullptr;
    const auto same_case = [](const Item* item, const model::CaseResult& result) {
        return is_about(*item, result);
    };
    if (collected && std::equal(session.begin(), session.end(), collected->results.begin(),
                                collected->results.end(), same_case)) {
        for (std::size_t i = 0; i < session.size(); ++i) {
            if (again) {
                model::CaseResult more = counters_alone(*session[i], collected->results[i], *again);
                shared_.journal.add_batches(*session[i]->suite, more);
                join_batches(*session[i]->result, std::move(more));
                continue;
            }
            *session[i]->result = collected->results[i];
            shared_.journal.add(*session[i]->suite, *session[i]->result);
        }
        return;
    }
    if (session.size() > 1) {
        const auto middle = session.begin() + static_cast<std::ptrdiff_t>(session.size() / 2);
        collect_session({session.begin(), middle}, again);
        collect_session({middle, session.end()}, again);
        return;
    }
    if (again) return;
    const Item& alone = *session.front();
    note_no_counters(*alone.result, alone.planned->metrics, "counters: " + why_no_reply(answer));
    alone.result->log = answer.log;
    shared_.journal.add(*alone.suite, *alone.result);
}

}  // namespace perfgate::measure
