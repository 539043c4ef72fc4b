// SPDX-License-Identifier: Apache-2.0
// What must not be at work where a program is recorded.
#pragma once

namespace perfgate::command {

/// Throws model::InputError where another profiler would be in the program too, or other programs
/// share its GPU through MPS: two tools in one process fight over CUPTI.
void refuse_other_tools();

}  // namespace perfgate::command
