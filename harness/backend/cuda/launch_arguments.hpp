// SPDX-License-Identifier: Apache-2.0
//
// What a kernel is launched with: a fingerprint of its arguments that is the same in another
// process if the values are the same.
#pragma once

#include <cuda.h>

#include <string>

namespace perfgate::backend::cuda {

/// `arguments` as cuLaunchKernel takes them: one pointer per parameter. For a word that points into
/// memory known to the driver, only the alignment counts (up to 256 bytes), not the address;
/// everything else counts by value. Addresses inside opaque values (a tensor map) therefore change
/// the fingerprint in each process, which never excuses a change. Empty if the driver does not
/// report the parameters, or if the arguments are passed in another way.
std::string fingerprint_of_arguments(CUfunction function, void* const* arguments);

}  // namespace perfgate::backend::cuda
