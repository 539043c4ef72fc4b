// SPDX-License-Identifier: Apache-2.0
#include "cli/interruption.hpp"

#include <csignal>

namespace perfgate::cli {
namespace {

volatile std::sig_atomic_t flag = 0;

void set_flag(int /*signal*/) {
    flag = 1;
}

}  // namespace

void catch_interruptions() {
    struct sigaction action {};
    action.sa_handler = set_flag;
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, nullptr);
    sigaction(SIGTERM, &action, nullptr);
}

bool interrupted() {
    return flag != 0;
}

}  // namespace perfgate::cli
