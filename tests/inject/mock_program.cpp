// SPDX-License-Identifier: Apache-2.0
// A program with CUDA, as the injection library meets it: does what its words say, in order.
//
//     kernels N NAME, grid BLOCKS (of the kernels from here on), copy BYTES, memset BYTES, graph
//     NODES, capture N (or N =NAME), fail N, module FILE, unload, push NAME, pop, range NAME (start
//     and end), sync, alloc BYTES, free (the latest), create BYTES (cuMemCreate), query, destroy,
//     sleep MS, fork (the child makes calls and exits), forkexec WORD (itself, with that word),
//     threads N, leave (_exit), crash, terminate (SIGTERM to itself), context N (of the launches
//     from here on), node NAME (of a graph, without capture), endcapture, forkbusy (forks while
//     ranges come and go), handler (its own for SIGTERM), start and stop (the profiler, by the
//     driver), cudastart and cudastop (by the runtime), forever (kernels, and their number on
//     stdout), noinit (first: without CUDA), newcontext, samples N (waits for so many), allreduce
//     BYTES (as NCCL's ranges have it), oddschemas (of NVTX payloads), forkschemas (forks while
//     some are registered)
#include <cuda.h>
#include <cudaProfiler.h>
#include <dlfcn.h>
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtPayload.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

extern "C" int cudaProfilerStart();
extern "C" int cudaProfilerStop();
extern "C" void mock_create_context(CUcontext);

namespace {

unsigned int blocks = 8;

void kernels(int count, const char* name) {
    for (int i = 0; i < count; ++i) {
        cuLaunchKernel(reinterpret_cast<CUfunction>(const_cast<char*>(name)), blocks, 1, 1, 128, 1,
                       1, 0, nullptr, nullptr, nullptr);
    }
}

/// As NCCL 2.24 and newer: the payloads of its ranges say what is communicated.
struct Joins {
    std::uint64_t communicator;
    int ranks, rank;
};
struct Reduces {
    std::uint64_t communicator;
    std::size_t bytes;
    int operation;
};

nvtxPayloadSchemaEntry_t entry(std::uint64_t type, const char* name, std::size_t offset) {
    nvtxPayloadSchemaEntry_t made{};
    made.type = type;
    made.name = name;
    made.offset = offset;
    return made;
}

nvtxPayloadSchemaAttr_t schema_of(const std::vector<nvtxPayloadSchemaEntry_t>& entries) {
    nvtxPayloadSchemaAttr_t schema{};
    schema.fieldMask = 1 << 2 | 1 << 4 | 1 << 5 | 1 << 6;  // without an id
    schema.type = 1;
    schema.entries = entries.data();
    schema.numEntries = entries.size();
    return schema;
}

template <class Payload>
void push_with(nvtxDomainHandle_t domain, const char* name, const Payload& payload,
               const std::vector<nvtxPayloadSchemaEntry_t>& entries) {
    nvtxPayloadSchemaAttr_t schema = schema_of(entries);
    schema.payloadStaticSize = sizeof(payload);
    const nvtxPayloadData_t data{nvtxPayloadSchemaRegister(domain, &schema), sizeof(payload),
                                 &payload};
    nvtxEventAttributes_t event{};
    event.version = NVTX_VERSION;
    event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    event.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
    event.message.registered = nvtxDomainRegisterStringA(domain, name);
    event.payloadType = static_cast<std::int32_t>(NVTX_PAYLOAD_TYPE_EXT);
    event.reserved0 = 1;
    event.payload.ullValue = reinterpret_cast<std::uintptr_t>(&data);
    nvtxDomainRangePushEx(domain, &event);
}

void all_reduce(std::size_t bytes) {
    static const nvtxDomainHandle_t domain = nvtxDomainCreateA("NCCL");
    push_with(domain, "ncclCommInitRank", Joins{0xabc, 4, 1},
              {entry(NVTX_PAYLOAD_ENTRY_TYPE_UINT64, "NCCL communicator ID", 0),
               entry(NVTX_PAYLOAD_ENTRY_TYPE_INT, "No. of ranks", offsetof(Joins, ranks)),
               entry(NVTX_PAYLOAD_ENTRY_TYPE_INT, "Rank", offsetof(Joins, rank))});
    nvtxDomainRangePop(domain);
    push_with(
        domain, "ncclAllReduce", Reduces{0xabc, bytes, 0},
        {entry(NVTX_PAYLOAD_ENTRY_TYPE_UINT64, "NCCL communicator ID", 0),
         entry(NVTX_PAYLOAD_ENTRY_TYPE_SIZE, "Message size [bytes]", offsetof(Reduces, bytes)),
         // A field that is not in the payload.
         entry(NVTX_PAYLOAD_ENTRY_TYPE_INT, "Rank", sizeof(Reduces))});
    kernels(1, "ncclDevKernel_AllReduce");
    nvtxDomainRangePop(domain);
}

void register_schema() {
    static const nvtxDomainHandle_t domain = nvtxDomainCreateA("NCCL");
    static const std::vector entries{
        entry(NVTX_PAYLOAD_ENTRY_TYPE_UINT64, "NCCL communicator ID", 0)};
    const nvtxPayloadSchemaAttr_t schema = schema_of(entries);
    nvtxPayloadSchemaRegister(domain, &schema);
}

/// Schemas that do not declare their entries, which are not set, or declare far too many.
void odd_schemas() {
    const nvtxDomainHandle_t domain = nvtxDomainCreateA("odd");
    for (const std::uint64_t mask : {0, 1 << 4, 1 << 5}) {
        nvtxPayloadSchemaAttr_t schema{};
        schema.fieldMask = mask | 1 << 2;
        schema.entries = reinterpret_cast<const nvtxPayloadSchemaEntry_t*>(std::uintptr_t{64});
        schema.numEntries = 3;
        nvtxPayloadSchemaRegister(domain, &schema);
    }
    const std::vector<nvtxPayloadSchemaEntry_t> none(1);
    nvtxPayloadSchemaAttr_t schema = schema_of(none);
    schema.numEntries = SIZE_MAX / sizeof(none[0]);
    nvtxPayloadSchemaRegister(domain, &schema);
}

/// Until so many samples of the GPU were read.
void wait_for_samples(std::uint64_t count) {
    void* cupti = dlopen("libcupti.so.13", RTLD_NOW | RTLD_NOLOAD);
    auto* read = reinterpret_cast<std::uint64_t (*)()>(dlsym(cupti, "mock_samples_read"));
    while (read != nullptr && read() < count) usleep(1000);
}

void wait_for(pid_t child) {
    int status = 0;
    waitpid(child, &status, 0);
    if (status != 0) std::exit(9);
}

/// Children that do what another thread does meanwhile. In a child, what that thread had locked
/// would stay so.
void fork_while(void (*act)()) {
    std::atomic<bool> over{false};
    std::thread other([&] {
        while (!over) act();
    });
    for (int i = 0; i < 200; ++i) {
        const pid_t child = fork();
        if (child == 0) {
            alarm(5);
            act();
            _exit(0);
        }
        int status = 0;
        waitpid(child, &status, 0);
        if (status != 0) _exit(9);
    }
    over = true;
    other.join();
}

}  // namespace

