// SPDX-License-Identifier: Apache-2.0
// Files that count as measurements of their own: the same one twice would look like precision.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace perfgate::runner {

class DistinctFiles {
  public:
    /// Throws model::InputError, naming both files, if another one has the same content.
    void add(const std::string& file, std::string_view content);

  private:
    std::map<std::string, std::string> files_;  ///< by the content's fingerprint
};

}  // namespace perfgate::runner
