// SPDX-License-Identifier: Apache-2.0
#include "model/date.hpp"

#include <chrono>
#include <cstddef>

namespace perfgate::model {

namespace {

constexpr std::string_view form = "0000-00-00";

/// The number formed by the digits of `text` from `begin`.
int number_at(std::string_view text, std::size_t begin, std::size_t count) {
    int value = 0;
    for (const char c : text.substr(begin, count)) value = value * 10 + (c - '0');
    return value;
}

/// The date of a text of the right form.
std::chrono::year_month_day day_of(std::string_view text) {
    return {std::chrono::year(number_at(text, 0, 4)),
            std::chrono::month(static_cast<unsigned>(number_at(text, 5, 2))),
            std::chrono::day(static_cast<unsigned>(number_at(text, 8, 2)))};
}

}  // namespace

bool is_date(std::string_view text) {
    if (text.size() != form.size()) return false;
    for (std::size_t i = 0; i < form.size(); ++i) {
        const bool digit = text[i] >= '0' && text[i] <= '9';
        if (form[i] == '0' ? !digit : text[i] != form[i]) return false;
    }
    return day_of(text).ok();
}

std::string date_of(std::string_view utc) {
    const std::string_view day = utc.substr(0, form.size());
    const bool time_follows = utc.size() > form.size() && utc[form.size()] == 'T';
    return is_date(day) && time_follows ? std::string(day) : std::string();
}

std::int64_t days_between(std::string_view first, std::string_view last) {
    return (std::chrono::sys_days(day_of(last)) - std::chrono::sys_days(day_of(first))).count();
}

}  // namespace perfgate::model
