// SPDX-License-Identifier: Apache-2.0
// Places in source files, relative to the folder in which a run works: only these are of use in a
// report that is read elsewhere.
#pragma once

#include <filesystem>

#include "model/case.hpp"

namespace perfgate::model {

/// The place with a file relative to the folder if it lies in it, else the place as it is. Both are
/// absolute and without ".."; symbolic links are not followed.
SourcePlace relative_to(const std::filesystem::path& folder, SourcePlace place);

/// Whether the place is known and its file lies in the folder that it is relative to.
bool lies_inside(const SourcePlace& place);

}  // namespace perfgate::model
