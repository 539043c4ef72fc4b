// SPDX-License-Identifier: Apache-2.0
// The C++ interface for plugin authors: header-only, on top of the C ABI of perfgate.h.
//
//   struct Axpy : perfgate::sdk::Instance { fill, launch, verify … };
//
//   PERFGATE_PLUGIN(one_workload("axpy", {Param::integer("n", "elements", 1, 1 << 30)},
//                                {cuda_variant<Axpy>("simple"),
//                                 host_variant<OnHost>("reference")}));
//
// Errors are exceptions: Unsupported, DeviceError, OutOfMemory (or std::bad_alloc), or any other
// std::exception. Their text is shown to the user.
// Host buffers and comparisons are in perfgate_verify.hpp, which this includes; what needs CUDA's
// headers is in perfgate_cuda.hpp. C++17 and later; docs/plugins.md has examples.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <exception>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "perfgate.h"
#include "perfgate_verify.hpp"

namespace perfgate::sdk {

/// The variant cannot run these parameters on this machine.
class Unsupported : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

/// Memory ran out, on the host or the device.
class OutOfMemory : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

/// A device error after which the context may be unusable (illegal address, assert, …).
class DeviceError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

enum class Target { host = PG_HOST, cuda = PG_CUDA };
enum class Submission { async = PG_ASYNC, synchronous = PG_SYNCHRONOUS, graph = PG_GRAPH };

/// The parameters of a case, typed. Asking for a name or type that the workload does not declare is
/// an error in the plugin and throws std::logic_error.
class Values {
  public:
    explicit Values(const pg_values& values) : values_(&values) {}

    std::int64_t integer(std::string_view name) const { return get(name, PG_INT).integer; }
    bool boolean(std::string_view name) const { return get(name, PG_BOOL).integer != 0; }
    double real(std::string_view name) const { return get(name, PG_REAL).real; }
    std::string_view text(std::string_view name) const { return get(name, PG_TEXT).text; }
    /// An integer parameter that counts elements.
    std::size_t size(std::string_view name) const {
        const std::int64_t value = integer(name);
        if (value < 0) throw std::logic_error("'" + std::string(name) + "' counts and is negative");
        return static_cast<std::size_t>(value);
    }

  private:
    const pg_value& get(std::string_view name, pg_param_type type) const {
        for (std::size_t i = 0; i < values_->count; ++i) {
            const pg_value& value = values_->values[i];
            if (name == value.name && value.type == type) return value;
        }
        throw std::logic_error("the workload declares no parameter '" + std::string(name) +
                               "' of this type");
    }

    const pg_values* values_;
};

/// Memory that a launch writes, every byte of it: `{"y", y}` for a HostBuffer, DeviceBuffer,
/// DeviceMemory or std::vector.
struct Output {
    template <class Buffer>
    Output(std::string label, Buffer& buffer)
        : name(std::move(label)),
          data(buffer.data()),
          bytes(buffer.size() * sizeof(*buffer.data())) {
        using T = std::decay_t<decltype(*buffer.data())>;
        if (sizeof(T) <= 64) element_bytes = sizeof(T);
        if constexpr (std::is_floating_point_v<T>) {
            element = PG_ELEMENT_FLOAT;
        } else if constexpr (std::is_integral_v<T>) {
            element = std::is_signed_v<T> ? PG_ELEMENT_SIGNED : PG_ELEMENT_UNSIGNED;
        }
    }
    Output(std::string label, void* address, std::size_t size, std::size_t element_size = 1,
           pg_element kind = PG_ELEMENT_UNKNOWN)
        : name(std::move(label)),
          data(address),
          bytes(size),
          element_bytes(element_size),
          element(kind) {}

    std::string name;
    void* data;
    std::size_t bytes;
    std::size_t element_bytes = 1;
    pg_element element = PG_ELEMENT_UNKNOWN;  ///< what values are shown as, beside their bits
};

/// One case, set up. Constructed by Variant::create, which allocates.
class Instance {
  public:
    virtual ~Instance() = default;

