// SPDX-License-Identifier: Apache-2.0
#include "measure/workers.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <string>

#include "unit/temporary_folder.hpp"

namespace perfgate::measure {
namespace {

/// A worker that runs these shell commands for each request; $label and $reply are set.
Workers scripted(const std::string& commands) {
    std::signal(SIGPIPE, SIG_IGN);  // as main does
    const std::string reply = write_reply(BoardStateReply{});
    return Workers(
        {"/bin/sh", "-c",
         "reply='" + reply + "'; while read -r label request; do " + commands + "; done"},
        {});
}

Workers::Answer ask(Workers& workers) {
    return workers.ask(BoardStateRequest{}, 30, nullptr);
}

TEST(Workers, AReplyThatBelongsToAnEarlierRequestEndsTheWorker) {
    Workers twice = scripted("printf '%s %s\\n' \"$label\" \"$reply\" \"$label\" \"$reply\" >&3");
    EXPECT_TRUE(ask(twice).reply);
    const Workers::Answer second = ask(twice);
    EXPECT_FALSE(second.reply);
    EXPECT_NE(second.why.find("something other than a reply"), std::string::npos) << second.why;
    EXPECT_FALSE(second.not_begun);
    EXPECT_EQ(twice.process(), 1);
    EXPECT_TRUE(ask(twice).reply);
}

TEST(Workers, AReplyWithAGuessedNonceOrNoneEndsTheWorker) {
    for (const char* label : {"1:0000000000000000 ", ""}) {
        Workers guesses = scripted(std::string("echo '") + label + "'\"$reply\" >&3");
        EXPECT_FALSE(ask(guesses).reply);
    }
}

TEST(Workers, WhatAWorkerSaysOnStderrComesWithItsAnswer) {
    Workers warns = scripted("echo beware >&2; printf '%s %s\\n' \"$label\" \"$reply\" >&3");
    const Workers::Answer answer = ask(warns);
    EXPECT_TRUE(answer.reply);
    EXPECT_EQ(answer.log, "beware\n");
}

TEST(Workers, TheFileThatAWorkerDiesOfIsNamed) {
    Workers dies = scripted(
        "echo \"$label {\\\"reply\\\":\\\"phase\\\",\\\"phase\\\":\\\"loading a.so\\\"}\" >&3;"
        "echo last words >&2; kill -SEGV $$");
    const Workers::Answer answer = ask(dies);
    EXPECT_EQ(answer.log, "last words\n");
    EXPECT_NE(answer.why.find("plugin a.so"), std::string::npos) << answer.why;
    EXPECT_NE(answer.why.find("signal 11"), std::string::npos) << answer.why;
    EXPECT_FALSE(answer.not_begun) << "the file's own fault: no other worker is asked";
    EXPECT_TRUE(dies.take_deaths().empty());
    EXPECT_THROW(dies.must_ask(BoardStateRequest{}, 30), util::Error);
    EXPECT_EQ(dies.process(), 2);
}

TEST(Workers, OneThatIsKilledWhileItLoadsIsNoFaultOfTheFile) {
    Workers killed = scripted(
        "echo \"$label {\\\"reply\\\":\\\"phase\\\",\\\"phase\\\":\\\"loading a.so\\\"}\" >&3;"
        "kill -KILL $$");
    EXPECT_TRUE(ask(killed).not_begun);
    EXPECT_EQ(killed.take_deaths().size(), 1U);
    EXPECT_TRUE(killed.take_deaths().empty());
}

TEST(Workers, WhoeverMustHaveAnAnswerAsksThreeWorkers) {
    Workers dies = scripted("echo first >&2; echo 'last words' >&2; exit 7");
    try {
        dies.must_ask(BoardStateRequest{}, 30);
        ADD_FAILURE() << "answered";
    } catch (const util::Error& error) {
        const std::string message = error.what();
        EXPECT_NE(message.find("code 7"), std::string::npos) << message;
        EXPECT_TRUE(message.ends_with(": last words")) << message;
    }
    EXPECT_EQ(dies.process(), 3) << "three have died";

    Workers silent = scripted("exit 7");
    try {
        silent.must_ask(BoardStateRequest{}, 30);
        ADD_FAILURE() << "answered";
    } catch (const util::Error& error) {
        EXPECT_TRUE(std::string(error.what()).ends_with("code 7")) << error.what();
    }

    Workers answers = scripted("printf '%s %s\\n' \"$label\" \"$reply\" >&3");
    EXPECT_TRUE(std::holds_alternative<BoardStateReply>(answers.must_ask(BoardStateRequest{}, 30)));
    EXPECT_EQ(answers.process(), 0);
}

TEST(Workers, AFailedAnswerIsAnErrorOfTheInputOrNot) {
    const auto failing = [](bool usage) {
        return scripted("printf '%s %s\\n' \"$label\" '" +
                        write_reply(FailedReply{"no such device", usage, false}) + "' >&3");
    };
    Workers usage = failing(true);
    EXPECT_THROW(usage.must_ask(BoardStateRequest{}, 30), util::InputError);
    Workers other = failing(false);
    try {
        other.must_ask(BoardStateRequest{}, 30);
        ADD_FAILURE() << "answered";
    } catch (const util::InputError&) {
        ADD_FAILURE() << "the input is not at fault";
    } catch (const util::Error& error) {
        EXPECT_STREQ(error.what(), "no such device");
    }
    EXPECT_EQ(other.process(), 0) << "the worker goes on";
}

TEST(Workers, AWorkerThatLostItsDeviceIsReplaced) {
    model::CaseResult result;
    result.spec = {"w", "v", {}, model::Cache::cold};
    const std::vector<std::pair<Reply, std::int64_t>> answers = {
        {FailedReply{"lost", false, true}, 1},
        {FailedReply{"failed", false, false}, 0},
        {MeasureReply{result, true}, 1},
        {MeasureReply{result, false}, 0}};
    for (const auto& [reply, next] : answers) {
        Workers worker = scripted("printf '%s %s\\n' \"$label\" '" + write_reply(reply) + "' >&3");
        EXPECT_TRUE(ask(worker).reply);
        EXPECT_EQ(worker.process(), next);
    }
}

TEST(Workers, PhasesAreToldAndTheLimitCountsFromTheFirst) {
    const auto phase = [](const std::string& name) {
        return "echo \"$label \"'" + write_reply(PhaseReply{name}) + "' >&3; ";
    };
    std::vector<std::string> phases;
    const auto observe = [&](const std::string& name) { phases.push_back(name); };
    Workers hangs = scripted(phase("loading a.so") + phase("loaded") + phase("open") +
                             phase("verify") + phase("time") + "sleep 60");
    Workers::Answer answer = hangs.ask(BoardStateRequest{}, 0.2, observe);
    EXPECT_FALSE(answer.reply);
    EXPECT_TRUE(answer.timed_out);
    EXPECT_FALSE(answer.not_begun);
    EXPECT_EQ(phases, (std::vector<std::string>{"verify", "time"}));
    EXPECT_NE(answer.why.find("0.2 s"), std::string::npos) << answer.why;
    EXPECT_NE(answer.why.find("time"), std::string::npos) << answer.why;
    EXPECT_EQ(answer.why.find("a.so"), std::string::npos) << "it was loaded";
    EXPECT_EQ(hangs.process(), 1);

    // A request without phases has its limit from the opening.
    Workers opens = scripted(phase("open") + "sleep 60");
    answer = opens.ask(BoardStateRequest{}, 0.2, nullptr);
    EXPECT_TRUE(answer.timed_out);
    EXPECT_NE(answer.why.find("0.2 s"), std::string::npos) << answer.why;
}

TEST(Workers, AnInterruptionIsNoFault) {
    Workers hangs({"/bin/sh", "-c", "read -r line; sleep 60"}, [] { return true; });
    const Workers::Answer answer = hangs.ask(BoardStateRequest{}, 30, nullptr);
    EXPECT_TRUE(answer.interrupted);
    EXPECT_FALSE(answer.timed_out);
    EXPECT_THROW(hangs.must_ask(BoardStateRequest{}, 30), Interrupted);
}

TEST(Workers, NumbersGoOnBehindAnotherExecutions) {
    Workers fresh = scripted("printf '%s %s\\n' \"$label\" \"$reply\" >&3");
    fresh.count_from(5);
    EXPECT_EQ(fresh.process(), 5);
    fresh.end();
    EXPECT_EQ(fresh.process(), 6);
    fresh.count_from(9);
    EXPECT_EQ(fresh.process(), 9) << "the one that runs";
    fresh.end();
    EXPECT_EQ(fresh.process(), 10);
}

/// Workers that say on stderr how many were started before them in this folder, or with them.
struct StartedTogether {
    explicit StartedTogether(const std::string& loaded)
        : workers({"/bin/sh", "-c",
                   "echo x >>" + (folder.path() / "starts").string() +
                       "; while read -r label request; do case $request in "
                       "*load*) " +
                       loaded + ";; *) printf '%s %s\\n' \"$label\" '" +
                       write_reply(BoardStateReply{}) + "' >&3;; esac; done"},
                  {}) {
        std::signal(SIGPIPE, SIG_IGN);
        workers.start_together(3);
        workers.expect(4);
    }
    static std::string answers(bool used_device) {
        return "printf '%s %s\\n' \"$label\" '" + write_reply(LoadedReply{used_device}) + "' >&3";
    }
    std::size_t started() const { return std::filesystem::file_size(folder.path() / "starts") / 2; }
    std::size_t started_for(int requests) {
        for (int i = 0; i < requests; ++i) {
            EXPECT_TRUE(ask(workers).reply);
            EXPECT_EQ(workers.process(), i);
            workers.end();
        }
        return started();
    }

