// SPDX-License-Identifier: Apache-2.0
// A workload whose variants go wrong, each in its own way; `ok` shows that others are still
// measured.
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <stdexcept>
#include <vector>

#include "later.hpp"
#include "pace.hpp"
#include "perfgate.hpp"

namespace {

using namespace perfgate::sdk;

class Fault : public Instance {
  public:
    explicit Fault(void (*work)()) : launch_(work) {}
    void fill(std::uint64_t /*seed*/) override {}
    void launch(void* /*stream*/) override { launch_(); }
    Verification verify() override { return {true, "nothing to check"}; }

  private:
    void (*launch_)();
};

class Wrong : public Fault {
  public:
    using Fault::Fault;
    Verification verify() override { return {false, "element 7 is 8, expected 9"}; }
};

void some_work() {
    const pace::Lasting lasting(std::chrono::microseconds(500));
}

void crash() {
    std::signal(SIGSEGV, SIG_DFL);  // a sanitizer's handler would exit instead
    std::raise(SIGSEGV);
}

template <class Kind = Fault>
Variant variant(std::string name, void (*launch)()) {
    Variant v{.name = std::move(name), .help = "goes wrong", .target = Target::host};
    v.create = [launch](const Values&) { return std::make_unique<Kind>(launch); };
    return v;
}

Plugin plugin() {
    Variant set_up = variant("set_up_fails", some_work);
    set_up.create = [](const Values&) -> std::unique_ptr<Instance> {
        throw OutOfMemory("wanted 1 TiB\x1b[31m\nand a pony");
    };
    Variant unsupported = variant("unsupported", some_work);
    unsupported.supports = [](const Values&) { throw Unsupported("only on Tuesdays"); };
    Variant huge = variant("huge", some_work);
    huge.memory_bytes = [](const Values&) { return std::uint64_t{1} << 60; };

    Workload workload;
    workload.name = "fault";
    workload.help = "variants that go wrong";
    workload.params = {Param::integer("item", "tells cases apart", 0, 1 << 20, "0")};
    workload.variants = {
        variant("ok", some_work),
        variant<Wrong>("wrong", some_work),
        variant("crash",
                [] {
                    std::fputs("about to crash\n", stderr);
                    crash();
                }),
        variant("exits", [] { _exit(7); }),
        variant("hang", [] { pause(); }),
        variant("hang_with_child",
                [] {
                    fork();
                    pause();
                }),
        variant("crash_later",
                [] {
                    if (fault::is_late()) crash();
                    some_work();
                }),
        variant("moody",
                [] {
                    // Every other process at a far slower pace.
                    const int pace = fault::process_number() % 2 == 0 ? 64 : 1;
                    for (int i = 0; i < pace; ++i) some_work();
                }),
        variant("throws", [] { throw std::runtime_error("no luck today"); }),
        variant("chatty",
                [] {
                    std::puts("{\"reply\":\"measure\"}");
                    std::fflush(stdout);
                    some_work();
                }),
        set_up,
        unsupported,
        huge,
        {.name = "illegal_address", .help = "writes outside its memory", .target = Target::cuda},
        {.name = "device_assert", .help = "fails an assertion", .target = Target::cuda},
        {.name = "waits", .help = "says async but waits", .target = Target::cuda},
        {.name = "endless", .help = "never ends", .target = Target::cuda},
        {.name = "out_of_memory", .help = "wants what is not there", .target = Target::cuda},
        {.name = "late", .help = "goes wrong in the third process", .target = Target::cuda},
        {.name = "wrong_on_device", .help = "a wrong result", .target = Target::cuda},
        {.name = "fine", .help = "works", .target = Target::cuda},
    };
    return {.name = "fault", .cuda_module = PROBE_CUDA_MODULE, .workloads = {workload}};
}

}  // namespace

PERFGATE_PLUGIN(plugin);
