// SPDX-License-Identifier: Apache-2.0
// A kernel of a source file (`source` in a suite): how it is compiled, launched and checked. Made
// by the suite module, compiled by the source module, set up by the CUDA backend.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/run.hpp"

namespace perfgate::model {

enum class ElementType { f16, bf16, f32, f64, i8, i16, i32, i64, u8, u16, u32, u64 };

std::string_view to_text(ElementType type);
std::int64_t bytes_of(ElementType type);
bool is_integer(ElementType type);
/// The largest finite value of a floating-point type; 0 for integers.
double largest_of(ElementType type);

struct SourceArgument {
    enum class Role {
        in,     ///< a buffer that the kernel reads
        out,    ///< a buffer that it writes; 0xFF bytes before each verified launch
        inout,  ///< a buffer that it changes; restored before each launch
        value,  ///< passed by value
    };
    enum class Fill {
        uniform,   ///< by seed, as perfgate_random.hpp's random_element
        iota,      ///< 0, 1, 2, …, modulo what the type holds exactly
        constant,  ///< `integer` or `real` everywhere
    };
    Role role = Role::in;
    ElementType type = ElementType::f32;
    std::int64_t elements = 1;  ///< of a buffer
    Fill fill = Fill::uniform;
    std::int64_t integer = 0;  ///< of integer types: the value, or the constant
    double real = 0;           ///< of other types

    bool operator==(const SourceArgument&) const = default;
};

std::string_view to_text(SourceArgument::Role role);
std::string_view to_text(SourceArgument::Fill fill);

/// What the outputs of a verified launch are compared with.
struct SourceCheck {
    enum class Kind {
        none,    ///< the case is not verified
        kernel,  ///< another kernel of the file, launched with the same arguments
        file,    ///< a .npy file with the one output
    };
    Kind kind = Kind::none;
    std::string against;  ///< the kernel, or the file, relative to `folder`
    /// A floating-point element x may differ from the expected y by atol + rtol·|y|; integers must
    /// be equal.
    double rtol = 0, atol = 0;

    bool operator==(const SourceCheck&) const = default;
};

std::string_view to_text(SourceCheck::Kind kind);

/// What of a suite's entry the compiler gets.
struct CompileOptions {
    std::string standard = "c++17";
    std::vector<std::string> include;  ///< folders, relative to the kernel's `folder`
    std::vector<std::pair<std::string, std::string>> defines;
    bool fast_math = false;

    bool operator==(const CompileOptions&) const = default;
};

/// The outcome of compiling; for a binary, its file as it is.
struct SourceCode {
    std::string file;  ///< absolute; empty: not compiled yet
    /// Fingerprint of its content: of code with line information, when the source was written
    /// counts.
    std::string digest;
    std::string kernel_symbol;     ///< of the measured kernel in it
    std::string reference_symbol;  ///< of the kernel that it is compared with; empty: none
    std::string problem;           ///< why there is none, in one line; empty: there is
    std::string log;               ///< the compiler's messages

    bool operator==(const SourceCode&) const = default;
};

/// With all parameters in place.
struct SourceKernel {
    std::string file;    ///< as in the suite: relative to `folder`
    std::string folder;  ///< the suite's, or the same in another checkout; absolute once planned
    std::string kernel;
    CompileOptions options;
    std::vector<std::string> architectures;  ///< that `validate` compiles for: "90", "90a"
    std::array<std::int64_t, 3> grid{1, 1, 1}, block{1, 1, 1};
    std::int64_t shared_bytes = 0;  ///< dynamic shared memory of a block
    std::vector<SourceArgument> arguments;
    SourceCheck check;
    Work work;  ///< as the suite states it; 0: it does not
    SourceCode code;

    bool operator==(const SourceKernel&) const = default;
};

/// How a source file becomes machine code, by the end of its name.
enum class SourceKind { cuda, ptx, cubin, fatbin, unknown };
SourceKind kind_of_source(std::string_view file);

/// Why the kernel named `name`, with parameters of these sizes in bytes, cannot be launched with
/// the arguments; empty: it can.
std::string argument_mismatch(const SourceKernel& kernel, const std::string& name,
                              const std::vector<std::size_t>& parameters);

/// Whether a launch changes what it reads.
bool needs_reset(const SourceKernel& kernel);

/// Device memory that the buffers take: those that are restored have a second copy.
std::uint64_t memory_bytes_of(const SourceKernel& kernel);

/// Fingerprint of how the kernel is launched and of its stated work: what a plugin's host code
/// would decide.
std::string set_up_fingerprint(const SourceKernel& kernel);

}  // namespace perfgate::model
