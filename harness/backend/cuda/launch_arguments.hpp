// SPDX-License-Identifier: Apache-2.0
//
// What a kernel is launched with: a fingerprint of its arguments that is the same in another
// process if the values are the same.
#pragma once

#include <cuda.h>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace perfgate::backend::cuda {

/// Sizes of a kernel's parameters, bytes; nothing if the driver does not report them.
std::optional<std::vector<std::size_t>> parameter_sizes(CUfunction function);

struct ArgumentFingerprint {
    std::string whole;  ///< of all arguments
    std::string words;  ///< as model::Kernel::argument_words has it, nothing masked
};

/// `arguments` as cuLaunchKernel takes them: one pointer per parameter. Of a word that points into
/// memory that the driver knows, the alignment counts (up to 256 bytes) and not the address; all
/// else counts as it stands. Addresses inside of what no one can look into (a tensor map, a struct
/// that is not aligned) differ from process to process; the words tell which these are. Empty where
/// the driver does not tell the parameters, or the arguments come in another way.
ArgumentFingerprint fingerprint_of_arguments(CUfunction function, void* const* arguments);

}  // namespace perfgate::backend::cuda
