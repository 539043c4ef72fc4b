// SPDX-License-Identifier: Apache-2.0
// A case of a workload in Python. A worker in the user's interpreter offers it like a plugin's, and
// knows all about it by its name.
#pragma once

#include <string_view>

#include "model/subject.hpp"

namespace perfgate::python {

class Kernel final : public model::Subject {
  public:
    std::string_view kind() const override { return "python"; }
    std::string_view in_words() const override { return "a Python kernel"; }
};

}  // namespace perfgate::python
