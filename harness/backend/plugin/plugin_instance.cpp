// SPDX-License-Identifier: Apache-2.0
#include "backend/plugin/plugin_instance.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <utility>

#include "backend/plugin/descriptors.hpp"
#include "util/text.hpp"

namespace perfgate::backend {
namespace {

void log_line(void* /*context*/, const char* message) {
    std::fprintf(stderr, "plugin: %s\n", util::printable(message ? message : "").c_str());
}

}  // namespace

pg_host host_storing_into(std::string& error) {
    return {sizeof(pg_host), &error,
            [](void* context, const char* message) {
                *static_cast<std::string*>(context) = message ? message : "";
            },
            log_line};
}

PluginInstance::PluginInstance(const pg_variant& variant, const pg_values* values)
    : host_(host_storing_into(error_)), variant_(&variant) {
    const pg_status status = variant.create(variant_, &host_, values, &instance_);
    if (status == PG_OK && !instance_) {
        throw util::Error("set-up: the plugin returned ok but no instance");
    }
    check(status, "set-up");
}

PluginInstance::~PluginInstance() {
    if (instance_) variant_->destroy(instance_);
}

void PluginInstance::check(pg_status status, const char* what) {
    if (status == PG_OK) return;
    std::string why = error_.empty() ? "the plugin gave no reason" : util::printable(error_);
    error_.clear();
    switch (status) {
        case PG_OUT_OF_MEMORY:
            throw PluginError("{}: out of memory: {}", what, why);
        case PG_UNSUPPORTED:
            throw PluginError("{}: unsupported: {}", what, why);
        default:
            throw PluginError("{}: {}", what, why);
    }
}

void PluginInstance::fill(std::uint64_t seed) {
    check(variant_->fill(instance_, seed), "fill");
    must_prepare_ = true;
}

std::optional<measure::Prepared> PluginInstance::prepared() {
    prepare();
    return prepared_;
}

void PluginInstance::prepare() {
    const auto prepare = known_part(variant_).prepare;
    if (prepare == nullptr || !must_prepare_) return;
    must_prepare_ = false;
    measure::Prepared now;
    const pg_choices chosen{sizeof(pg_choices), &now.choices,
                            [](void* choices, const char* name, const char* value) {
                                model::add_choice(text_or_empty(name), text_or_empty(value),
                                                  *static_cast<model::Choices*>(choices));
                            }};
    const auto start = std::chrono::steady_clock::now();
    check(prepare(instance_, &chosen), "prepare");
    now.time_ns =
        std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count();
    // Later calls find what the first one compiled.
    if (prepared_) now.time_ns = std::max(now.time_ns, prepared_->time_ns);
    prepared_ = std::move(now);
}

void PluginInstance::launch(void* stream) {
    prepare();
    check(variant_->launch(instance_, stream), "launch");
}

void PluginInstance::reset(void* stream) {
    if (needs_reset()) check(variant_->reset(instance_, stream), "reset");
}

bool PluginInstance::needs_reset() const {
    return variant_->needs_reset != 0;
}

pg_submission PluginInstance::submission() const {
    return variant_->submission;
}

model::Verification PluginInstance::verify() {
    pg_verification result{};
    result.size = sizeof(result);
    check(variant_->verify(instance_, &result), "verify");
    result.detail[sizeof(result.detail) - 1] = '\0';
    return {result.passed != 0, 0, util::printable(result.detail)};
}

std::vector<Output> PluginInstance::outputs() {
    // A variant of an older plugin ends before this field.
    const auto name = known_part(variant_).outputs;
    if (name == nullptr) return {};
    prepare();
    return collect_outputs(
        [&](const pg_outputs& list) { check(name(instance_, &list), "outputs"); });
}

model::Work PluginInstance::work() {
    const auto state = known_part(variant_).work;
    if (state == nullptr) return {};
    pg_work work{};
    work.size = sizeof(work);
    check(state(instance_, &work), "work");
    return {work.flops, work.bytes, std::string(name_of(work.arithmetic))};
}

}  // namespace perfgate::backend
