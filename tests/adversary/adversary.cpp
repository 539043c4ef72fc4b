// SPDX-License-Identifier: Apache-2.0
// A plugin that does on purpose what no plugin may: a variant for each misdeed in each callback,
// and for each attack on the worker that it runs in.
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "misdeeds.hpp"
#include "perfgate.hpp"

namespace {

using namespace perfgate::sdk;

using Misdeed = void (*)();

void nothing() {}

/// What happens in each callback of one case.
struct Script {
    Misdeed create = nothing, fill = nothing, launch = nothing, reset = nothing, verify = nothing,
            destroy = nothing;
};

class Actor : public Instance {
  public:
    explicit Actor(const Script& script) : script_(script) { script_.create(); }
    ~Actor() override { script_.destroy(); }
    void fill(std::uint64_t /*seed*/) override { script_.fill(); }
    void launch(void* /*stream*/) override {
        script_.launch();
        std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
    void reset(void* /*stream*/) override { script_.reset(); }
    Verification verify() override {
        script_.verify();
        return {true, "nothing to check"};
    }

  private:
    Script script_;
};

Variant variant(std::string name, const Script& script) {
    Variant v{.name = std::move(name), .help = "an attack", .target = Target::host};
    v.create = [script](const Values&) { return std::make_unique<Actor>(script); };
    return v;
}

/// Calls `act` with every pipe but the standard descriptors that this process can write to.
void for_each_pipe(const std::function<void(int)>& act) {
    DIR* folder = opendir("/proc/self/fd");
    if (!folder) return;
    std::vector<int> found;
    while (const dirent* entry = readdir(folder)) {
        const int fd = std::atoi(entry->d_name);
        struct stat status {};
        if (fd > STDERR_FILENO && fstat(fd, &status) == 0 && S_ISFIFO(status.st_mode) &&
            (fcntl(fd, F_GETFL) & O_ACCMODE) == O_WRONLY) {
            found.push_back(fd);
        }
    }
    closedir(folder);
    for (const int fd : found) act(fd);
}

void write_to_pipes(const std::string& text, int times) {
    for_each_pipe([&](int fd) {
        for (int i = 0; i < times; ++i) {
            if (write(fd, text.data(), text.size()) < 0) return;
        }
    });
}

/// A reply as a worker would make it, for a request that it can only guess.
void forge() {
    write_to_pipes(
        "1:0000000000000000 {\"reply\":\"failed\",\"message\":\"forged\",\"usage\":true,"
        "\"device_lost\":false}\n",
        1);
}

/// The launch returns in two processes, which both go on as the worker.
void fork_once() {
    static bool forked = false;
    if (std::exchange(forked, true)) return;
    [[maybe_unused]] const pid_t child = fork();
}

/// A child in a session of its own, and its orphan, which outlive everything that they can.
void leave_children() {
    static bool left = false;
    if (std::exchange(left, true)) return;
    if (fork() != 0) return;
    setsid();
    [[maybe_unused]] const pid_t second = fork();
    for (int fd = 0; fd < 64; ++fd) close(fd);
    misdeeds::hang();
}

void end_the_guard() {
    kill(getppid(), SIGKILL);
}

Plugin plugin() {
    Workload workload;
    workload.name = "adversary";
    workload.help = "attacks";
    workload.params = {Param::integer("item", "tells cases apart", 0, 1 << 20, "0")};

    const std::pair<const char*, Misdeed> misdeeds[] = {
        {"crash", misdeeds::crash}, {"hang", misdeeds::hang}, {"leak", misdeeds::leak}};
    const std::pair<const char*, Misdeed Script::*> callbacks[] = {
        {"create", &Script::create}, {"fill", &Script::fill},     {"launch", &Script::launch},
        {"reset", &Script::reset},   {"verify", &Script::verify}, {"destroy", &Script::destroy}};
    for (const auto& [what, misdeed] : misdeeds) {
        const std::string prefix = std::string(what) + "_in_";
        for (const auto& [where, callback] : callbacks) {
            Script script;
            script.*callback = misdeed;
            workload.variants.push_back(variant(prefix + where, script));
            workload.variants.back().needs_reset = callback == &Script::reset;
        }
        Variant supports = variant(prefix + "supports", {});
        supports.supports = [act = misdeed](const Values&) { act(); };
        workload.variants.push_back(std::move(supports));
        Variant memory = variant(prefix + "memory_bytes", {});
        memory.memory_bytes = [act = misdeed](const Values&) {
            act();
            return std::uint64_t{0};
        };
        workload.variants.push_back(std::move(memory));
    }

    const std::pair<const char*, Misdeed> attacks[] = {
        {"ok", nothing},
        {"forks", fork_once},
        {"leaves_children", leave_children},
        {"leaves_children_and_hangs",
         [] {
             leave_children();
             misdeeds::hang();
         }},
        {"leaves_children_without_a_guard",
         [] {
             leave_children();
             end_the_guard();
             misdeeds::hang();
         }},
        {"forges_a_reply", forge},
        {"floods_the_protocol", [] { write_to_pipes(std::string(1 << 16, 'x'), 1 << 20); }},
        {"floods_the_protocol_with_lines",
         [] { write_to_pipes(std::string(100, 'x') + "\n", 1 << 20); }},
        {"floods_stdout",
         [] {
             for (;;) std::puts("a line that nobody needs");
         }},
        {"floods_stderr",
         [] {
             for (;;) std::fputs("no line at all", stderr);
         }},
        {"closes_descriptors",
         [] {
             for (int fd = 0; fd < 1024; ++fd) close(fd);
         }},
        {"reads_stdin",
         [] {
             char byte = 0;
             while (read(STDIN_FILENO, &byte, 1) > 0) {
             }
         }},
        {"runs_a_program_that_answers",
         [] {
             // Descriptors that are closed on exec are not there for it.
             [[maybe_unused]] const int ignored = std::system(
                 "for fd in /proc/self/fd/*; do"
                 "  [ ${fd##*/} -gt 2 ] && [ -p $fd ] && echo '1:0 {}' > $fd; done 2>/dev/null");
         }},
    };
    for (const auto& [name, attack] : attacks) {
        Script script;
        script.launch = attack;
        workload.variants.push_back(variant(name, script));
    }
    return {.name = "adversary", .cuda_module = "", .workloads = {workload}};
}

}  // namespace

PERFGATE_PLUGIN(plugin);