    /// Generates the inputs for `seed`, poisons the outputs and waits for both.
    virtual void fill(std::uint64_t seed) = 0;
    /// Does the work once, on `stream` (a cudaStream_t; null for host variants).
    virtual void launch(void* stream) = 0;
    /// Enqueues work that restores the inputs; called only if Variant::needs_reset.
    virtual void reset(void* /*stream*/) {}
    /// Compares the outputs of the last launch with a float64 reference. The device is idle.
    virtual Verification verify() = 0;
    /// What a launch writes, for suites that say `deterministic: true`. Called after a launch, and
    /// after a fill that follows one. The harness reads the outputs, and overwrites them between
    /// fill and launch (before reset, if Variant::needs_reset).
    virtual std::vector<Output> outputs() { return {}; }
};

/// An Instance that owns its buffers: `fill` fills the inputs, each with other values, and poisons
/// the outputs; `outputs` lists the outputs. What is left are `launch` and `verify`.
template <template <class> class Buffer>
class BufferedInstance : public Instance {
  public:
    void fill(std::uint64_t seed) override {
        for (const auto& fill : fills_) fill(seed);
    }
    std::vector<Output> outputs() override { return outputs_; }

  protected:
    /// A buffer of `size` elements that lives as long as the instance.
    template <class T>
    Buffer<T>& input(std::size_t size) {
        const auto made = std::make_shared<Buffer<T>>(size);
        const std::uint64_t operand = fills_.size() + 1;
        fills_.push_back([made, operand](std::uint64_t seed) { made->fill(seed, operand); });
        return *made;
    }
    /// As `input`. A launch writes every element.
    template <class T>
    Buffer<T>& output(std::size_t size, std::string name = "output") {
        const auto made = std::make_shared<Buffer<T>>(size);
        fills_.push_back([made](std::uint64_t) { made->poison(); });
        outputs_.emplace_back(std::move(name), *made);
        return *made;
    }

  private:
    std::vector<std::function<void(std::uint64_t)>> fills_;
    std::vector<Output> outputs_;
};

/// For a host variant: inputs and outputs are HostBuffers.
using HostInstance = BufferedInstance<HostBuffer>;

struct Param {
    std::string name;
    std::string help;
    pg_param_type type = PG_INT;
    std::int64_t minimum = 0, maximum = 0;
    std::vector<std::string> choices;
    std::optional<std::string> default_value;

    static Param integer(std::string name, std::string help, std::int64_t minimum,
                         std::int64_t maximum, std::optional<std::string> default_value = {}) {
        return {std::move(name),         std::move(help), PG_INT, minimum, maximum, {},
                std::move(default_value)};
    }
    static Param choice(std::string name, std::string help, std::vector<std::string> choices,
                        std::optional<std::string> default_value = {}) {
        return {std::move(name),    std::move(help),         PG_TEXT, 0, 0,
                std::move(choices), std::move(default_value)};
    }
    static Param boolean(std::string name, std::string help,
                         std::optional<std::string> default_value = {}) {
        return {std::move(name), std::move(help), PG_BOOL, 0, 0, {}, std::move(default_value)};
    }
    static Param real(std::string name, std::string help,
                      std::optional<std::string> default_value = {}) {
        return {std::move(name), std::move(help), PG_REAL, 0, 0, {}, std::move(default_value)};
    }
};

struct Variant {
    std::string name;
    std::string help;
    Target target = Target::cuda;
    Submission submission = Submission::async;
    int min_compute_capability = 0;  ///< 80 for 8.0
    bool needs_reset = false;        ///< launch() changes its inputs
    /// Throws Unsupported if the variant cannot run the parameters on any machine.
    std::function<void(const Values&)> supports = {};
    /// Bytes that create() allocates on the variant's target.
    std::function<std::uint64_t(const Values&)> memory_bytes = {};
    /// Sets a case up. Empty in the descriptor module for CUDA variants.
    std::function<std::unique_ptr<Instance>(const Values&)> create = {};
};

/// A variant whose cases are `Case(values)`; further properties are set on what it returns.
template <class Case>
Variant make_variant(std::string name, std::string help, Target target) {
    Variant made;
    made.name = std::move(name);
    made.help = std::move(help);
    made.target = target;
    made.create = [](const Values& values) { return std::make_unique<Case>(values); };
    return made;
}
template <class Case>
Variant cuda_variant(std::string name, std::string help = {}) {
    return make_variant<Case>(std::move(name), std::move(help), Target::cuda);
}
template <class Case>
Variant host_variant(std::string name, std::string help = {}) {
    return make_variant<Case>(std::move(name), std::move(help), Target::host);
}

/// The arithmetic type: for a matrix product on tensor cores that of its inputs, else that of the
/// operations.
enum class Arithmetic {
    unstated = PG_ARITHMETIC_UNSTATED,
    f32 = PG_F32,
    tf32 = PG_TF32,
    f16 = PG_F16,
    bf16 = PG_BF16,
    fp8 = PG_FP8
};

struct Work {
    double flops = 0;  ///< operations the result needs, a multiply-add counting 2
    double bytes = 0;  ///< least bytes that must move
    /// The arithmetic type of the flops. With it, reports can say which ceiling of the machine
    /// bounds the case.
    Arithmetic arithmetic = Arithmetic::unstated;
};

struct Workload {
    std::string name;
    std::string help;
    std::vector<Param> params;
    std::vector<Variant> variants;
    std::function<Work(const Values&)> work = {};
};

struct Plugin {
    std::string name;
    std::string cuda_module;  ///< file name without suffix of the second module; empty: none
    std::vector<Workload> workloads;
};

/// A plugin of one file and one workload, which has its name.
inline Plugin one_workload(std::string name, std::vector<Param> params,
                           std::vector<Variant> variants) {
    Workload workload;
    workload.name = name;
    workload.params = std::move(params);
    workload.variants = std::move(variants);
    Plugin plugin;
    plugin.name = std::move(name);
    plugin.workloads.push_back(std::move(workload));
    return plugin;
}

}  // namespace perfgate::sdk