    TemporaryFolder folder;
    Workers workers;
};

TEST(Workers, ProcessesThatLoadLongStartTogether) {
    StartedTogether three(StartedTogether::answers(false));
    EXPECT_EQ(three.started_for(1), 3U);
    StartedTogether all(StartedTogether::answers(false));
    EXPECT_EQ(all.started_for(4), 4U);
}

TEST(Workers, NoMoreProcessesStartTogetherThanAreExpected) {
    StartedTogether two(StartedTogether::answers(false));
    two.workers.expect(2);
    EXPECT_EQ(two.started_for(1), 2U);
    two.workers.expect(9);
    EXPECT_TRUE(ask(two.workers).reply);
    EXPECT_EQ(two.started(), 2U) << "one was left";
    two.workers.end();
    EXPECT_TRUE(ask(two.workers).reply);
    EXPECT_EQ(two.started(), 2U + 3U);
    StartedTogether unexpected(StartedTogether::answers(false));
    unexpected.workers.expect(0);
    EXPECT_EQ(unexpected.started_for(2), 2U);
}

TEST(Workers, ProcessesThatUseTheDeviceAsTheyLoadOrFailToLoadStartAlone) {
    StartedTogether use(StartedTogether::answers(true));
    EXPECT_EQ(use.started_for(2), 3U + 2U);
    StartedTogether fail("exit 1");
    EXPECT_EQ(fail.started_for(2), 3U + 2U);
    EXPECT_EQ(fail.workers.take_deaths().size(), 3U);
}

TEST(Workers, AFileThatEndsAProcessStartedWithOthersIsTheNextAnswer) {
    const std::string loading =
        "printf '%s %s\\n' \"$label\" '" + write_reply(PhaseReply{"loading a.py"}) + "' >&3; ";
    const TemporaryFolder folder;
    StartedTogether one("if mkdir " + (folder.path() / "once").string() + " 2>/dev/null; then " +
                        loading + "exit 0; else " + StartedTogether::answers(false) + "; fi");
    const Workers::Answer failed = ask(one.workers);
    EXPECT_FALSE(failed.reply);
    EXPECT_NE(failed.why.find("a.py"), std::string::npos) << failed.why;
    EXPECT_TRUE(ask(one.workers).reply);
}

TEST(Workers, ACaseIsMeasuredByTheHostOfItsWorkload) {
    const auto says = [](const std::string& who) {
        const std::string reply = write_reply(BoardStateReply{});
        return std::vector<std::string>{
            "/bin/sh", "-c",
            "echo " + who + " >&2; reply='" + reply + "'; while read -r label request; do echo " +
                who + " >&2; printf '%s %s\\n' \"$label\" \"$reply\" >&3; done"};
    };
    std::signal(SIGPIPE, SIG_IGN);
    Workers workers(says("first"), {});
    workers.add_host(says("second"), {"sum", "scan"});
    EXPECT_EQ(workers.host_of("gemm"), 0U);
    EXPECT_EQ(workers.host_of("scan"), 1U);
    const auto answered_by = [&](Workers& all, const std::string& workload) {
        MeasureRequest request;
        request.result.spec.workload = workload;
        const Workers::Answer answer = all.ask(request, 30, nullptr);
        EXPECT_TRUE(answer.reply) << answer.why;
        return answer.log.substr(0, answer.log.find('\n'));
    };
    EXPECT_EQ(answered_by(workers, "gemm"), "first");
    EXPECT_EQ(workers.process("gemm"), 0);
    EXPECT_EQ(answered_by(workers, "sum"), "second");
    EXPECT_EQ(answered_by(workers, "scan"), "second");
    EXPECT_EQ(workers.process(), 1) << "what is about no case takes the process that lives";
    EXPECT_EQ(answered_by(workers, "gemm"), "first");
    EXPECT_EQ(workers.process("gemm"), 2);
    Workers untraced = workers.untraced();
    EXPECT_EQ(answered_by(untraced, "sum"), "second");
}

}  // namespace
}  // namespace perfgate::measure
