// SPDX-License-Identifier: Apache-2.0
// A case's parameters in the form that plugins take.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "model/case.hpp"
#include "model/catalogue.hpp"
#include "perfgate.h"

namespace perfgate::backend {

/// Owns the storage behind a pg_values: every parameter of the workload, sorted by name, those that
/// `params` leaves out at their defaults. Throws model::InputError for an unknown parameter, a
/// value of the wrong type or out of bounds, and a required one that is absent.
class PluginValues {
  public:
    PluginValues(const model::WorkloadInfo& workload, const model::Params& params);
    PluginValues(const PluginValues&) = delete;
    PluginValues& operator=(const PluginValues&) = delete;

    const pg_values* get() const { return &c_; }

  private:
    std::vector<std::unique_ptr<std::string>> texts_;
    std::vector<pg_value> values_;
    pg_values c_{};
};

}  // namespace perfgate::backend
