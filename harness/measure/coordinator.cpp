// SPDX-License-Identifier: Apache-2.0
#include "measure/coordinator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "measure/journal.hpp"
#include "metrics/catalogue.hpp"
#include "model/error.hpp"

namespace perfgate::measure {
namespace {

using Clock = std::chrono::steady_clock;

/// Device memory that the cases of one counter session may take together, as a fraction of the
/// device's: the rest is for counter data and the flush buffer.
constexpr double session_memory_share = 0.4;
/// Cases of one counter session: bounds the counter data (about 1 MB a kernel) and what a crash
/// costs.
constexpr std::size_t session_cases = 256;

/// A case on its way: where its result goes and how it is measured.
struct Item {
    const model::PlannedCase* planned;
    const std::string* suite;
    model::CaseResult* result;
    CaseFacts facts;
};

class Measuring {
  public:
    Measuring(const Capabilities& capabilities, Workers& workers, const MeasureOptions& options,
              Journal& journal)
        : capabilities_(capabilities), workers_(workers), options_(options), journal_(journal) {}

    bool interrupted() const { return interrupted_; }

    void ask_facts(std::vector<Item>& items) {
        FactsRequest request;
        for (const Item& item : items) request.cases.push_back(*item.result);
        const Reply reply = workers_.must_ask(request, options_.case_limit_s);
        const auto* facts = std::get_if<FactsReply>(&reply);
        if (!facts || facts->facts.size() != items.size())
            throw model::Error("worker: it answered something else than what was asked");
        std::string unsupported;
        for (std::size_t i = 0; i < items.size(); ++i) {
            items[i].facts = facts->facts[i];
            if (!items[i].facts.unsupported.empty())
                unsupported += fmt::format(
                    "\n{}:{}: {}: {}", items[i].planned->place.file, items[i].planned->place.line,
                    model::case_id(items[i].planned->spec), items[i].facts.unsupported);
        }
        if (!unsupported.empty())
            throw model::InputError(
                "cases that their variants cannot run; take them out of the matrix:" + unsupported);
    }

    void time(const Item& item, std::size_t done, std::size_t total) {
        const auto start = Clock::now();
        const auto answer =
            workers_.ask(MeasureRequest{*item.result, settings(item)}, options_.case_limit_s,
                         [&](const std::string& phase) { tell(item, phase, done, total); });
        if (answer.interrupted) {
            interrupted_ = true;
            return;
        }
        if (answer.reply) {
            if (const auto* measured = std::get_if<MeasureReply>(&*answer.reply)) {
                *item.result = measured->result;
                if (measured->device_lost) item.result->log = answer.log;
            } else if (const auto* failed = std::get_if<FailedReply>(&*answer.reply)) {
                note_error(item, failed->message, answer.log);
            } else {
                note_error(item, "the worker answered something else than what was asked", "");
            }
        } else {
            note_error(item, answer.why, answer.log);
            item.result->wall_s = std::chrono::duration<double>(Clock::now() - start).count();
        }
        journal_.add(*item.suite, *item.result);
    }

    /// The counters of all measured cases: in sessions of many, halved where a worker dies, until
    /// the case that kills it stands alone.
    void collect_counters(std::vector<Item>& items) {
        std::vector<Item*> wanting;
        for (Item& item : items) {
            if (item.result->status != model::CaseStatus::measured) continue;
            if (item.planned->target != model::Target::cuda) continue;
            if (counter_metrics(item.planned->metrics).empty()) continue;
            wanting.push_back(&item);
        }
        if (!capabilities_.counters) {
            for (Item* item : wanting) {
                note_not_collected(*item, capabilities_.counters_problem);
                journal_.add(*item->suite, *item->result);
            }
            return;
        }
        std::vector<Item*> session;
        const auto flush = [&] {
            if (!session.empty()) collect_session(session);
            session.clear();
        };
        double bytes = 0;
        const double limit = session_memory_share *
                             static_cast<double>(capabilities_.environment.device.memory_bytes);
        for (Item* item : wanting) {
            const double needs = static_cast<double>(item->facts.memory_bytes);
            const bool same_metrics =
                session.empty() || session.front()->planned->metrics == item->planned->metrics;
            if (!same_metrics || bytes + needs > limit || session.size() >= session_cases) {
                flush();
                bytes = 0;
            }
            session.push_back(item);
            bytes += needs;
            if (interrupted_) return;
        }
        flush();
    }

