// SPDX-License-Identifier: Apache-2.0
// What `deterministic: true` must find, and must leave alone: each variant passes its own check.
#include <algorithm>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "perfgate.hpp"

namespace {

using namespace perfgate::sdk;

/// y = 2 x, right in what it checks.
struct Twice : Instance {
    explicit Twice(const Values& values) : x(values.size("n")), y(x.size()) {}
    void fill(std::uint64_t seed) override {
        x.fill(seed);
        y.poison();
    }
    void launch(void*) override {
        for (std::size_t i = 0; i < x.size(); ++i) y[i] = 2 * x[i];
    }
    Verification verify() override {
        return elementwise(y, [&](std::size_t i) { return 2.0 * x.filled(i); });
    }
    std::vector<Output> outputs() override { return {{"y", y}}; }
    HostBuffer<float> x, y;
};

struct Unnamed : Twice {
    using Twice::Twice;
    std::vector<Output> outputs() override { return {}; }
};

struct WrongAndUnnamed : Unnamed {
    using Unnamed::Unnamed;
    void launch(void*) override { y.poison(); }
};

/// Keeps a count of its launches, which gets into the output within the tolerance.
struct Counts : Twice {
    using Twice::Twice;
    void launch(void* stream) override {
        Twice::launch(stream);
        y[3] = 2 * x[3] * (1 + 1e-6f * static_cast<float>(launches++));
    }
    int launches = 0;
};

/// Leaves the last quarter out, and checks the rest.
struct Unfinished : Twice {
    using Twice::Twice;
    void launch(void*) override {
        for (std::size_t i = 0; i < x.size() * 3 / 4; ++i) y[i] = 2 * x[i];
    }
    Verification verify() override { return {true, "three quarters"}; }
};

/// What the first launch wrote is not overwritten by fill, and not written again.
struct Leftovers : Twice {
    using Twice::Twice;
    void fill(std::uint64_t seed) override { x.fill(seed); }
    void launch(void* stream) override {
        if (launches++ == 0) Twice::launch(stream);
    }
    int launches = 0;
};

struct InPlace : Twice {
    explicit InPlace(const Values& values) : Twice(values) {}
    void fill(std::uint64_t seed) override {
        x.fill(seed);
        reset(nullptr);
    }
    void reset(void*) override { std::copy_n(x.data(), x.size(), y.data()); }
    void launch(void*) override {
        for (std::size_t i = 0; i < y.size(); ++i) y[i] *= 2;
    }
};

/// Its output is elsewhere after each fill and each launch.
struct Moves : Twice {
    using Twice::Twice;
    void fill(std::uint64_t seed) override {
        x.fill(seed);
        move();
    }
    void launch(void* stream) override {
        move();
        Twice::launch(stream);
    }
    void move() {
        HostBuffer<float> other(y.size());
        other.poison();
        std::swap(y, other);
    }
};

struct Shrinks : Twice {
    using Twice::Twice;
    void launch(void* stream) override {
        Twice::launch(stream);
        ++launches;
    }
    std::vector<Output> outputs() override {
        return {{"y", y.data(), (y.size() - static_cast<std::size_t>(launches)) * 4, 4}};
    }
    int launches = 0;
};

struct Throws : Twice {
    using Twice::Twice;
    std::vector<Output> outputs() override { throw std::runtime_error("no idea"); }
};

/// Names what is not there.
template <int kind>
struct Hostile : Twice {
    using Twice::Twice;
    std::vector<Output> outputs() override {
        switch (kind) {
            case 0:
                return {{"y", nullptr, 64}};
            case 1:
                return {{"y", y.data(), 0}};
            case 2:
                return {{"y", y.data(), ~std::size_t{0}}};
            case 3:
                return {{"y", y.data(), std::size_t{1} << 60}};
            case 4:
                return {{"y", y.data(), 64, 7}};
            case 5:
                return std::vector<Output>(100000, Output{"y", y});
            default:
                std::signal(SIGSEGV, SIG_DFL);  // a sanitizer's handler would exit instead
                return {{std::string(100000, '\033'), reinterpret_cast<void*>(4096), 64}};
        }
    }
};

Plugin plugin() {
    Variant in_place = host_variant<InPlace>("in_place");
    in_place.needs_reset = true;
    Plugin all = one_workload(
        "repeats", {Param::integer("n", "elements", 4, 1 << 28, "4096")},
        {host_variant<Twice>("same"), host_variant<Unnamed>("unnamed"),
         host_variant<WrongAndUnnamed>("wrong_and_unnamed"), host_variant<Counts>("counts"),
         host_variant<Unfinished>("unfinished"), host_variant<Leftovers>("leftovers"), in_place,
         host_variant<Moves>("moves"), host_variant<Shrinks>("shrinks"),
         host_variant<Throws>("throws"), host_variant<Hostile<0>>("nowhere"),
         host_variant<Hostile<1>>("empty"), host_variant<Hostile<2>>("beyond"),
         host_variant<Hostile<3>>("huge"), host_variant<Hostile<4>>("divided"),
         host_variant<Hostile<5>>("many"), host_variant<Hostile<6>>("unmapped")});
    for (const char* name :
         {"device_same", "device_waits", "device_other_by_graph", "device_elsewhere",
          "device_to_host", "device_beyond", "device_unnamed"}) {
        all.workloads.front().variants.push_back(
            {.name = name, .help = "", .target = Target::cuda});
    }
    all.cuda_module = PROBE_CUDA_MODULE;
    return all;
}

}  // namespace

PERFGATE_PLUGIN(plugin);
