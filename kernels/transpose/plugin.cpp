// SPDX-License-Identifier: Apache-2.0
// The descriptor module: the catalogue and the host variant. Loads without CUDA.
#include "common/in_out.hpp"
#include "common/inputs.hpp"
#include "transpose/catalogue.hpp"
#include "transpose/reference.hpp"

namespace transpose {
namespace {

void fill_input(const Problem& problem, std::uint64_t seed, void* in) {
    common::fill_host(in, problem.dtype, kInput, seed, 0, problem.count());
}

using Reference = common::HostInOut<Problem, fill_input, transpose_reference, check_transposed>;

sdk::Plugin plugin() {
    return catalogue([](std::string_view variant) -> Create {
        if (variant != "reference") return {};
        return [](const sdk::Values& values) {
            return std::make_unique<Reference>(problem_of(values));
        };
    });
}

}  // namespace
}  // namespace transpose

PERFGATE_PLUGIN(transpose::plugin);
