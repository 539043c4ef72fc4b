// SPDX-License-Identifier: Apache-2.0
#include "model/date.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>

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

std::string utc_text(std::chrono::sys_seconds at) {
    const std::chrono::sys_days date = std::chrono::floor<std::chrono::days>(at);
    const std::chrono::year_month_day parts(date);
    const std::chrono::hh_mm_ss of_day(at - date);
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%04d-%02u-%02uT%02d:%02d:%02dZ",
                  static_cast<int>(parts.year()), static_cast<unsigned>(parts.month()),
                  static_cast<unsigned>(parts.day()), static_cast<int>(of_day.hours().count()),
                  static_cast<int>(of_day.minutes().count()),
                  static_cast<int>(of_day.seconds().count()));
    return text.data();
}

std::optional<std::chrono::sys_seconds> time_of(std::string_view iso) {
    constexpr std::string_view clock = ":00:00";
    constexpr std::size_t time = form.size() + 1, end = time + 2 + clock.size();
    const auto digits = [&](std::string_view text) {
        return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
    };
    const std::string_view day = iso.substr(0, form.size());
    if (iso.size() < end || !is_date(day) || (iso[form.size()] != 'T' && iso[form.size()] != ' ') ||
        iso[time + 2] != ':' || iso[time + 5] != ':') {
        return std::nullopt;
    }
    for (const std::size_t at : {time, time + 3, time + 6}) {
        if (!digits(iso.substr(at, 2))) return std::nullopt;
    }
    const int hour = number_at(iso, time, 2), minute = number_at(iso, time + 3, 2);
    const int second = number_at(iso, time + 6, 2);
    std::string_view rest = iso.substr(end);
    if (rest.starts_with('.')) {
        const std::size_t last = std::min(rest.find_first_not_of("0123456789", 1), rest.size());
        if (last == 1) return std::nullopt;
        rest.remove_prefix(last);
    }
    std::chrono::minutes off(0);
    if (!rest.empty() && rest != "Z") {
        const bool colon = rest.size() == 6 && rest[3] == ':';
        if ((rest[0] != '+' && rest[0] != '-') || !(colon || rest.size() == 5) ||
            !digits(rest.substr(1, 2)) || !digits(rest.substr(colon ? 4 : 3))) {
            return std::nullopt;
        }
        off = std::chrono::minutes(60 * number_at(rest, 1, 2) + number_at(rest, colon ? 4 : 3, 2));
        if (rest[0] == '-') off = -off;
    }
    if (hour > 23 || minute > 59 || second > 60) return std::nullopt;
    using namespace std::chrono;
    const sys_seconds at =
        sys_days(day_of(day)) + hours(hour) + minutes(minute) + seconds(second) - off;
    const int year = static_cast<int>(year_month_day(floor<days>(at)).year());
    if (year < 0 || year > 9999) return std::nullopt;
    return at;
}

std::optional<std::string> utc_of(std::string_view iso) {
    const std::optional<std::chrono::sys_seconds> at = time_of(iso);
    return at ? std::optional(utc_text(*at)) : std::nullopt;
}

std::int64_t days_between(std::string_view first, std::string_view last) {
    return (std::chrono::sys_days(day_of(last)) - std::chrono::sys_days(day_of(first))).count();
}

}  // namespace perfgate::model
