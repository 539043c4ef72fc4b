// SPDX-License-Identifier: Apache-2.0
//
// A source's kernel, set up: its module is loaded, its buffers are allocated.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "backend/cuda/open_device.hpp"
#include "backend/plugin/instance.hpp"
#include "kinds/source/values/elements.hpp"
#include "model/source_kernel.hpp"

namespace perfgate::backend::cuda {

/// A module of machine code. While this lives, its functions hide those of the same name in other
/// modules from `code`. The module stays loaded until the process ends: CUPTI knows a kernel's name
/// by its function's address, and would give a later module's kernel the name of an unloaded one.
class SourceModule {
  public:
    /// `file` names it in messages; those of the driver's compiler (PTX) are passed on.
    SourceModule(const std::string& image, const std::string& file, LoadedCode& code);
    ~SourceModule();
    SourceModule& operator=(SourceModule&&) = delete;  // nor copied

    /// `kernel` is what the suite calls it.
    CUfunction function(const std::string& symbol, const std::string& kernel) const;

  private:
    std::string file_;
    LoadedCode& code_;
    LoadedCode::Layer layer_;
    CUmodule module_ = nullptr;
};

class SourceInstance final : public Instance {
  public:
    /// Loads kernel.code.file, which must have its digest, and allocates. Throws util::InputError
    /// if the file is not as it was compiled, or the kernel takes other arguments.
    SourceInstance(OpenDevice& device, const model::SourceKernel& kernel);

    void fill(std::uint64_t seed) override;
    void launch(void* stream) override;
    void reset(void* stream) override;
    bool needs_reset() const override { return model::needs_reset(kernel_); }
    pg_submission submission() const override { return PG_ASYNC; }
    model::Verification verify() override;
    std::vector<Output> outputs() override;

  private:
    /// An argument on the device.
    struct Argument {
        std::unique_ptr<DeviceBuffer> buffer;
        std::unique_ptr<DeviceBuffer> pristine;  ///< of an inout: what it is restored from
        Bytes passed;                            ///< what the kernel gets: an address, or the value
    };

    void check_parameters(CUfunction function, const std::string& name) const;
    /// The elements of the outputs, in the order of the arguments.
    std::vector<Elements> read_outputs() const;
    void fill_inputs() const;
    void poison(unsigned char byte) const;
    void launch_function(CUfunction function, CUstream stream);
    std::vector<Elements> outputs_of(CUfunction function, unsigned char before);
    std::vector<Elements> expected();
    model::Verification compared(const std::vector<Elements>& found,
                                 const std::vector<Elements>& wanted) const;

    OpenDevice& device_;
    model::SourceKernel kernel_;
    std::unique_ptr<SourceModule> module_;
    CUfunction function_ = nullptr;
    CUfunction reference_ = nullptr;  ///< null: the check has none
    std::vector<Argument> arguments_;
    std::vector<void*> passed_;  ///< addresses of what the kernel gets
    std::uint64_t seed_ = 0;     ///< of the last fill
};

}  // namespace perfgate::backend::cuda
