// SPDX-License-Identifier: Apache-2.0
#include "model/source_place.hpp"

#include <algorithm>

namespace perfgate::model {
namespace {

bool leads_out(const std::filesystem::path& path) {
    return !path.is_relative() || std::find(path.begin(), path.end(), "..") != path.end();
}

}  // namespace

SourcePlace relative_to(const std::filesystem::path& folder, SourcePlace place) {
    const std::filesystem::path path = std::filesystem::path(place.file).lexically_relative(folder);
    if (!path.empty() && !leads_out(path)) place.file = path.generic_string();
    return place;
}

bool lies_inside(const SourcePlace& place) {
    return !place.file.empty() && place.line > 0 && !leads_out(place.file);
}

}  // namespace perfgate::model
