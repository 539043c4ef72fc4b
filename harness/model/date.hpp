// SPDX-License-Identifier: Apache-2.0
// Days as text, "2026-12-31": they sort as they are. Of UTC, always.
#pragma once

#include <string>
#include <string_view>

namespace perfgate::model {

/// Whether the text is a day that exists, in just this form.
bool is_date(std::string_view text);

/// The day of a UTC time ("2026-11-21T10:00:00Z"); empty where the text does not begin with one.
std::string date_of(std::string_view utc);

}  // namespace perfgate::model
