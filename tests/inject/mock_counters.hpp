// SPDX-License-Identifier: Apache-2.0
// What the mock of CUPTI tells its counters.
#pragma once

#include <cuda.h>

namespace perfgate::mock {

/// A kernel ran in the context.
void count_kernel(CUcontext context, const char* name, unsigned int blocks);
/// A kernel ran: its program counter was sampled.
void sample_kernel(const char* name);
/// A module will be loaded.
void put_samples_aside();
/// All work of the context is done.
void note_synchronised();

}  // namespace perfgate::mock
