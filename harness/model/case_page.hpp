// SPDX-License-Identifier: Apache-2.0
// The name of a case's page on a site that shows a history.
#pragma once

#include <string>
#include <string_view>

#include "util/sha256.hpp"

namespace perfgate::model {

/// 32 hexadecimal digits: part of an address and of a file's name, whatever the names contain.
inline std::string case_page(std::string_view suite, std::string_view id) {
    util::Sha256 sum;
    sum.add_number(suite.size());
    sum.add(suite);
    sum.add(id);
    return sum.fingerprint();
}

}  // namespace perfgate::model
