// SPDX-License-Identifier: Apache-2.0
#include "runner/checkout.hpp"

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <system_error>

#include "util/error.hpp"
#include "util/text.hpp"

namespace perfgate::runner {

std::string folder_of_suite(const std::string& suite_file) {
    return std::filesystem::absolute(suite_file).parent_path().lexically_normal().native();
}

std::string place_of(const std::string& folder) {
    std::string text = std::filesystem::path(folder).lexically_normal().native();
    if (text.size() > 1 && text.ends_with('/')) text.pop_back();
    return text;
}

model::Placement placement_of(const Checkout& checkout, const std::string& suite_file) {
    model::Placement placement{[](const std::string& folder) { return folder; },
                               checkout.variables};
    if (checkout.root.empty()) return placement;
    const std::filesystem::path root = std::filesystem::absolute(checkout.root);
    const std::filesystem::path replaced = checkout.replaced.empty()
                                               ? std::filesystem::path(folder_of_suite(suite_file))
                                               : std::filesystem::path(checkout.replaced);
    const bool named = !checkout.replaced.empty();
    placement.folder = [=](const std::string& folder) {
        const auto below = std::filesystem::path(folder).lexically_relative(replaced);
        if (named && (below.empty() || *below.begin() == "..")) {
            throw util::InputError(
                "{}: the folder {} is outside of {}, so no revision has its own: expected one in "
                "the repository",
                util::printable(suite_file), util::printable(folder),
                util::printable(replaced.native()));
        }
        return place_of((root / below).native());
    };
    return placement;
}

namespace fs = std::filesystem;

fs::path checkout_around(const fs::path& folder) {
    fs::path start = (fs::absolute(folder) / "").lexically_normal().parent_path();
    for (fs::path place = start; place != place.parent_path(); place = place.parent_path()) {
        std::error_code error;
        if (fs::exists(place / ".git", error)) return place;
    }
    return start;
}

std::string without_checkout(const std::string& text, const fs::path& checkout,
                             const fs::path& folder) {
    constexpr std::string_view before = " =:,;'\"";
    constexpr std::string_view behind = " :,;'\"";
    const std::string& prefix = checkout.native();
    if (prefix.size() < 2) return text;  // the root is everybody's
    std::string result;
    std::size_t done = 0;
    for (std::size_t at = text.find(prefix); at != std::string::npos;
         at = text.find(prefix, at + prefix.size())) {
        const std::size_t next = at + prefix.size();
        const bool begins = at == 0 || before.find(text[at - 1]) != std::string_view::npos;
        const bool ends = next == text.size() || text[next] == '/' ||
                          behind.find(text[next]) != std::string_view::npos;
        if (!begins || !ends) continue;
        const std::size_t end = std::min(text.find_first_of(behind, next), text.size());
        result.append(text, done, at - done);
        result += fs::path(text.substr(at, end - at)).lexically_relative(folder).native();
        done = end;
    }
    return result.append(text, done);
}

void make_portable(model::PlannedSuite& suite) {
    const fs::path folder =
        (fs::absolute(suite.file).parent_path() / "").lexically_normal().parent_path();
    const fs::path checkout = checkout_around(folder);
    for (model::PlannedCase& planned : suite.cases) {
        for (auto& [key, value] : planned.measured_as) {
            value = model::shortened_value(without_checkout(value, checkout, folder));
        }
    }
}

}  // namespace perfgate::runner
