// SPDX-License-Identifier: Apache-2.0
// A plugin that leaves its work to libraries beside it: libhelper.so, which it links, and
// liblater.so, which the first launch loads.
#include <dlfcn.h>

#include "perfgate.hpp"

extern "C" void helper_work(std::int64_t ns);

namespace {

using namespace perfgate::sdk;

class Linked : public Instance {
  public:
    explicit Linked(const Values& values) : ns_(values.integer("ns")) {}
    void fill(std::uint64_t /*seed*/) override {}
    void launch(void* /*stream*/) override { helper_work(ns_); }
    Verification verify() override { return {true, "nothing to check"}; }

  protected:
    std::int64_t ns_;
};

class Loaded : public Linked {
  public:
    using Linked::Linked;
    void launch(void* /*stream*/) override {
        void* library = dlopen("liblater.so", RTLD_NOW | RTLD_LOCAL);
        if (library == nullptr) throw DeviceError(dlerror());
        reinterpret_cast<decltype(&helper_work)>(dlsym(library, "helper_work"))(ns_);
    }
};

template <class T>
Variant variant(const char* name, Target target) {
    Variant result{.name = name, .help = "", .target = target};
    result.create = [](const Values& values) { return std::make_unique<T>(values); };
    return result;
}

Plugin plugin() {
    Variant device{.name = "device", .help = "a copy and a kernel", .target = Target::cuda};
    device.submission = Submission::synchronous;
    Workload workload;
    workload.name = "helped";
    workload.help = "what a library does";
    workload.params = {Param::integer("ns", "time of a launch on the host", 1, 1'000'000'000)};
    workload.variants = {variant<Linked>("linked", Target::host),
                         variant<Loaded>("loaded", Target::host), device};
    return {.name = "helped", .cuda_module = PROBE_CUDA_MODULE, .workloads = {workload}};
}

}  // namespace

PERFGATE_PLUGIN(plugin);