    CaseSettings settings(const Item& item) const {
        CaseSettings settings;
        settings.metrics = item.planned->metrics;
        settings.seed = item.planned->seed;
        settings.verify_seed = options_.verify_seed;
        settings.precision = item.planned->precision;
        settings.time_budget_s = item.planned->time_budget_s;
        settings.process = std::max<std::int64_t>(0, workers_.started() - 1);
        settings.verify_only = options_.verify_only;
        return settings;
    }

  private:
    void tell(const Item& item, std::string_view phase, std::size_t done, std::size_t total) {
        if (!options_.progress) return;
        const std::string id = model::case_id(item.planned->spec);
        options_.progress({*item.suite, id, phase, done, total});
    }

    static void note_error(const Item& item, const std::string& why, const std::string& log) {
        item.result->status = model::CaseStatus::error;
        item.result->reason = why;
        item.result->log = log;
    }

    static void note_not_collected(const Item& item, const std::string& why) {
        for (const std::string& metric : counter_metrics(item.planned->metrics))
            item.result->not_collected.push_back({metric, why});
    }

    void collect_session(std::vector<Item*> session) {
        if (interrupted_ || session.empty()) return;
        CountersRequest request;
        for (const Item* item : session) request.jobs.push_back({*item->result, settings(*item)});
        const double limit = options_.case_limit_s * static_cast<double>(session.size());
        const auto answer = workers_.ask(request, limit, [&](const std::string& phase) {
            tell(*session.front(), phase, 0, session.size());
        });
        if (answer.interrupted) {
            interrupted_ = true;
            return;
        }
        const auto* collected = answer.reply ? std::get_if<CountersReply>(&*answer.reply) : nullptr;
        if (collected && collected->results.size() == session.size()) {
            for (std::size_t i = 0; i < session.size(); ++i) {
                *session[i]->result = collected->results[i];
                journal_.add(*session[i]->suite, *session[i]->result);
            }
            return;
        }
        if (session.size() > 1) {
            const auto middle = session.begin() + static_cast<std::ptrdiff_t>(session.size() / 2);
            collect_session({session.begin(), middle});
            collect_session({middle, session.end()});
            return;
        }
        const auto* failed = answer.reply ? std::get_if<FailedReply>(&*answer.reply) : nullptr;
        note_not_collected(*session.front(),
                           "counters: " + (failed ? failed->message : answer.why));
        session.front()->result->log = answer.log;
        journal_.add(*session.front()->suite, *session.front()->result);
    }

