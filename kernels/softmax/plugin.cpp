// SPDX-License-Identifier: Apache-2.0
// The descriptor module: the catalogue and the host variant. Loads without CUDA.
#include "common/in_out.hpp"
#include "softmax/catalogue.hpp"
#include "softmax/reference.hpp"

namespace softmax {
namespace {

using Reference = common::HostInOut<Problem, fill_logits, softmax_reference, check_softmax>;

sdk::Plugin plugin() {
    return catalogue([](std::string_view variant) -> Create {
        if (variant != "reference") return {};
        return [](const sdk::Values& values) {
            return std::make_unique<Reference>(problem_of(values));
        };
    });
}

}  // namespace
}  // namespace softmax

PERFGATE_PLUGIN(softmax::plugin);
