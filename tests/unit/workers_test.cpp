// SPDX-License-Identifier: Apache-2.0
#include "measure/workers.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <string>

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
    EXPECT_NE(second.why.find("no reply to this request"), std::string::npos) << second.why;
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
}

}  // namespace
}  // namespace perfgate::measure
