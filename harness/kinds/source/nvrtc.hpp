// SPDX-License-Identifier: Apache-2.0
// NVRTC, the compiler of the CUDA toolkit as a library, opened with dlopen. Its C interface is
// declared here, because perfgate is also built without a toolkit.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace perfgate::source {

struct NvrtcVersion {
    int major = 0, minor = 0;
};

/// What came of a compilation.
struct NvrtcOutcome {
    bool compiled = false;
    std::string log;                   ///< the compiler's messages; warnings if it compiled
    std::string cubin;                 ///< machine code
    std::vector<std::string> symbols;  ///< of the names, in their order
};

class Nvrtc {
  public:
    /// Opens the first of libnvrtc.so.13 and .12 that the loader or a usual folder has, and that
    /// `newest_major` (0: any) allows. Throws util::Error with the remedy if there is none.
    explicit Nvrtc(int newest_major);

    NvrtcVersion version() const { return version_; }
    /// The library, without links; empty if that is not known.
    const std::filesystem::path& file() const { return file_; }
    /// Folders of the toolkit's headers: those beside this library, or else the first of its CUDA
    /// in a usual folder; none if they are not installed.
    std::vector<std::filesystem::path> include_folders() const;

    /// Compiles for one real architecture; `names` are kernels as C++ names them. Throws
    /// util::Error if the library fails other than by an error of the source.
    NvrtcOutcome compile(const std::string& text, const std::string& file,
                         const std::vector<std::string>& options,
                         const std::vector<std::string>& names) const;

  private:
    using Program = struct NvrtcProgramHandle*;
    // As in nvrtc.h: a result of 0 is success, 6 an error of the source.
    // NOLINTBEGIN(readability-identifier-naming): the names of the library's functions
    struct Api {
        int (*nvrtcVersion)(int* major, int* minor) = nullptr;
        const char* (*nvrtcGetErrorString)(int result) = nullptr;
        int (*nvrtcCreateProgram)(Program* program, const char* text, const char* name, int headers,
                                  const char* const* contents, const char* const* names) = nullptr;
        int (*nvrtcDestroyProgram)(Program* program) = nullptr;
        int (*nvrtcAddNameExpression)(Program program, const char* name) = nullptr;
        int (*nvrtcCompileProgram)(Program program, int count,
                                   const char* const* options) = nullptr;
        int (*nvrtcGetLoweredName)(Program program, const char* name,
                                   const char** lowered) = nullptr;
        int (*nvrtcGetProgramLogSize)(Program program, std::size_t* size) = nullptr;
        int (*nvrtcGetProgramLog)(Program program, char* log) = nullptr;
        int (*nvrtcGetCUBINSize)(Program program, std::size_t* size) = nullptr;
        int (*nvrtcGetCUBIN)(Program program, char* code) = nullptr;
    };
    // NOLINTEND(readability-identifier-naming)

    void check(int result, const char* what) const;
    std::string text_of(Program program, int (*size)(Program, std::size_t*),
                        int (*get)(Program, char*), const char* what) const;

    Api api_;
    NvrtcVersion version_;
    std::filesystem::path file_;
};

}  // namespace perfgate::source
