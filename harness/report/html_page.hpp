// SPDX-License-Identifier: Apache-2.0
// The page that harness/report/html builds, embedded in the binary.
#pragma once

#include <string_view>

namespace perfgate::report {

/// An HTML document with "@PERFGATE_DATA@" in place of html_data(). Empty: this build has none.
std::string_view html_page();

}  // namespace perfgate::report
