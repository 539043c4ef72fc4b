// SPDX-License-Identifier: Apache-2.0
#include "measure/workers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <thread>
#include <utility>
#include <variant>

namespace perfgate::measure {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

namespace {

/// A process may take this long to start and to open its device, regardless of the request's limit:
/// a limit on a case must not fail a start on a busy machine.
constexpr double start_limit_s = 60;
/// Loading one plugin file takes milliseconds; from a slow network, seconds.
constexpr double loading_limit_s = 20;
/// A script imports what it needs: torch alone takes seconds, and minutes from a slow network.
constexpr double import_limit_s = 120;
/// A worker that dies during a query was perhaps killed from outside, for example when memory ran
/// out, so another one is tried.
constexpr int most_tries = 3;

constexpr const char* foreign_reply =
    "the worker sent something other than a reply to this request and was ended: a plugin writes "
    "to descriptors that are not its own";

/// The state of a worker, as reported by its phases.
struct Place {
    std::string loading;  ///< the plugin file; empty: none
    std::string phase;    ///< the last phase of the case; empty: it has not begun

    /// The reason of a failure, with its place.
    std::string why(const std::string& what) const {
        if (!loading.empty()) {
            return fmt::format("plugin {}: the worker {} when it loaded the file", loading, what);
        }
        if (!phase.empty()) return fmt::format("the worker {} (last phase: {})", what, phase);
        return "the worker " + what;
    }
};

/// The workload of the cases that the request is about; empty: it is about none.
std::string workload_of(const Request& request) {
    return std::visit(
        [](const auto& fields) -> std::string {
            if constexpr (requires { fields.result; }) {
                return fields.result.spec.workload;
            } else if constexpr (requires { fields.jobs; }) {
                return fields.jobs.empty() ? "" : fields.jobs.front().result.spec.workload;
            } else if constexpr (requires { fields.cases; }) {
                return fields.cases.empty() ? "" : fields.cases.front().spec.workload;
            } else {
                return {};
            }
        },
        request);
}

}  // namespace

Workers Workers::untraced() const {
    Workers others({}, stop_);
    others.hosts_.clear();
    for (const Host& host : hosts_) {
        others.add_host(host.command, host.workloads);
        others.hosts_.back().command.emplace_back("--no-cupti");
    }
    return others;
}

void Workers::add_host(std::vector<std::string> command, std::set<std::string> workloads) {
    hosts_.push_back({std::move(command), std::move(workloads)});
}

void Workers::expect(std::size_t processes) {
    for (Host& host : hosts_) host.expected = processes;
}

std::size_t Workers::host_of(const std::string& workload) const {
    for (std::size_t i = 1; i < hosts_.size(); ++i) {
        if (hosts_[i].workloads.contains(workload)) return i;
    }
    return 0;
}

std::int64_t Workers::process(const std::string& workload) {
    if (!workload.empty() && host_of(workload) != host_) {
        process_.reset();
        host_ = host_of(workload);
    }
    if (!process_) start();
    return started_ - 1;
}

void Workers::start() {
    Host& host = hosts_[host_];
    const std::size_t together = std::min(together_, host.expected);
    if (host.ahead.empty() && together > 1) start_ahead(host, together);
    if (host.expected > 0) --host.expected;
    if (host.ahead.empty()) {
        process_ = std::make_unique<WorkerProcess>(host.command);
    } else {
        process_ = std::move(host.ahead.back());
        host.ahead.pop_back();
    }
    ++started_;
    fresh_ = true;
}

void Workers::start_ahead(Host& host, std::size_t processes) {
    std::vector<std::unique_ptr<WorkerProcess>> loaded(processes);
    std::vector<Answer> answers(processes);
    {
        std::vector<std::jthread> loading;
        loading.reserve(loaded.size());
        for (std::size_t i = 0; i < processes; ++i) {
            loading.emplace_back([this, &host, &process = loaded[i], &answer = answers[i]] {
                try {
                    Workers one(host.command, stop_);
                    answer = one.ask(LoadRequest{}, start_limit_s, nullptr);
                    if (!answer.reply) return;
                    const auto* reply = std::get_if<LoadedReply>(&*answer.reply);
                    if (reply != nullptr && !reply->used_device) process = std::move(one.process_);
                } catch (const util::Error&) {
                    // There is no process: making a pipe or forking failed.
                }
            });
        }
    }
    std::erase(loaded, nullptr);
    for (Answer& answer : answers) {
        const bool failed = answer.reply
                                ? !std::holds_alternative<LoadedReply>(*answer.reply)
                                : !answer.why.empty() && !answer.interrupted && !answer.not_begun;
        if (answer.not_begun) deaths_.push_back(std::move(answer.why));
        if (failed) load_failure_ = std::move(answer);
    }
    // The next process starts alone.
    if (loaded.size() < processes) together_ = 1;
    host.ahead = std::move(loaded);
}

Workers::Answer Workers::ask(const Request& request, double limit_s,
                             const std::function<void(const std::string&)>& observe) {
    process(workload_of(request));
    // What a file does in some of its processes counts for it.
    if (load_failure_) return *std::exchange(load_failure_, std::nullopt);
    process_->clear_stderr();
    Place place;
    const auto without_worker = [this](std::string why) {
        Answer answer;
        answer.why = std::move(why);
        answer.log = process_->stderr_tail();
        process_.reset();
        return answer;
    };
    const auto failed = [&](WorkerProcess::Outcome outcome, double limit) {
        if (outcome == WorkerProcess::Outcome::died) {
            const std::string how = process_->how_it_ended();
            const bool killed = how.starts_with(fmt::format("ended by signal {} ", SIGKILL));
            Answer answer = without_worker(place.why(how));
            answer.not_begun = place.phase.empty() && (place.loading.empty() || killed);
            if (answer.not_begun) deaths_.push_back(answer.why);
            return answer;
        }
        process_->kill();
        if (outcome == WorkerProcess::Outcome::interrupted) {
            Answer answer = without_worker("interrupted");
            answer.interrupted = true;
            return answer;
        }
        if (outcome == WorkerProcess::Outcome::garbage) return without_worker(foreign_reply);
        Answer answer =
            without_worker(place.why(fmt::format("gave no answer within {:g} s", limit)));
        answer.timed_out = place.loading.empty();
        return answer;
    };

    // A worker that is ready answers at once unless the request is about a case.
    double limit = observe || fresh_ ? std::max(limit_s, start_limit_s) : limit_s;
    auto end = Clock::now() + Seconds(limit);
    const auto from_now = [&](double seconds) {
        limit = seconds;
        end = Clock::now() + Seconds(seconds);
    };
    const std::string label = make_label(++requests_);
    if (const auto failure =
            process_->send(label + " " + write_request(request), Seconds(limit), stop_)) {
        return failed(*failure, limit);
    }

    for (;;) {
        const WorkerProcess::Received received = process_->receive(end - Clock::now(), stop_);
        if (received.outcome != WorkerProcess::Outcome::line) {
            return failed(received.outcome, limit);
        }
        const Labelled line = split_label(received.line);
        if (line.label != label) return failed(WorkerProcess::Outcome::garbage, limit);
        Reply reply;
        try {
            reply = parse_reply(line.message);
        } catch (const util::Error& error) {
            process_->kill();
            return without_worker(fmt::format("the worker's reply is malformed: {}", error.what()));
        }
        if (const auto* told = std::get_if<PhaseReply>(&reply)) {
            if (told->phase.starts_with(loading_phase)) {
                place.loading = told->phase.substr(loading_phase.size());
                const bool script = place.loading.ends_with(".py");
                from_now(script ? std::max(limit_s, import_limit_s) : loading_limit_s);
            } else if (told->phase == loaded_phase) {
                place.loading.clear();
                from_now(place.phase.empty() ? std::max(limit_s, start_limit_s) : limit_s);
            } else if (told->phase == open_phase) {
                if (!observe) from_now(limit_s);
            } else {
                if (place.phase.empty()) from_now(limit_s);
                place.phase = told->phase;
                if (observe) observe(told->phase);
            }
            continue;
        }
        fresh_ = false;
        Answer answer;
        const auto* measured = std::get_if<MeasureReply>(&reply);
        const auto* failure = std::get_if<FailedReply>(&reply);
        answer.log = process_->stderr_tail();
        if ((measured && measured->device_lost) || (failure && failure->device_lost)) {
            process_.reset();
        }
        answer.reply = std::move(reply);
        return answer;
    }
}

Reply Workers::must_ask(const Request& request, double limit_s) {
    Answer answer = ask(request, limit_s, nullptr);
    for (int again = 1; again < most_tries && answer.not_begun; ++again) {
        answer = ask(request, limit_s, nullptr);
    }
    if (answer.interrupted) throw Interrupted();
    if (!answer.reply) {
        // Its last line of output is more informative than how it ended.
        std::string log = answer.log;
        while (!log.empty() && log.back() == '\n') log.pop_back();
        const std::size_t line = log.rfind('\n');
        const std::string last = line == std::string::npos ? log : log.substr(line + 1);
        throw util::Error(last.empty() ? answer.why : answer.why + ": " + last);
    }
    if (const auto* failed = std::get_if<FailedReply>(&*answer.reply)) {
        if (failed->usage) throw util::InputError(failed->message);
        throw util::Error(failed->message);
    }
    return std::move(*answer.reply);
}

bool is_about(const Item& item, const model::CaseResult& result) {
    return model::case_id(result.spec) == model::case_id(item.planned->spec);
}

std::string why_no_reply(const Workers::Answer& answer) {
    if (!answer.reply) return answer.why;
    const auto* failed = std::get_if<FailedReply>(&*answer.reply);
    return failed != nullptr ? failed->message : wrong_answer;
}

CaseReply case_reply(const Item& item, const Workers::Answer& answer) {
    const auto* reply = answer.reply ? std::get_if<MeasureReply>(&*answer.reply) : nullptr;
    if (reply == nullptr) return {nullptr, why_no_reply(answer)};
    if (!is_about(item, reply->result)) return {nullptr, wrong_answer};
    return {reply, {}};
}

CaseReply measured_reply(const Item& item, const Workers::Answer& answer) {
    CaseReply found = case_reply(item, answer);
    if (found.reply != nullptr && found.reply->result.status != model::CaseStatus::measured) {
        return {nullptr, found.reply->result.reason};
    }
    return found;
}

}  // namespace perfgate::measure
