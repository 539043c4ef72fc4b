// SPDX-License-Identifier: Apache-2.0
#include "measure/workers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

namespace perfgate::measure {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

namespace {

/// A process may take this long to start and to open its device, whatever the request may take:
/// a limit on a case is no limit on a busy machine's patience.
constexpr double start_limit_s = 60;
/// A worker that dies over a question was perhaps killed from outside, as one is where memory runs
/// out; another is asked.
constexpr int most_tries = 3;

}  // namespace

std::int64_t Workers::process() {
    if (!process_) {
        process_ = std::make_unique<WorkerProcess>(command_);
        ++started_;
    }
    return started_ - 1;
}

Workers::Answer Workers::ask(const Request& request, double limit_s,
                             const std::function<void(const std::string&)>& observe) {
    process();
    process_->clear_stderr();
    bool begun = false;
    const auto gone = [this](std::string why) {
        Answer answer;
        answer.why = std::move(why);
        answer.log = process_->stderr_tail();
        process_.reset();
        return answer;
    };
    const auto died = [&] {
        Answer answer = gone("the worker " + process_->how_it_ended());
        answer.not_begun = !begun;
        return answer;
    };
    if (!process_->send(write_request(request))) return died();

    auto end = Clock::now() + Seconds(observe ? std::max(limit_s, start_limit_s) : limit_s);
    for (;;) {
        const WorkerProcess::Received received = process_->receive(end - Clock::now(), stop_);
        switch (received.outcome) {
            case WorkerProcess::Outcome::died:
                return died();
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
            if (!begun) end = Clock::now() + Seconds(limit_s);
            begun = true;
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
    for (int again = 1; again < most_tries && answer.not_begun; ++again)
        answer = ask(request, limit_s, nullptr);
    if (answer.interrupted) throw Interrupted();
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

}  // namespace perfgate::measure
