// SPDX-License-Identifier: Apache-2.0
// A case of a plugin, set up, and the host table that its functions report errors to.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "backend/plugin/instance.hpp"
#include "perfgate.h"
#include "util/error.hpp"

namespace perfgate::backend {

/// A host table whose set_error stores the text.
pg_host host_storing_into(std::string& error);

/// A plugin reported a failure.
class PluginError : public util::Error {
  public:
    using Error::Error;
};

/// A case of a plugin, set up; an error of the plugin becomes an exception with its text.
class PluginInstance final : public Instance {
  public:
    PluginInstance(const pg_variant& variant, const pg_values* values);
    ~PluginInstance() override;
    PluginInstance& operator=(PluginInstance&&) = delete;  // nor copied

    void fill(std::uint64_t seed) override;
    void launch(void* stream) override;
    void reset(void* stream) override;
    bool needs_reset() const override;
    pg_submission submission() const override;
    model::Verification verify() override;
    std::vector<Output> outputs() override;
    model::Work work() override;
    std::optional<measure::Prepared> prepared() override;

  private:
    void check(pg_status status, const char* what);
    /// What follows a fill: compiles and tunes, unless that is done.
    void prepare();

    pg_host host_{};
    std::string error_;
    const pg_variant* variant_;
    pg_instance* instance_ = nullptr;
    bool must_prepare_ = false;
    std::optional<measure::Prepared> prepared_;
};

}  // namespace perfgate::backend