int main(int argc, char** argv) {
    int next = 1;
    std::vector<CUdeviceptr> allocated;
    const auto word = [&] { return next < argc ? argv[next++] : const_cast<char*>(""); };
    const auto number = [&] { return std::atoi(word()); };
    if (argc > 1 && std::string(argv[1]) == "noinit") {
        ++next;
    } else {
        cuInit(0);
    }
    while (next < argc) {
        const std::string what = word();
        if (what == "kernels") {
            const int count = number();
            kernels(count, word());
        } else if (what == "grid") {
            blocks = static_cast<unsigned int>(number());
        } else if (what == "init") {
            cuInit(0);
        } else if (what == "copy") {
            cuMemcpyHtoDAsync(0, nullptr, static_cast<std::size_t>(number()), nullptr);
        } else if (what == "memset") {
            cuMemsetD8Async(0, 0, static_cast<std::size_t>(number()), nullptr);
        } else if (what == "graph") {
            cuGraphLaunch(reinterpret_cast<CUgraphExec>(static_cast<std::uintptr_t>(number())),
                          nullptr);
        } else if (what == "capture") {
            cuStreamBeginCapture(nullptr, CU_STREAM_CAPTURE_MODE_GLOBAL);
            const int count = number();
            kernels(count, next < argc && argv[next][0] == '=' ? word() + 1 : "captured");
            CUgraph graph = nullptr;
            cuStreamEndCapture(nullptr, &graph);
        } else if (what == "endcapture") {
            CUgraph graph = nullptr;
            cuStreamEndCapture(nullptr, &graph);
        } else if (what == "node") {
            CUDA_KERNEL_NODE_PARAMS kernel{};
            kernel.func = reinterpret_cast<CUfunction>(word());
            CUgraphNode node = nullptr;
            cuGraphAddKernelNode(&node, nullptr, nullptr, 0, &kernel);
        } else if (what == "context") {
            cuCtxSetCurrent(reinterpret_cast<CUcontext>(static_cast<std::uintptr_t>(number())));
        } else if (what == "fail") {
            for (int i = number(); i > 0; --i) {
                cuLaunchKernel(nullptr, 0, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr);
            }
        } else if (what == "module") {
            std::ifstream file(word(), std::ios::binary);
            const std::string image = (std::stringstream() << file.rdbuf()).str();
            cuModuleLoadDataEx(nullptr, image.data(), static_cast<unsigned int>(image.size()),
                               nullptr, nullptr);
        } else if (what == "unload") {
            cuModuleUnload(nullptr);
        } else if (what == "push") {
            nvtxRangePushA(word());
        } else if (what == "pop") {
            nvtxRangePop();
        } else if (what == "range") {
            const nvtxRangeId_t id = nvtxRangeStartA(word());
            kernels(1, "in_range");
            nvtxRangeEnd(id);
        } else if (what == "sync") {
            cuCtxSynchronize();
        } else if (what == "alloc") {
            cuMemAlloc(&allocated.emplace_back(), static_cast<std::size_t>(number()));
        } else if (what == "free") {
            cuMemFree(allocated.back());
            allocated.pop_back();
        } else if (what == "create") {
            CUmemGenericAllocationHandle handle = 0;
            const CUmemAllocationProp properties{};
            cuMemCreate(&handle, static_cast<std::size_t>(number()), &properties, 0);
        } else if (what == "allreduce") {
            all_reduce(static_cast<std::size_t>(number()));
        } else if (what == "newcontext") {
            mock_create_context(reinterpret_cast<CUcontext>(1));
        } else if (what == "samples") {
            wait_for_samples(static_cast<std::uint64_t>(number()));
        } else if (what == "query") {
            cuEventQuery(nullptr);
        } else if (what == "start") {
            cuProfilerStart();
        } else if (what == "stop") {
            cuProfilerStop();
        } else if (what == "cudastart") {
            cudaProfilerStart();
        } else if (what == "cudastop") {
            cudaProfilerStop();
        } else if (what == "destroy") {
            cuCtxDestroy(nullptr);
        } else if (what == "sleep") {
            usleep(static_cast<useconds_t>(number()) * 1000);
        } else if (what == "fork") {
            const pid_t child = fork();
            if (child == 0) {
                kernels(3, "in_child");
                std::exit(0);
            }
            wait_for(child);
        } else if (what == "forkbusy") {
            fork_while([] {
                nvtxRangePushA("busy");
                nvtxRangePop();
            });
        } else if (what == "forkschemas") {
            register_schema();
            fork_while(&register_schema);
        } else if (what == "oddschemas") {
            odd_schemas();
        } else if (what == "forkexec") {
            char* verb = word();
            const pid_t child = fork();
            if (child == 0) {
                const bool alone = std::string(verb) == "noinit";
                execl("/proc/self/exe", argv[0], verb, alone ? nullptr : "5", "of_child", nullptr);
                _exit(8);
            }
            wait_for(child);
        } else if (what == "threads") {
            std::vector<std::thread> threads;
            const int count = number();
            for (int i = 0; i < count; ++i) {
                threads.emplace_back([] {
                    nvtxRangePushA("thread");
                    kernels(1000, "threaded");
                    nvtxRangePop();
                });
            }
            for (std::thread& thread : threads) thread.join();
        } else if (what == "leave") {
            _exit(0);
        } else if (what == "crash") {
            std::raise(SIGSEGV);
        } else if (what == "terminate") {
            std::raise(SIGTERM);
            sleep(30);
        } else if (what == "handler") {
            std::signal(SIGTERM, [](int) { _exit(7); });
        } else if (what == "forever") {
            for (long done = 0;; done += 100) {
                kernels(100, "again");
                std::printf("%ld\n", done);
                std::fflush(stdout);
                usleep(200);
            }
        } else {
            return 64;
        }
    }
    return 0;
}
