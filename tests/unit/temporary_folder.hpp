// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/temporary_folder.hpp"

namespace perfgate {
using model::TemporaryFolder;
}  // namespace perfgate
