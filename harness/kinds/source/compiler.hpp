// SPDX-License-Identifier: Apache-2.0
// From a source to machine code on disk, each combination of file, options and kernels once.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "model/source_kernel.hpp"

namespace perfgate::source {

struct CompilerOptions {
    std::filesystem::path perfgate;  ///< the binary that compiles when started as `compile`
    std::filesystem::path out;       ///< machine code is kept here; made when needed
    std::string architecture;        ///< "90a"
    int newest_major = 0;            ///< of NVRTC: that of the driver; 0: any
    double time_limit_s = 120;       ///< for one compilation
    std::function<bool()> stop;      ///< polled
    /// Called with the file before it is compiled; may be empty.
    std::function<void(const std::string& file)> compiling;
};

class Compiler {
  public:
    explicit Compiler(CompilerOptions options) : options_(std::move(options)) {}

    /// The code of a kernel. Problems of the source or the compiler are in the result; throws
    /// util::Error only where files of ours cannot be written. `interrupted` becomes true if
    /// `stop` ended it.
    model::SourceCode code_of(const model::SourceKernel& kernel);

    /// Removes machine code in `out` that earlier compilers made and this one did not. Other files
    /// stay.
    void prune() const;

    bool interrupted() const { return interrupted_; }
    /// NVRTC could not be used at all: nothing was found out about the source.
    bool lacks_compiler() const { return lacks_compiler_; }
    /// "NVRTC 13.0"; empty before it has compiled.
    const std::string& compiler() const { return compiler_; }

  private:
    model::SourceCode compiled(const model::SourceKernel& kernel);
    model::SourceCode as_it_is(const model::SourceKernel& kernel) const;

    CompilerOptions options_;
    /// By what determines the code, as the words of the compiling process.
    std::map<std::vector<std::string>, model::SourceCode> known_;
    std::string compiler_;
    bool interrupted_ = false;
    bool lacks_compiler_ = false;
};

/// Absolute, without "..".
std::filesystem::path path_of(const model::SourceKernel& kernel);
/// Where no file is, and how the suite names it; empty: it is there.
std::string absent_file(const model::SourceKernel& kernel);

/// The architecture to compile for: "9.0" is "90a", "8.6" is "86". Empty if the text is none.
std::string architecture_of(const std::string& compute_capability);

}  // namespace perfgate::source