    const Capabilities& capabilities_;
    Workers& workers_;
    const MeasureOptions& options_;
    Journal& journal_;
    bool interrupted_ = false;
};

}  // namespace

Workers::Answer Workers::ask(const Request& request, double limit_s,
                             const std::function<void(const std::string&)>& observe) {
    if (!process_) {
        process_ = std::make_unique<WorkerProcess>(options_.worker_command);
        ++started_;
    }
    process_->clear_stderr();
    const auto gone = [this](std::string why) {
        Answer answer;
        answer.why = std::move(why);
        answer.log = process_->stderr_tail();
        process_.reset();
        return answer;
    };
    if (!process_->send(write_request(request)))
        return gone("the worker " + process_->how_it_ended());

    const auto end = Clock::now() + std::chrono::duration<double>(limit_s);
    for (;;) {
        const WorkerProcess::Received received =
            process_->receive(end - Clock::now(), options_.stop);
        switch (received.outcome) {
            case WorkerProcess::Outcome::died: {
                const std::string how = process_->how_it_ended();
                return gone("the worker " + how);
            }
            case WorkerProcess::Outcome::timed_out:
                process_->kill();
                return gone(
                    fmt::format("no answer within {:g} s: the worker was ended; raise "
                                "--case-limit where the work takes that long",
                                limit_s));
            case WorkerProcess::Outcome::garbage:
                process_->kill();
                return gone("the worker's reply has no end");
            case WorkerProcess::Outcome::interrupted: {
                process_->kill();
                Answer answer = gone("interrupted");
                answer.interrupted = true;
                return answer;
            }
            case WorkerProcess::Outcome::line:
                break;
        }
        Reply reply;
        try {
            reply = parse_reply(received.line);
        } catch (const model::Error& error) {
            process_->kill();
            return gone(fmt::format("the worker's reply is malformed: {}", error.what()));
        }
        if (const auto* phase = std::get_if<PhaseReply>(&reply)) {
            if (observe) observe(phase->phase);
            continue;
        }
        Answer answer;
        const auto* measured = std::get_if<MeasureReply>(&reply);
        const auto* failed = std::get_if<FailedReply>(&reply);
        answer.log = process_->stderr_tail();
        if ((measured && measured->device_lost) || (failed && failed->device_lost))
            process_.reset();
        answer.reply = std::move(reply);
        return answer;
    }
}

Reply Workers::must_ask(const Request& request, double limit_s) {
    Answer answer = ask(request, limit_s, nullptr);
    if (!answer.reply) {
        // The last line that it wrote says more than the way it ended.
        std::string log = answer.log;
        while (!log.empty() && log.back() == '\n') log.pop_back();
        const std::size_t line = log.rfind('\n');
        const std::string last = line == std::string::npos ? log : log.substr(line + 1);
        throw model::Error(last.empty() ? answer.why : answer.why + ": " + last);
    }
    if (const auto* failed = std::get_if<FailedReply>(&*answer.reply)) {
        if (failed->usage) throw model::InputError(failed->message);
        throw model::Error(failed->message);
    }
    return std::move(*answer.reply);
}

model::Run measure(const model::Plan& plan, const Capabilities& capabilities, Workers& workers,
                   const MeasureOptions& options, Journal& journal) {
    model::Run run;
    run.verify_only = options.verify_only;
    run.environment = capabilities.environment;
    for (const model::PlannedSuite& suite : plan.suites) {
        model::SuiteResult result{suite.name, suite.file, suite.description, suite.partial, {}};
        result.relations = suite.relations;
        for (const model::PlannedCase& planned : suite.cases) {
            model::CaseResult entry;
            entry.spec = planned.spec;
            entry.place = planned.place;
            entry.tags = planned.tags;
            entry.gates = planned.gates;
            entry.reason = planned.skip_reason;
            for (const std::string& name : planned.metrics)
                if (const auto metric = metrics::find_metric(name))
                    run.metric_definitions[name] = metric->definition;
            result.cases.push_back(std::move(entry));
        }
        run.suites.push_back(std::move(result));
    }

    std::vector<Item> items;
    for (std::size_t s = 0; s < plan.suites.size(); ++s)
        for (std::size_t c = 0; c < plan.suites[s].cases.size(); ++c)
            if (plan.suites[s].cases[c].skip_reason.empty())
                items.push_back(
                    {&plan.suites[s].cases[c], &plan.suites[s].name, &run.suites[s].cases[c], {}});

    Measuring measuring(capabilities, workers, options, journal);
    measuring.ask_facts(items);
    const auto timed = [&run](const char* phase, const auto& work) {
        const auto start = Clock::now();
        work();
        run.phase_s[phase] = std::chrono::duration<double>(Clock::now() - start).count();
    };
    timed("timing", [&] {
        std::size_t done = 0;
        for (const Item& item : items) {
            if (measuring.interrupted()) break;
            measuring.time(item, done++, items.size());
        }
    });
    if (!measuring.interrupted() && !options.verify_only)
        timed("counters", [&] { measuring.collect_counters(items); });
    run.interrupted = measuring.interrupted();
    if (run.interrupted)
        for (const Item& item : items)
            if (item.result->status == model::CaseStatus::skipped)
                item.result->reason = "the run was interrupted before this case";
    return run;
}

}  // namespace perfgate::measure
