// SPDX-License-Identifier: Apache-2.0
//
// What a kernel is launched with: its arguments as a fingerprint that is the same in another
// process where the values are.
#pragma once

#include <cuda.h>

#include <string>

namespace perfgate::backend::cuda {

/// `arguments` as cuLaunchKernel takes them: one pointer per parameter. Of a word that points into
/// memory that the driver knows, the alignment counts (up to 256 bytes) and not the address; all
/// else counts as it stands. So addresses inside of what no one can look into (a tensor map) make
/// the fingerprint another one in each process, which excuses nothing. Empty if the driver does
/// not tell the parameters, or the arguments come in another way.
std::string fingerprint_of_arguments(CUfunction function, void* const* arguments);

}  // namespace perfgate::backend::cuda
