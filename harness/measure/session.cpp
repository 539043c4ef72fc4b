// SPDX-License-Identifier: Apache-2.0
#include "measure/session.hpp"

#include <algorithm>
#include <exception>
#include <map>
#include <thread>
#include <utility>

#include "measure/batches.hpp"
#include "measure/case_counters.hpp"
#include "measure/clock_stability.hpp"
#include "measure/preparation.hpp"
#include "model/case.hpp"

namespace perfgate::measure {
namespace {

/// A device must answer within this time, because others wait for it.
constexpr double open_limit_s = 60;

bool named(const std::vector<model::NotCollected>& entries, const std::string& metric) {
    return std::any_of(entries.begin(), entries.end(),
                       [&](const model::NotCollected& entry) { return entry.metric == metric; });
}

/// Whether the counters of a previously measured case were requested.
bool has_counters(const model::CaseResult& result, const std::vector<std::string>& metrics) {
    const std::vector<std::string> wanted = counter_metrics(metrics);
    const auto& inapplicable = result.not_applicable;
    return std::all_of(wanted.begin(), wanted.end(), [&](const std::string& name) {
        return result.metrics.contains(name) || named(result.not_collected, name) ||
               std::find(inapplicable.begin(), inapplicable.end(), name) != inapplicable.end();
    });
}

/// The chain of the device that measured the case, if there is one.
std::optional<std::size_t> chain_of(const model::CaseResult& result,
                                    const std::vector<MeasuredDevice>& devices) {
    const std::string board = model::board_of(result);
    const auto found = std::find_if(devices.begin(), devices.end(),
                                    [&](const auto& device) { return device.board == board; });
    if (board.empty() || found == devices.end()) return std::nullopt;
    return static_cast<std::size_t>(found - devices.begin());
}

/// Takes over the results of an earlier execution.
void take_over(std::vector<Item>& items, const JournalContent& journal,
               const std::vector<MeasuredDevice>& devices) {
    for (Item& item : items) {
        const auto found = journal.cases.find({*item.suite, model::case_id(item.planned->spec)});
        // A case whose plugin no longer answers has changed.
        if (found == journal.cases.end() || item.begun) continue;
        // Its tags and its place may have been edited since.
        model::CaseResult taken = found->second;
        taken.tags = item.result->tags;
        taken.place = item.result->place;
        *item.result = std::move(taken);
        item.begun = true;
        item.counted = has_counters(*item.result, item.planned->metrics);
        item.passes = std::max<std::size_t>(1, processes_in_round(*item.result, 0));
        item.chain = chain_of(*item.result, devices);
    }
}

/// The first number that an earlier execution has not used.
std::int64_t next_process(const std::vector<Item>& items, const MeasuredDevice& device) {
    std::int64_t last = -1;
    for (const Item& item : items) last = std::max(last, last_process(*item.result, device.board));
    return last + 1;
}

/// Calls `work(i)` for each chain, the first on this thread and the others on one each.
template <class Work>
void on_all(std::size_t chains, Shared& shared, const Work& work) {
    std::vector<std::exception_ptr> failures(chains);
    const auto guarded = [&](std::size_t i) {
        try {
            work(i);
        } catch (const Interrupted&) {
            shared.interrupted = true;  // earlier measurements remain valid
        } catch (...) {
            failures[i] = std::current_exception();
            shared.interrupted = true;  // the others end early: the run fails
        }
    };
    {
        std::vector<std::jthread> threads;
        for (std::size_t i = 1; i < chains; ++i) threads.emplace_back(guarded, i);
        guarded(0);
    }
    for (const std::exception_ptr& failure : failures) {
        if (failure) std::rethrow_exception(failure);
    }
}

bool can_go_on(const Item& item) {
    return item.result->status == model::CaseStatus::measured && item.chain;
}

std::vector<Item*> of_chain(const std::vector<Item*>& items, std::size_t chain) {
    std::vector<Item*> found;
    for (Item* item : items) {
        if (item->chain == chain) found.push_back(item);
    }
    return found;
}

}  // namespace

Session::Session(const model::Plan& plan, const Capabilities& capabilities,
                 std::vector<MeasuredDevice> devices, MeasureOptions options, Journal& journal)
    : devices_(std::move(devices)),
      options_(std::move(options)),
      run_(empty_run(plan, capabilities, options_)),
      items_(items_of(plan, run_)),
      shared_(capabilities, options_, journal) {
    for (std::size_t i = 0; i < devices_.size(); ++i) {
        chains_.emplace_back(i, *devices_[i].workers, shared_);
    }
}

void Session::prepare(Unsupported unsupported) {
    try {
        ask_facts(items_, *devices_.front().workers, shared_);
    } catch (const Interrupted&) {
        shared_.interrupted = true;
    }
    if (unsupported == Unsupported::refuse) require_supported(items_);
    std::erase_if(items_, [](Item& item) {
        if (item.facts.unsupported.empty()) return false;
        item.result->reason = item.facts.unsupported;
        return true;
    });
    if (options_.resumed) take_over(items_, *options_.resumed, devices_);
}

void Session::keep_devices_of(const model::Run& earlier) {
    std::map<std::pair<std::string, std::string>, std::size_t> chains;
    for (const model::SuiteResult& suite : earlier.suites) {
        for (const model::CaseResult& result : suite.cases) {
            if (const auto chain = chain_of(result, devices_)) {
                chains[{suite.name, model::case_id(result.spec)}] = *chain;
            }
        }
    }
    for (Item& item : items_) {
        const auto found = chains.find({*item.suite, model::case_id(item.planned->spec)});
        if (found != chains.end()) item.chain = found->second;
    }
}

std::vector<RecordedLaunch> Session::record_launches() {
    std::vector<RecordedLaunch> launches;
    Workers& workers = *devices_.front().workers;
    for (Item& item : items_) {
        // Only a run shows what a program does, so it is measured at once.
        if (item.begun || item.planned->group || shared_.interrupted) continue;
        MeasureRequest request{
            *item.result,
            settings_of(item, options_, workers.process(item.planned->spec.workload))};
        request.settings.code_only = true;
        recording_.enter("start");
        Workers::Answer answer =
            workers.ask(request, options_.case_limit_s, [&](const std::string& phase) {
                recording_.enter(phase);
                shared_.tell(item, phase);
            });
        if (answer.interrupted) shared_.interrupted = true;
        auto* reply = answer.reply ? std::get_if<MeasureReply>(&*answer.reply) : nullptr;
        if (!reply || reply->result.status != model::CaseStatus::measured) continue;
        if (!is_about(item, reply->result)) continue;
        launches.push_back({item.at, std::move(reply->result)});
    }
    recording_.enter("between");
    workers.end();  // all times come from processes of the same kind
    recording_.enter({});
    return launches;
}

std::vector<model::CaseCode> Session::machine_code(const std::vector<model::CaseIndex>& cases) {
    std::vector<model::CaseCode> all;
    std::vector<Item*> of_programs;
    bool stopped = false;
    announce(0, cases.size());
    for (const model::CaseIndex& at : cases) {
        Item* const item = item_at(at);
        if (item == nullptr || shared_.interrupted) continue;
        if (item->begun && !can_go_on(*item)) continue;
        if (item->planned->group) {
            of_programs.push_back(item);
            continue;
        }
        std::optional<model::CaseCode> found;
        if (!stopped) found = code_of(*item);
        stopped = !found;
        model::CaseCode& code = all.emplace_back(std::move(found).value_or(model::CaseCode{}));
        if (stopped) code.problem = "interrupted";
        code.suite = *item->suite;
        code.id = model::case_id(item->planned->spec);
    }
    for (auto begin = of_programs.begin(); begin != of_programs.end() && !shared_.interrupted;) {
        const auto end = std::stable_partition(begin, of_programs.end(), [&](const Item* each) {
            return each->suite == (*begin)->suite &&
                   each->planned->group == (*begin)->planned->group;
        });
        for (model::CaseCode& code : code_of_program({begin, end})) all.push_back(std::move(code));
        begin = end;
    }
    return all;
}

std::vector<model::CaseCode> Session::code_of_program(const std::vector<Item*>& cases) {
    for (const MeasuredDevice& device : devices_) device.workers->end();
    ProgramRequest request;
    request.board = shared_.capabilities.environment.device.board;
    std::vector<model::CaseResult> results;
    for (const Item* item : cases) {
        request.cases.push_back(item->planned);
        results.push_back(*item->result);
    }
    std::vector<model::CaseCode> all = options_.programs->machine_code(
        request, results, [&](std::string_view phase) { shared_.tell(*cases.front(), phase); });
    for (std::size_t i = 0; i < cases.size(); ++i) {
        all[i].suite = *cases[i]->suite;
        all[i].id = model::case_id(cases[i]->planned->spec);
    }
    return all;
}

std::optional<model::CaseCode> Session::code_of(const Item& item) {
    Workers& workers = *devices_[item.chain.value_or(0)].workers;
    workers.end();
    const CodeRequest request{
        *item.result, settings_of(item, options_, workers.process(item.planned->spec.workload))};
    Workers::Answer answer =
        workers.ask(request, options_.case_limit_s,
                    [&](const std::string& phase) { shared_.tell(item, phase); });
    if (answer.interrupted) return std::nullopt;
    // A second case in the same process got samples that CUPTI gave no function's name.
    workers.end();
    if (auto* reply = answer.reply ? std::get_if<CodeReply>(&*answer.reply) : nullptr) {
        return std::move(reply->code);
    }
    model::CaseCode code;
    code.problem = why_no_reply(answer);
    return code;
}

void Session::leave_out(RecordedLaunch launch, const std::string& reason) {
    model::CaseResult& result = *item_at(launch.at)->result;
    result = std::move(launch.result);
    result.status = model::CaseStatus::skipped;
    result.unchanged = true;
    result.reason = reason;
}

template <class Work>
void Session::on_devices(const Work& work) {
    on_all(chains_.size(), shared_, [&](std::size_t i) { work(chains_[i], i); });
}

/// What the first measuring operation does: `work` gets a chain and the queue of all cases.
template <class Work>
void Session::begin(const Work& work) {
    for (const MeasuredDevice& device : devices_) {
        device.workers->count_from(next_process(items_, device));
    }

    std::vector<Item*> order;
    for (Item& item : items_) {
        if (item.result->unchanged) continue;
        // Programs run one at a time, on the first device: the cases of one share its processes.
        if (item.planned->group) item.chain = 0;
        order.push_back(&item);
    }
    // Each host's processes start once.
    const Workers& workers = *devices_.front().workers;
    std::stable_sort(order.begin(), order.end(), [&](const Item* left, const Item* right) {
        return workers.host_of(left->planned->spec.workload) <
               workers.host_of(right->planned->spec.workload);
    });
    if (devices_.size() > 1) {
        std::stable_sort(order.begin(), order.end(), [](const Item* left, const Item* right) {
            const auto work_of = [](const Item* item) {
                return std::pair(item->facts.work.flops, item->facts.work.bytes);
            };
            return work_of(left) > work_of(right);
        });
    }
    const std::size_t announced = options_.verify_only ? 1 : options_.processes;
    for (Item* item : order) item->announced = announced;
    shared_.total = order.size() * announced;
    CaseQueue queue(std::move(order));
    for (const Item& item : items_) shared_.done += item.passes;

    on_devices([&](DeviceChain& chain, std::size_t i) {
        // A device that cannot be opened must not fail case after case while other devices work.
        if (i > 0 && !shared_.interrupted) {
            devices_[i].workers->must_ask(BoardStateRequest{}, open_limit_s);
        }
        work(chain, queue);
    });
}

void Session::measure_first() {
    begin([](DeviceChain& chain, CaseQueue& queue) { chain.begin(queue); });
}

void Session::measure_all() {
    begin([](DeviceChain& chain, CaseQueue& queue) { chain.measure(queue); });
}

void Session::announce(std::size_t cases, std::size_t processes) {
    shared_.total += cases * processes;
    for (const MeasuredDevice& device : devices_) device.workers->expect(processes);
}

void Session::fill_up(const std::vector<model::CaseIndex>& cases, std::size_t processes,
                      std::size_t collections) {
    if (options_.verify_only) return;
    const std::vector<Item*> items = items_at(cases);
    for (Item* item : items) {
        shared_.total += processes;
        shared_.total -= std::exchange(item->announced, processes);
    }
    on_devices([&](DeviceChain& chain, std::size_t i) {
        chain.fill_up(of_chain(items, i), processes, collections);
    });
}

void Session::look_slower(const std::vector<model::CaseIndex>& cases) {
    for (Item* item : items_at(cases)) item->looks_slower = true;
}

void Session::replace_excluded() {
    if (options_.verify_only) return;
    on_devices([](DeviceChain& chain, std::size_t /*i*/) { chain.replace_excluded(); });
}

void Session::collect_again(const std::vector<model::CaseIndex>& cases, std::int64_t round,
                            std::size_t times) {
    if (options_.verify_only) return;
    const std::vector<Item*> items = items_at(cases);
    if (items.empty()) return;
    announce(0, times);
    for (std::size_t n = 0; n < times && !shared_.interrupted; ++n) {
        on_devices([&](DeviceChain& chain, std::size_t i) {
            chain.collect_again(of_chain(items, i), round);
        });
    }
}

void Session::pass(const std::vector<model::CaseIndex>& cases, std::int64_t round) {
    pass(items_at(cases), round);
}

void Session::measure_again(const std::vector<model::CaseIndex>& cases, std::int64_t round,
                            std::size_t processes) {
    const std::vector<Item*> items = items_at(cases);
    announce(items.size(), processes);
    for (std::size_t n = 0; n < processes && !shared_.interrupted; ++n) pass(items, round);
}

void Session::pass(const std::vector<Item*>& items, std::int64_t round) {
    on_devices([&](DeviceChain& chain, std::size_t i) { chain.pass(of_chain(items, i), round); });
    for (Item* item : items) {
        if (can_go_on(*item)) exclude_other_clocks(*item->result);
    }
}

Item* Session::item_at(const model::CaseIndex& at) {
    const auto found =
        std::lower_bound(items_.begin(), items_.end(), at,
                         [](const Item& item, const auto& place) { return item.at < place; });
    return found != items_.end() && found->at == at ? &*found : nullptr;
}

std::vector<Item*> Session::items_at(const std::vector<model::CaseIndex>& cases) {
    std::vector<Item*> items;
    for (const model::CaseIndex& at : cases) {
        if (Item* item = item_at(at); item && can_go_on(*item)) items.push_back(item);
    }
    return items;
}

model::Run Session::finish() {
    if (!options_.verify_only && !shared_.interrupted) conclude(items_, options_.processes);
    for (const DeviceChain& chain : chains_) {
        for (const auto& [phase, seconds] : chain.phases().seconds()) {
            run_.phase_s[phase] = std::max(run_.phase_s[phase], seconds);
        }
    }
    for (const auto& [phase, seconds] : recording_.seconds()) run_.phase_s[phase] += seconds;
    run_.interrupted = shared_.interrupted;
    if (run_.interrupted) note_interrupted(items_);
    return std::move(run_);
}

}  // namespace perfgate::measure
