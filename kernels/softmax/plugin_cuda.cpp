// SPDX-License-Identifier: Apache-2.0
// The CUDA module: device memory around the launchers.
#include "common/device_in_out.hpp"
#include "softmax/catalogue.hpp"
#include "softmax/launchers.hpp"
#include "softmax/reference.hpp"

namespace softmax {
namespace {

void fill_input(const Problem& problem, std::uint64_t seed, void* in) {
    common::check(fill_logits_device(problem, seed, in, nullptr), "filling the input");
}

using Softmax = common::DeviceInOut<Problem, CheckReport, fill_input>;

Create create_with(Launcher launcher, Softmax::Check check = check_softmax) {
    return [=](const sdk::Values& values) {
        return std::make_unique<Softmax>(problem_of(values), launcher, check);
    };
}

sdk::Plugin plugin() {
    return catalogue([](std::string_view variant) -> Create {
        if (variant == "copy") return create_with(common::launch_copy<Problem>, check_copied);
        if (variant == "three_pass") return create_with(launch_three_pass);
        if (variant == "online") return create_with(launch_online);
        return {};
    });
}

}  // namespace
}  // namespace softmax

PERFGATE_PLUGIN(softmax::plugin);
