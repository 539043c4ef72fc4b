// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/cuda_backend.hpp"

#include <malloc.h>

#include "backend/cuda/counter_collection.hpp"
#include "backend/cuda/cuda_case.hpp"
#include "backend/cuda/environment.hpp"
#include "backend/cuda/nvml.hpp"
#include "backend/cuda/nvtx.hpp"
#include "backend/cuda/open_device.hpp"
#include "backend/cuda/readings.hpp"
#include "backend/cuda/source_instance.hpp"
#include "backend/host/host_backend.hpp"
#include "backend/plugin/loader.hpp"
#include "cupti/api.hpp"

namespace perfgate::backend::cuda {
namespace {

class CudaBackend : public measure::Backend {
  public:
    explicit CudaBackend(const measure::BackendOptions& options)
        : options_(options),
          device_(find_device(options.device), options.cupti),
          nvml_(Nvml::open(device_.facts().uuid, device_.facts().pci_bus_id, &nvml_problem_)),
          plugins_(options) {
        board_ = {nvml_.get(), nvml_problem_, {}};
        if (nvml_) board_.idle_w = nvml_->power_w();
    }

    measure::Capabilities capabilities() override {
        measure::Capabilities capabilities;
        capabilities.environment = describe_environment(device_, nvml_.get());
        capabilities.workloads = plugins_.catalogue();
        capabilities.libraries = plugins_.libraries();
        capabilities.timing = true;
        capabilities.kernel_records = device_.has_cupti();
        if (!capabilities.kernel_records) {
            capabilities.kernel_records_problem = device_.cupti_problem();
        }
        return capabilities;
    }

    model::BoardState board_state() override { return read_board(nvml_.get()); }

    model::Ceilings ceilings() override {
        model::Ceilings measured;
        guarded(device_.context(), [&] { measured = measure_ceilings(device_.stream()); });
        std::string problem;
        if (nvml_ != nullptr) measured.link_bytes_per_s = nvml_->link_bytes_per_s(&problem);
        if (measured.problem.empty() && !problem.empty()) measured.problem = "link: " + problem;
        return measured;
    }

    std::vector<measure::Diagnosis> diagnose() override {
        return cuda::diagnose(device_, nvml_.get(), nvml_problem_);
    }

    measure::CaseFacts facts(const model::CaseSpec& spec) override { return plugins_.facts(spec); }

    void keep_code() override { device_.keep_code(); }

    std::unique_ptr<measure::Case> open(const model::CaseSpec& spec) override {
        const model::VariantInfo& variant = plugins_.variant(spec);
        if (variant.target == model::Target::host) return host().open(spec);
        const int capability = device_.facts().cc_major * 10 + device_.facts().cc_minor;
        if (variant.min_compute_capability > capability) {
            throw util::Error("variant '{}' needs compute capability {}.{}; {} has {}.{}",
                              spec.variant, variant.min_compute_capability / 10,
                              variant.min_compute_capability % 10, device_.facts().name,
                              device_.facts().cc_major, device_.facts().cc_minor);
        }
        std::unique_ptr<measure::Case> result;
        guarded(device_.context(),
                [&] { result = std::make_unique<CudaCase>(device_, board_, plugins_.open(spec)); });
        return result;
    }

    std::unique_ptr<measure::Case> open_source(const model::SourceKernel& kernel) override {
        std::unique_ptr<measure::Case> result;
        guarded(device_.context(), [&] {
            result = std::make_unique<CudaCase>(device_, board_,
                                                std::make_unique<SourceInstance>(device_, kernel));
        });
        return result;
    }

    measure::HostCode host_code(const model::CaseSpec& spec) override {
        return plugins_.host_code(spec);
    }

    measure::Reading read(const measure::ReadingRequest& request) override {
        const auto open = [&]() -> std::unique_ptr<Instance> {
            if (request.source == nullptr) return plugins_.open(request.spec);
            return std::make_unique<SourceInstance>(device_, *request.source);
        };
        for (const auto& [name, read] : known_readings) {
            if (name != request.name) continue;
            return read(
                {device_, board_, dynamic_cast<CudaCase*>(request.opened), open, request.seed});
        }
        return Backend::read(request);
    }

    model::CaseCode machine_code(measure::Case& opened, model::Cache cache) override {
        return cuda::machine_code(device_, dynamic_cast<CudaCase&>(opened), cache);
    }

    std::uint64_t free_memory() override {
        std::size_t free = 0;
        std::size_t total = 0;
        guarded(device_.context(), [&] {
            device_.flush();  // before the query: a cold case needs this memory too
            check(driver().cuMemGetInfo(&free, &total), "cannot ask for the device's free memory");
        });
        return free;
    }

    std::string counters_problem() override { return device_.counters_problem(); }

    bool has_counter(const std::string& counter) override {
        const auto [known, added] = has_counter_.try_emplace(counter, false);
        if (added) known->second = device_.profiler().host().metric_exists(counter);
        return known->second;
    }

    std::vector<measure::CounterValues> collect(std::span<const measure::CounterCase> cases,
                                                const std::vector<std::string>& counters) override {
        return collect_counters(device_, cases, counters);
    }

    void begin_range(const std::string& name) override {
        ranges_.push_back(std::make_unique<NvtxRange>(name));
    }

    void end_range() override {
        if (!ranges_.empty()) ranges_.pop_back();
    }

  private:
    // Host variants do not use the device, but belong to suites that run here.
    measure::Backend& host() {
        if (!host_) host_ = make_host_backend(options_);
        return *host_;
    }

    measure::BackendOptions options_;
    OpenDevice device_;
    std::string nvml_problem_;
    std::unique_ptr<Nvml> nvml_;
    Board board_;
    PluginSet plugins_;
    std::unique_ptr<measure::Backend> host_;
    std::map<std::string, bool> has_counter_;
    std::vector<std::unique_ptr<NvtxRange>> ranges_;
};

}  // namespace

std::vector<measure::ListedDevice> list_devices(const std::string& wanted) {
    std::vector<measure::ListedDevice> devices;
    for (const int ordinal : find_devices(wanted)) {
        const DeviceFacts facts = device_facts(ordinal);
        devices.push_back({std::to_string(ordinal), describe_device(facts, ""), facts.uuid});
    }
    return devices;
}

namespace {

/// Verification copies outputs to the host, case after case, and frees them. The C library would
/// return that memory and get new pages for the next case; touching these takes longer than the
/// copy.
void keep_host_memory() {
    mallopt(M_ARENA_MAX, 1);        // one heap for all threads
    mallopt(M_MMAP_MAX, 0);         // which has the large blocks, too
    mallopt(M_TRIM_THRESHOLD, -1);  // and is not returned
}

}  // namespace

bool load_plugins(const measure::BackendOptions& options) {
    // In the order of make_cuda_backend: a script may bring another CUPTI, or hide devices.
    keep_host_memory();
    driver();
    try {
        if (options.cupti) cupti::own();
    } catch (const util::Error&) {
        // Opening the device says why there is none.
    }
    make_host_backend(options);
    return has_context();
}

std::unique_ptr<measure::Backend> make_cuda_backend(const measure::BackendOptions& options) {
    keep_host_memory();
    return std::make_unique<CudaBackend>(options);
}

}  // namespace perfgate::backend::cuda