struct pg_instance {
    std::unique_ptr<perfgate::sdk::Instance> instance;
    const pg_host* host;
};

namespace perfgate::sdk::detail {

inline Plugin described(Plugin plugin) {
    return plugin;
}
inline Plugin described(Plugin (*function)()) {
    return function();
}

/// Runs `body`; an exception becomes a status and a message for the host.
template <class Body>
pg_status guarded(const pg_host* host, Body&& body) noexcept {
    const auto fail = [host](pg_status status, const char* message) {
        if (host && host->set_error) host->set_error(host->context, message);
        return status;
    };
    try {
        body();
        return PG_OK;
    } catch (const Unsupported& error) {
        return fail(PG_UNSUPPORTED, error.what());
    } catch (const OutOfMemory& error) {
        return fail(PG_OUT_OF_MEMORY, error.what());
    } catch (const std::bad_alloc&) {
        return fail(PG_OUT_OF_MEMORY, "out of host memory");
    } catch (const DeviceError& error) {
        return fail(PG_DEVICE_ERROR, error.what());
    } catch (const std::exception& error) {
        return fail(PG_ERROR, error.what());
    } catch (...) {
        return fail(PG_ERROR, "an exception of unknown type");
    }
}

/// The C tables of a Plugin, with the storage that they point into.
class Tables {
  public:
    explicit Tables(Plugin plugin) : plugin_(std::move(plugin)) {
        workload_tables_.reserve(plugin_.workloads.size());
        for (const Workload& workload : plugin_.workloads) {
            workload_tables_.push_back(std::make_unique<WorkloadTable>(workload));
        }
        for (const auto& table : workload_tables_) workloads_.push_back(&table->c);
        workloads_.push_back(nullptr);
        c_ = {sizeof(pg_plugin),
              PG_ABI_MAJOR,
              PG_ABI_MINOR,
              plugin_.name.c_str(),
              plugin_.cuda_module.empty() ? nullptr : plugin_.cuda_module.c_str(),
              workloads_.data()};
    }
    Tables(const Tables&) = delete;
    Tables& operator=(const Tables&) = delete;

    const pg_plugin* get() const { return &c_; }

  private:
    struct ParamTable {
        explicit ParamTable(const Param& param) {
            for (const std::string& choice : param.choices) choices.push_back(choice.c_str());
            choices.push_back(nullptr);
            c = {sizeof(pg_param),
                 param.name.c_str(),
                 param.help.c_str(),
                 param.type,
                 param.minimum,
                 param.maximum,
                 param.choices.empty() ? nullptr : choices.data(),
                 param.default_value ? param.default_value->c_str() : nullptr,
                 nullptr};
        }
        std::vector<const char*> choices;
        pg_param c{};
    };

    struct WorkloadTable {
        explicit WorkloadTable(const Workload& workload) {
            for (const Param& param : workload.params) {
                param_tables.push_back(std::make_unique<ParamTable>(param));
            }
            for (const auto& table : param_tables) params.push_back(&table->c);
            params.push_back(nullptr);
            for (const Variant& variant : workload.variants) {
                variant_tables.push_back(std::make_unique<pg_variant>(table_of(variant)));
            }
            for (const auto& table : variant_tables) variants.push_back(table.get());
            variants.push_back(nullptr);
            c = {sizeof(pg_workload),
                 &workload,
                 workload.name.c_str(),
                 workload.help.c_str(),
                 params.data(),
                 variants.data(),
                 workload.work ? &work : nullptr};
        }
        std::vector<std::unique_ptr<ParamTable>> param_tables;
        std::vector<const pg_param*> params;
        std::vector<std::unique_ptr<pg_variant>> variant_tables;
        std::vector<const pg_variant*> variants;
        pg_workload c{};
    };

