// SPDX-License-Identifier: Apache-2.0
// The CUDA module: device memory around the launchers.
#include "common/device_in_out.hpp"
#include "softmax/catalogue.hpp"
#include "softmax/launchers.hpp"
#include "softmax/reference.hpp"

namespace softmax {
namespace {

using Softmax = common::DeviceInOut<Problem, CheckReport, fill_logits_device>;

Create create_with(Softmax::Prepare prepare, Softmax::Check check = check_softmax) {
    return [=](const sdk::Values& values) {
        return std::make_unique<Softmax>(problem_of(values), prepare, check);
    };
}

sdk::Plugin plugin() {
    return catalogue([](std::string_view variant) -> Create {
        if (variant == "copy") return create_with(common::prepare_copy<Problem>, check_copied);
        if (variant == "three_pass") return create_with(prepare_three_pass);
        if (variant == "online") return create_with(prepare_online);
        return {};
    });
}

}  // namespace
}  // namespace softmax

PERFGATE_PLUGIN(softmax::plugin);
