// SPDX-License-Identifier: Apache-2.0
// Days as text, "2026-12-31", which sorts by date. Always UTC.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace perfgate::model {

/// Whether the text is an existing day in exactly this form.
bool is_date(std::string_view text);

/// The day of a UTC time ("2026-11-21T10:00:00Z"); empty if the text does not begin with one.
std::string date_of(std::string_view utc);

/// The time as documents have it, "2026-11-21T10:00:00Z"; of the years 0 to 9999.
std::string utc_text(std::chrono::sys_seconds at);

/// A time as ISO 8601 writes it, of the same years: with a space for the T, with fractions of
/// seconds, which do not count, with "Z", "+09:00" or "+0900"; without: it is UTC.
std::optional<std::chrono::sys_seconds> time_of(std::string_view iso);

/// The same as utc_text().
std::optional<std::string> utc_of(std::string_view iso);

/// How many days `last` lies after `first`; both are days (is_date).
std::int64_t days_between(std::string_view first, std::string_view last);

}  // namespace perfgate::model