    static const Variant& variant_of(const pg_variant* self) {
        return *static_cast<const Variant*>(self->user);
    }

    static void work(const pg_workload* self, const pg_values* values, pg_work* out) {
        guarded(nullptr, [&] {
            const Work stated = static_cast<const Workload*>(self->user)->work(Values(*values));
            out->flops = stated.flops;
            out->bytes = stated.bytes;
            // An older harness has no space for this field.
            if (out->size >= sizeof(pg_work)) {
                out->arithmetic = static_cast<pg_arithmetic>(stated.arithmetic);
            }
        });
    }

    static pg_variant table_of(const Variant& variant) {
        pg_variant c{};
        c.size = sizeof(pg_variant);
        c.user = &variant;
        c.name = variant.name.c_str();
        c.help = variant.help.c_str();
        c.target = static_cast<pg_target>(variant.target);
        c.submission = static_cast<pg_submission>(variant.submission);
        c.min_compute_capability = variant.min_compute_capability;
        c.needs_reset = variant.needs_reset ? 1 : 0;
        if (variant.supports) {
            c.supports = [](const pg_variant* self, const pg_host* host, const pg_values* values) {
                return guarded(host, [&] { variant_of(self).supports(Values(*values)); });
            };
        }
        if (variant.memory_bytes) {
            c.memory_bytes = [](const pg_variant* self, const pg_values* values) {
                std::uint64_t bytes = 0;
                guarded(nullptr, [&] { bytes = variant_of(self).memory_bytes(Values(*values)); });
                return bytes;
            };
        }
        if (!variant.create) return c;
        c.create = [](const pg_variant* self, const pg_host* host, const pg_values* values,
                      pg_instance** out) {
            return guarded(host, [&] {
                *out = new pg_instance{variant_of(self).create(Values(*values)), host};
            });
        };
        c.destroy = [](pg_instance* self) { delete self; };
        c.fill = [](pg_instance* self, std::uint64_t seed) {
            return guarded(self->host, [&] { self->instance->fill(seed); });
        };
        c.launch = [](pg_instance* self, void* stream) {
            return guarded(self->host, [&] { self->instance->launch(stream); });
        };
        if (variant.needs_reset) {
            c.reset = [](pg_instance* self, void* stream) {
                return guarded(self->host, [&] { self->instance->reset(stream); });
            };
        }
        c.verify = [](pg_instance* self, pg_verification* out) {
            return guarded(self->host, [&] {
                const Verification verification = self->instance->verify();
                out->passed = verification.passed ? 1 : 0;
                const std::size_t length =
                    std::min(verification.detail.size(), sizeof(out->detail) - 1);
                std::memcpy(out->detail, verification.detail.data(), length);
                out->detail[length] = '\0';
            });
        };
        c.outputs = [](pg_instance* self, const pg_outputs* list) {
            return guarded(self->host, [&] {
                for (const Output& output : self->instance->outputs()) {
                    const pg_output one{sizeof(pg_output),
                                        output.name.c_str(),
                                        output.data,
                                        output.bytes,
                                        static_cast<std::uint32_t>(output.element_bytes),
                                        static_cast<std::uint32_t>(output.element)};
                    list->add(list->context, &one);
                }
            });
        };
        return c;
    }

    Plugin plugin_;
    std::vector<std::unique_ptr<WorkloadTable>> workload_tables_;
    std::vector<const pg_workload*> workloads_;
    pg_plugin c_{};
};

}  // namespace perfgate::sdk::detail

/// Exports a plugin: an expression of type `perfgate::sdk::Plugin`, or a function that returns one.
/// It is evaluated once, when perfgate loads the library.
#define PERFGATE_PLUGIN(...)                                      \
    extern "C" PG_EXPORT const pg_plugin* pg_plugin_entry(void);  \
    extern "C" PG_EXPORT const pg_plugin* pg_plugin_entry(void) { \
        try {                                                     \
            static const ::perfgate::sdk::detail::Tables tables{  \
                ::perfgate::sdk::detail::described(__VA_ARGS__)}; \
            return tables.get();                                  \
        } catch (...) {                                           \
            return nullptr;                                       \
        }                                                         \
    }                                                             \
    static_assert(true, "PERFGATE_PLUGIN(…);")
