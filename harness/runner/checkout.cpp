// SPDX-License-Identifier: Apache-2.0
#include "runner/checkout.hpp"

#include <fmt/format.h>

#include <filesystem>

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
                fmt::format("{}: the folder {} is outside of {}, so no revision has its own: "
                            "expected one in the repository",
                            util::printable(suite_file), util::printable(folder),
                            util::printable(replaced.native())));
        }
        return place_of((root / below).native());
    };
    return placement;
}

}  // namespace perfgate::runner
