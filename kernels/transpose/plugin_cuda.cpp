// SPDX-License-Identifier: Apache-2.0
// The CUDA module: device memory around the launchers.
#include "common/device_in_out.hpp"
#include "common/device_inputs.hpp"
#include "transpose/catalogue.hpp"
#include "transpose/launchers.hpp"
#include "transpose/reference.hpp"

namespace transpose {
namespace {

void fill_input(const Problem& problem, std::uint64_t seed, void* in) {
    common::fill_device(in, problem.dtype, kInput, seed, problem.count());
}

using Transposition = common::DeviceInOut<Problem, CheckReport, fill_input>;

Create create_with(Transposition::Prepare prepare, Transposition::Check check = check_transposed) {
    return [=](const sdk::Values& values) {
        return std::make_unique<Transposition>(problem_of(values), prepare, check);
    };
}

sdk::Plugin plugin() {
    return catalogue([](std::string_view variant) -> Create {
        if (variant == "copy") return create_with(common::prepare_copy<Problem>, check_copied);
        if (variant == "naive") return create_with(prepare_naive);
        if (variant == "shared") return create_with(prepare_shared);
        if (variant == "padded") return create_with(prepare_padded);
        if (variant == "swizzled") return create_with(prepare_swizzled);
        return {};
    });
}

}  // namespace
}  // namespace transpose

PERFGATE_PLUGIN(transpose::plugin);
