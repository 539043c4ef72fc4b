// SPDX-License-Identifier: Apache-2.0
// The page that harness/report/html makes, as it is in the binary.
#pragma once

#include <string_view>

namespace perfgate::report {

/// One HTML document with "@PERFGATE_DATA@" where html_data() goes. Empty: this build has none.
std::string_view html_page();

}  // namespace perfgate::report
