// SPDX-License-Identifier: Apache-2.0
// Names of kernels for people. Demangled names of templates can fill a screen.
#pragma once

#include <string>
#include <string_view>

namespace perfgate::model {

/// Without result, parameters and anonymous namespaces; at most 60 bytes, printable.
std::string short_kernel_name(std::string_view name);

/// Without namespaces and template arguments as well: "flash_fwd_kernel". A name that is then too
/// general to say anything ("Kernel2") keeps its arguments.
std::string brief_kernel_name(std::string_view name);

/// The brief name, and if that is equal for `other`, the part in which both names differ:
/// "elementwise_kernel<…BFloat16…>".
std::string distinct_kernel_name(std::string_view name, std::string_view other);

}  // namespace perfgate::model
