// SPDX-License-Identifier: Apache-2.0
#include "measure/worker_process.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <string>

namespace perfgate::measure {
namespace {

using Outcome = WorkerProcess::Outcome;
constexpr std::chrono::duration<double> patience{30};

WorkerProcess::Received receive(WorkerProcess& worker) {
    return worker.receive(patience, nullptr);
}

TEST(WorkerProcess, AnswersLineByLine) {
    WorkerProcess worker({"/bin/sh", "-c", "read x; echo \"got $x\" >&3; echo more >&3; read y"});
    EXPECT_EQ(worker.send("hello", patience, nullptr), std::nullopt);
    EXPECT_EQ(receive(worker).line, "got hello");
    EXPECT_EQ(receive(worker).line, "more");
}

TEST(WorkerProcess, StandardOutputIsNoReply) {
    WorkerProcess worker({"/bin/sh", "-c", "echo noise; echo real >&3; read x"});
    EXPECT_EQ(receive(worker).line, "real");
    EXPECT_NE(worker.stderr_tail().find("noise"), std::string::npos);
}

TEST(WorkerProcess, SaysHowItEnded) {
    WorkerProcess exits({"/bin/sh", "-c", "echo last words >&2; exit 7"});
    EXPECT_EQ(receive(exits).outcome, Outcome::died);
    EXPECT_EQ(exits.how_it_ended(), "exited with code 7");
    EXPECT_EQ(exits.stderr_tail(), "last words\n");

    WorkerProcess crashes({"/bin/sh", "-c", "kill -SEGV $$"});
    EXPECT_EQ(receive(crashes).outcome, Outcome::died);
    EXPECT_EQ(crashes.how_it_ended().rfind("ended by signal 11", 0), 0U);
}

TEST(WorkerProcess, ACommandThatIsNotThereDies) {
    WorkerProcess worker({"/nowhere/at/all"});
    EXPECT_EQ(receive(worker).outcome, Outcome::died);
    EXPECT_EQ(worker.how_it_ended(), "exited with code 127");
}

TEST(WorkerProcess, TimesOutAndTakesItsChildrenWithIt) {
    pid_t child = 0;
    {
        WorkerProcess worker({"/bin/sh", "-c", "sleep 1000 & echo $! >&3; wait"});
        child = static_cast<pid_t>(std::stol(receive(worker).line));
        EXPECT_EQ(worker.receive(std::chrono::duration<double>(0.05), nullptr).outcome,
                  Outcome::timed_out);
    }
    // The orphan is reaped by init a moment after its end.
    for (int i = 0; i < 500 && ::kill(child, 0) == 0; ++i) usleep(10'000);
    EXPECT_NE(::kill(child, 0), 0);
}

TEST(WorkerProcess, TakesChildrenInOtherSessionsWithIt) {
    pid_t child = 0;
    {
        WorkerProcess worker({"/bin/sh", "-c", "setsid sleep 1000 & echo $! >&3; wait"});
        child = static_cast<pid_t>(std::stol(receive(worker).line));
        EXPECT_EQ(::kill(child, 0), 0);
    }
    EXPECT_NE(::kill(child, 0), 0);
}

TEST(WorkerProcess, OneThatDoesNotReadIsNotWaitedForLongerThanTheLimit) {
    WorkerProcess worker({"/bin/sh", "-c", "sleep 1000"});
    const std::string more_than_a_pipe_holds(1 << 20, 'x');
    EXPECT_EQ(worker.send(more_than_a_pipe_holds, std::chrono::duration<double>(0.05), nullptr),
              Outcome::timed_out);
    EXPECT_EQ(worker.send(more_than_a_pipe_holds, patience, [] { return true; }),
              Outcome::interrupted);
}

TEST(WorkerProcess, AFloodOnStderrDoesNotStopTheClock) {
    WorkerProcess worker({"/bin/sh", "-c", "while :; do echo flood >&2; done"});
    EXPECT_EQ(worker.receive(std::chrono::duration<double>(0.2), nullptr).outcome,
              Outcome::timed_out);
}

TEST(WorkerProcess, IsInterrupted) {
    WorkerProcess worker({"/bin/sh", "-c", "read x"});
    EXPECT_EQ(worker.receive(patience, [] { return true; }).outcome, Outcome::interrupted);
}

TEST(WorkerProcess, TheTailOfALongLogIsKeptAndPrintable) {
    WorkerProcess worker({"/bin/sh", "-c",
                          "i=0; while [ $i -lt 3000 ]; do echo line $i >&2; i=$((i+1)); done; "
                          "printf '\\033[31mred\\n' >&2; exit 1"});
    EXPECT_EQ(receive(worker).outcome, Outcome::died);
    worker.how_it_ended();
    const std::string tail = worker.stderr_tail();
    EXPECT_LE(tail.size(), 4200U);
    EXPECT_NE(tail.find("line 2999"), std::string::npos);
    EXPECT_EQ(tail.find('\x1b'), std::string::npos);
}

TEST(WorkerProcess, ALineMayComeInPieces) {
    WorkerProcess worker({"/bin/sh", "-c",
                          "printf ab >&3; sleep 0.1; printf 'c\\nde' >&3; sleep 0.1; "
                          "printf 'f\\n\\n' >&3; read x"});
    EXPECT_EQ(receive(worker).line, "abc");
    EXPECT_EQ(receive(worker).line, "def");
    EXPECT_EQ(receive(worker).line, "");
}

TEST(WorkerProcess, OneThatClosesItsRepliesAndGoesOnIsEnded) {
    WorkerProcess worker({"/bin/sh", "-c", "exec 3>&-; sleep 1000"});
    EXPECT_EQ(receive(worker).outcome, Outcome::died);
    EXPECT_NE(worker.how_it_ended().find("closed its end"), std::string::npos);
    EXPECT_NE(::kill(worker.pid(), 0), 0);
}

TEST(WorkerProcess, OneThatNoLongerReadsHasDied) {
    WorkerProcess worker({"/bin/sh", "-c", "exec <&-; echo closed >&3; sleep 1000"});
    std::signal(SIGPIPE, SIG_IGN);  // as main does
    EXPECT_EQ(receive(worker).line, "closed");
    EXPECT_EQ(worker.send("hello", patience, nullptr), Outcome::died);
}

TEST(WorkerProcess, WhatWasClearedIsNotInTheTail) {
    WorkerProcess worker(
        {"/bin/sh", "-c",
         "echo first >&2; echo 1 >&3; read x; echo second >&2; echo 2 >&3; read x"});
    receive(worker);
    EXPECT_EQ(worker.stderr_tail(), "first\n");
    worker.clear_stderr();
    EXPECT_EQ(worker.send("", patience, nullptr), std::nullopt);
    receive(worker);
    EXPECT_EQ(worker.stderr_tail(), "second\n");
}

TEST(WorkerProcess, KillingItTwiceIsKillingItOnce) {
    WorkerProcess worker({"/bin/sh", "-c", "sleep 1000"});
    worker.kill();
    worker.kill();
    EXPECT_EQ(worker.how_it_ended().rfind("ended by signal", 0), 0U);
}

}  // namespace
}  // namespace perfgate::measure
