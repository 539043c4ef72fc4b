// SPDX-License-Identifier: Apache-2.0
// A small catalogue of workloads for the suite room's tests, and the messages of what they refuse.
#pragma once

#include <ctime>
#include <string>
#include <string_view>
#include <vector>

#include "model/catalogue.hpp"
#include "util/error.hpp"

namespace perfgate::suite::test {

inline model::ParamInfo integer_param(std::string name, std::int64_t minimum, std::int64_t maximum,
                                      std::optional<model::ParamValue> default_value = {}) {
    return {std::move(name), "", model::ParamType::integer, minimum,
            maximum,         {}, std::move(default_value)};
}

inline model::VariantInfo variant(std::string name, model::Target target,
                                  int min_compute_capability = 0, std::string not_built = {}) {
    return {std::move(name),     "", target, model::Submission::async, min_compute_capability,
            std::move(not_built)};
}

/// `gemm` has required sizes, a choice and both targets; `copy` has every type of parameter, all
/// with defaults, and a variant that is not built.
inline const model::WorkloadCatalogue& workloads() {
    using model::ParamType;
    using model::ParamValue;
    using model::Target;
    static const model::WorkloadCatalogue catalogue{
        {"gemm",
         "",
         "gemm",
         false,
         {integer_param("m", 1, 16384),
          integer_param("n", 1, 16384),
          integer_param("k", 1, 16384),
          {"dtype", "", ParamType::text, 0, 0, {"f32", "tf32", "f16", "bf16"}, ParamValue("f32")}},
         {variant("naive", Target::cuda, 80), variant("tiled", Target::cuda, 80),
          variant("tensor_core", Target::cuda, 90), variant("cublas", Target::cuda, 75),
          variant("reference", Target::host)}},
        {"copy",
         "",
         "copy_plugin",
         false,
         {integer_param("bytes", 1, std::int64_t{1} << 40, ParamValue(std::int64_t{1024})),
          {"alpha", "", ParamType::real, 0, 0, {}, ParamValue(1.0)},
          {"aligned", "", ParamType::boolean, 0, 0, {}, ParamValue(true)},
          {"label", "", ParamType::text, 0, 0, {}, ParamValue("plain")}},
         {variant("plain", Target::cuda), variant("memcpy", Target::host),
          variant("tma", Target::cuda, 90, "copy_cuda.so is not beside copy.so")}}};
    return catalogue;
}

/// What `call` says when it throws InputError; empty where it does not throw.
template <typename Call>
std::string refusal(const Call& call) {
    try {
        call();
    } catch (const util::InputError& error) {
        return error.what();
    }
    return {};
}

/// What hostile input may cost: a second of an optimised build.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr double patience_s = 30;
#elif defined(__OPTIMIZE__)
inline constexpr double patience_s = 1;
#else
inline constexpr double patience_s = 5;
#endif

/// Processor time, so that a busy machine fails no test.
template <typename Call>
double cpu_seconds(const Call& call) {
    const std::clock_t start = std::clock();
    call();
    return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
}

}  // namespace perfgate::suite::test
