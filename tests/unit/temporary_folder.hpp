// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "util/temporary_folder.hpp"

namespace perfgate {
using util::TemporaryFolder;
}  // namespace perfgate
