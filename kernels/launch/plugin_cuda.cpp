// SPDX-License-Identifier: Apache-2.0
// The CUDA module: four ways to submit the same kernels.
#include <deque>
#include <vector>

#include "common/cuda.hpp"
#include "launch/catalogue.hpp"
#include "launch/kernels.hpp"
#include "launch/reference.hpp"

namespace launch {
namespace {

using common::check;
using common::Launch;

struct Buffers {
    explicit Buffers(const Problem& p)
        : problem(p), in(p.bytes(), "the input"), out(p.bytes(), "the output") {}

    void enqueue(int kernel, cudaStream_t stream) const {
        enqueue_step(problem, kernel, in.as<std::uint32_t>(), out.as<std::uint32_t>(), stream);
    }

    Problem problem;
    common::DeviceMemory in, out;
};

class Chain : public sdk::Instance {
  public:
    Chain(const Problem& problem, Launch (*prepare)(const Buffers&))
        : buffers_(problem), launch_(prepare(buffers_)) {}

    void fill(std::uint64_t seed) override {
        seed_ = seed;
        fill_input_device(buffers_.problem, common::stream_key(seed, kInput),
                          buffers_.in.as<std::uint32_t>());
        buffers_.out.poison();
        check(cudaStreamSynchronize(nullptr), "filling the input");
    }

    void launch(void* stream) override { launch_(static_cast<cudaStream_t>(stream)); }

    sdk::Verification verify() override {
        const CheckReport report =
            check_chain(buffers_.problem, seed_, buffers_.out.read<std::uint32_t>().data());
        return {report.passed, report.detail};
    }

    std::vector<sdk::Output> outputs() override {
        const common::DeviceMemory& out = buffers_.out;
        return {{"out", out.get(), out.bytes(), sizeof(std::uint32_t), PG_ELEMENT_UNSIGNED}};
    }

  private:
    Buffers buffers_;
    Launch launch_;
    std::uint64_t seed_ = 0;
};

void wait_for(cudaStream_t stream) {
    check(cudaStreamSynchronize(stream), "waiting for a kernel");
}

Launch prepare_stream(const Buffers& buffers) {
    return [&buffers](cudaStream_t stream) {
        for (int i = 0; i < buffers.problem.kernels; ++i) buffers.enqueue(i, stream);
    };
}

Launch prepare_stream_sync(const Buffers& buffers) {
    return [&buffers](cudaStream_t stream) {
        for (int i = 0; i < buffers.problem.kernels; ++i) {
            buffers.enqueue(i, stream);
            wait_for(stream);
        }
    };
}

Launch prepare_graph(const Buffers& buffers) {
    const auto graph = std::make_shared<common::Graph>(prepare_stream(buffers));
    return [graph](cudaStream_t stream) { graph->launch(stream); };
}

Launch prepare_graph_sync(const Buffers& buffers) {
    const auto graphs = std::make_shared<std::deque<common::Graph>>();
    for (int i = 0; i < buffers.problem.kernels; ++i) {
        graphs->emplace_back([&](cudaStream_t stream) { buffers.enqueue(i, stream); });
    }
    return [graphs](cudaStream_t stream) {
        for (const common::Graph& graph : *graphs) {
            graph.launch(stream);
            wait_for(stream);
        }
    };
}

Create create_with(Launch (*prepare)(const Buffers&)) {
    return [prepare](const sdk::Values& values) {
        return std::make_unique<Chain>(problem_of(values), prepare);
    };
}

sdk::Plugin plugin() {
    return catalogue([](std::string_view variant) -> Create {
        if (variant == "stream") return create_with(prepare_stream);
        if (variant == "stream_sync") return create_with(prepare_stream_sync);
        if (variant == "graph") return create_with(prepare_graph);
        if (variant == "graph_sync") return create_with(prepare_graph_sync);
        return {};
    });
}

}  // namespace
}  // namespace launch

PERFGATE_PLUGIN(launch::plugin);
