// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/source_instance.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>

#include "backend/cuda/launch_arguments.hpp"
#include "util/file.hpp"
#include "util/sha256.hpp"
#include "util/text.hpp"

namespace perfgate::backend::cuda {
namespace {

using Role = model::SourceArgument::Role;

constexpr std::size_t most_code_bytes = std::size_t{512} << 20;

/// Bytes of the outputs before the measured kernel and before its reference: an element that
/// neither writes must not look equal. 0xFF is NaN in every floating-point type.
constexpr unsigned char first_poison = 0xff;
constexpr unsigned char reference_poison = 0xfe;
/// Any byte is a legal integer, so kernels with integer outputs are verified with this one, too.
constexpr unsigned char second_poison = 0x55;

/// The code as it was compiled or found when the run was planned.
std::string image_of(const model::SourceCode& code) {
    std::string image = util::read_file(code.file, most_code_bytes, "machine code");
    if (util::fingerprint_of(image) != code.digest) {
        throw util::InputError("{} has changed since the run began: measure again", code.file);
    }
    return image;
}

bool is_output(const model::SourceArgument& argument) {
    return argument.role == Role::out || argument.role == Role::inout;
}

pg_element element_of(model::ElementType type) {
    using model::ElementType;
    switch (type) {
        case ElementType::f16:
        case ElementType::f32:
        case ElementType::f64:
            return PG_ELEMENT_FLOAT;
        case ElementType::bf16:
            return PG_ELEMENT_BFLOAT16;
        case ElementType::i8:
        case ElementType::i16:
        case ElementType::i32:
        case ElementType::i64:
            return PG_ELEMENT_SIGNED;
        case ElementType::u8:
        case ElementType::u16:
        case ElementType::u32:
        case ElementType::u64:
            return PG_ELEMENT_UNSIGNED;
    }
    return PG_ELEMENT_UNKNOWN;
}

}  // namespace

SourceModule::SourceModule(const std::string& image, const std::string& file, LoadedCode& code)
    : file_(file), code_(code), layer_(code.begin_layer()) {
    std::array<char, 8192> log{};
    std::array options{CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    // The driver takes a size in place of a pointer.
    std::array<void*, 2> values{log.data(), reinterpret_cast<void*>(log.size())};
    const CUresult result = driver().cuModuleLoadDataEx(&module_, image.c_str(), options.size(),
                                                        options.data(), values.data());
    if (result != CUDA_SUCCESS) {
        code_.end_layer(layer_);
        log.back() = '\0';
        const std::string messages = util::printable(log.data(), 1000);
        check(result,
              fmt::format("cannot load {}{}{}", file, messages.empty() ? "" : ": ", messages));
    }
}

SourceModule::~SourceModule() {
    code_.end_layer(layer_);
}

CUfunction SourceModule::function(const std::string& symbol, const std::string& kernel) const {
    CUfunction function = nullptr;
    const CUresult result = driver().cuModuleGetFunction(&function, module_, symbol.c_str());
    code_.fill_layer(std::nullopt);
    if (result == CUDA_ERROR_NOT_FOUND) {
        throw util::InputError(
            "{} has no kernel '{}' (symbol {}); a kernel is __global__, and machine code has "
            "mangled names, which `cuobjdump --list-text` or `nm` shows",
            file_, util::printable(kernel), util::printable(symbol));
    }
    check(result, fmt::format("cannot find '{}' in {}", kernel, file_));
    return function;
}

SourceInstance::SourceInstance(OpenDevice& device, const model::SourceKernel& kernel)
    : device_(device), kernel_(kernel) {
    module_ = std::make_unique<SourceModule>(image_of(kernel.code), kernel.file, device.code());
    function_ = module_->function(kernel.code.kernel_symbol, kernel.kernel);
    if (kernel.check.kind == model::SourceCheck::Kind::kernel) {
        reference_ = module_->function(kernel.code.reference_symbol, kernel.check.against);
    }
    for (const model::SourceArgument& argument : kernel_.arguments) {
        Argument& own = arguments_.emplace_back();
        if (argument.role == Role::value) {
            own.passed = value_of(argument);
            continue;
        }
        const auto bytes =
            static_cast<std::size_t>(argument.elements * model::bytes_of(argument.type));
        own.buffer = std::make_unique<DeviceBuffer>(bytes);
        if (argument.role == Role::inout) own.pristine = std::make_unique<DeviceBuffer>(bytes);
        const CUdeviceptr address = own.buffer->address();
        own.passed.resize(sizeof(address));
        std::memcpy(own.passed.data(), &address, sizeof(address));
    }
    for (Argument& argument : arguments_) passed_.push_back(argument.passed.data());
    check_parameters(function_, kernel.kernel);
    if (reference_ != nullptr) check_parameters(reference_, kernel.check.against);
    for (CUfunction function : {function_, reference_}) {
        if (function == nullptr || kernel.shared_bytes == 0) continue;
        check(driver().cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                          static_cast<int>(kernel.shared_bytes)),
              fmt::format("cannot give a block {} bytes of dynamic shared memory",
                          kernel.shared_bytes));
    }
}

void SourceInstance::check_parameters(CUfunction function, const std::string& name) const {
    const auto sizes = parameter_sizes(function);
    if (!sizes) {
        throw util::Error("the driver does not report the parameters of '{}'", name);
    }
    const std::string mismatch = model::argument_mismatch(kernel_, name, *sizes);
    if (!mismatch.empty()) throw util::InputError(mismatch);
}

void SourceInstance::fill(std::uint64_t seed) {
    seed_ = seed;
    fill_inputs();
    poison(first_poison);
    reset(device_.stream());
    check(driver().cuStreamSynchronize(device_.stream()), "cannot fill the arguments");
}

void SourceInstance::fill_inputs() const {
    const CUstream stream = device_.stream();
    for (std::size_t i = 0; i < arguments_.size(); ++i) {
        const model::SourceArgument& argument = kernel_.arguments[i];
        if (argument.role != Role::in && argument.role != Role::inout) continue;
        const Bytes content = content_of(argument, seed_, i + 1);
        const Argument& own = arguments_[i];
        const DeviceBuffer& to = own.pristine ? *own.pristine : *own.buffer;
        check(driver().cuMemcpyHtoDAsync(to.address(), content.data(), content.size(), stream),
              "cannot fill an input");
        check(driver().cuStreamSynchronize(stream), "cannot fill an input");
    }
}

void SourceInstance::poison(unsigned char byte) const {
    for (std::size_t i = 0; i < arguments_.size(); ++i) {
        if (kernel_.arguments[i].role != Role::out) continue;
        const DeviceBuffer& buffer = *arguments_[i].buffer;
        check(driver().cuMemsetD8Async(buffer.address(), byte, buffer.bytes(), device_.stream()),
              "cannot fill an output");
    }
}

void SourceInstance::reset(void* stream) {
    for (const Argument& argument : arguments_) {
        if (!argument.pristine) continue;
        check(driver().cuMemcpyDtoDAsync(argument.buffer->address(), argument.pristine->address(),
                                         argument.buffer->bytes(), static_cast<CUstream>(stream)),
              "cannot restore an argument");
    }
}

void SourceInstance::launch_function(CUfunction function, CUstream stream) {
    const auto size = [](std::int64_t value) { return static_cast<unsigned>(value); };
    const auto& grid = kernel_.grid;
    const auto& block = kernel_.block;
    check(driver().cuLaunchKernel(function, size(grid[0]), size(grid[1]), size(grid[2]),
                                  size(block[0]), size(block[1]), size(block[2]),
                                  size(kernel_.shared_bytes), stream, passed_.data(), nullptr),
          fmt::format("cannot launch '{}' with grid {}, block {} and {} bytes of shared memory",
                      kernel_.kernel, fmt::join(grid, "x"), fmt::join(block, "x"),
                      kernel_.shared_bytes));
}

void SourceInstance::launch(void* stream) {
    launch_function(function_, static_cast<CUstream>(stream));
}

std::vector<Elements> SourceInstance::read_outputs() const {
    std::vector<Elements> all;
    for (std::size_t i = 0; i < arguments_.size(); ++i) {
        if (!is_output(kernel_.arguments[i])) continue;
        const DeviceBuffer& buffer = *arguments_[i].buffer;
        Elements& elements = all.emplace_back();
        elements.type = kernel_.arguments[i].type;
        elements.bytes.resize(buffer.bytes());
        check(driver().cuMemcpyDtoHAsync(elements.bytes.data(), buffer.address(), buffer.bytes(),
                                         device_.stream()),
              "cannot read an output");
    }
    check(driver().cuStreamSynchronize(device_.stream()), "cannot read the outputs");
    return all;
}

std::vector<Output> SourceInstance::outputs() {
    std::vector<Output> all;
    for (std::size_t i = 0; i < arguments_.size(); ++i) {
        const model::SourceArgument& argument = kernel_.arguments[i];
        if (!is_output(argument)) continue;
        Output& output = all.emplace_back();
        output.name = fmt::format("argument {}", i + 1);
        output.address = arguments_[i].buffer->address();
        output.bytes = arguments_[i].buffer->bytes();
        output.element_bytes = static_cast<std::uint64_t>(model::bytes_of(argument.type));
        output.element = element_of(argument.type);
    }
    return all;
}

std::vector<Elements> SourceInstance::expected() {
    if (kernel_.check.kind == model::SourceCheck::Kind::file) {
        const auto output = std::ranges::find_if(kernel_.arguments, is_output);
        std::vector<Elements> all;
        all.push_back(read_npy(std::filesystem::path(kernel_.folder) / kernel_.check.against,
                               static_cast<std::size_t>(output->elements)));
        return all;
    }
    return outputs_of(reference_, reference_poison);
}

/// Launches once more, with the inputs of the last fill: the launch before may have changed them.
std::vector<Elements> SourceInstance::outputs_of(CUfunction function, unsigned char before) {
    fill_inputs();
    poison(before);
    reset(device_.stream());
    launch_function(function, device_.stream());
    return read_outputs();
}

model::Verification SourceInstance::verify() {
    const std::vector<Elements> found = read_outputs();
    const std::vector<Elements> wanted = expected();
    model::Verification result = compared(found, wanted);
    const bool has_integers =
        std::ranges::any_of(found, [](const Elements& one) { return is_integer(one.type); });
    if (result.passed && has_integers) {
        result = compared(outputs_of(function_, second_poison), wanted);
    }
    result.detail =
        fmt::format("against {}: {}", util::printable(kernel_.check.against), result.detail);
    return result;
}

model::Verification SourceInstance::compared(const std::vector<Elements>& found,
                                             const std::vector<Elements>& wanted) const {
    model::Verification result{true, 0, ""};
    for (std::size_t i = 0; i < found.size(); ++i) {
        const model::Verification one = compare(found[i], wanted[i], kernel_.check, seed_);
        const std::string which = found.size() == 1 ? "" : fmt::format("output {}: ", i + 1);
        if (!one.passed && result.passed) result = {false, 0, ""};
        if (one.passed != result.passed) continue;
        result.detail += (result.detail.empty() ? "" : "; ") + which + one.detail;
    }
    return result;
}

}  // namespace perfgate::backend::cuda
