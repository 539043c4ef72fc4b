// SPDX-License-Identifier: Apache-2.0
// The whole interpolation in one kernel: each element is read once at either frame and written
// once. Blocks are dealt out to the fields in proportion to their size, so a block does one kind of
// work.
#include "common/cuda.hpp"
#include "interpolate/fused.hpp"

namespace interpolate {
namespace {

constexpr int kThreads = 256;
constexpr int kPerThread = 4;  // elements: a rotation, or four that lie a block's width apart
constexpr int kPerBlock = kThreads * kPerThread;
// Where slerp is as good as a straight line, and its quotient of sines is not.
constexpr float kNearlyEqual = 0.9995f;

struct Job {
    const float* frames;
    float* result;
    unsigned elements;
    unsigned first_block;
    Finish finish;
};

struct Jobs {
    Job job[kFields];
};

struct Stretch {
    int left;
    float along;
};

// Every warp counts the frames that are not after `time`; at most 64.
__device__ __forceinline__ Stretch locate(const float* __restrict__ times, int frames, float time) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    int before = 0;
    for (int first = 0; first < frames; first += 32) {
        const bool counts = first + lane < frames && times[first + lane] <= time;
        before += __popc(__ballot_sync(0xffffffffu, counts));
    }
    const int left = min(max(before, 1), frames - 1) - 1;
    const float begin = times[left];
    return {left, (time - begin) / (times[left + 1] - begin)};
}

__device__ __forceinline__ float4 slerp(float4 a, float4 b, float along) {
    float cosine = a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
    const float sign = cosine < 0.0f ? -1.0f : 1.0f;
    cosine = fminf(cosine * sign, 1.0f);
    float from = 1.0f - along;
    float to = along;
    if (cosine <= kNearlyEqual) {
        const float half_turns = acosf(cosine) * 0.318309886f;
        const float inverse = rsqrtf((1.0f - cosine) * (1.0f + cosine));
        from = sinpif(from * half_turns) * inverse;
        to = sinpif(to * half_turns) * inverse;
    }
    to *= sign;
    const float4 q{from * a.x + to * b.x, from * a.y + to * b.y, from * a.z + to * b.z,
                   from * a.w + to * b.w};
    const float inverse = rsqrtf(q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w);
    return {q.x * inverse, q.y * inverse, q.z * inverse, q.w * inverse};
}

__device__ __forceinline__ float finish(Finish what, float x) {
    switch (what) {
        case Finish::kExp:
            return __expf(x);
        case Finish::kSigmoid:
            return 1.0f / (1.0f + __expf(-x));
        case Finish::kClamp:
            return __saturatef(x);
        case Finish::kNone:
        case Finish::kUnit:
            break;
    }
    return x;
}

__global__ void __launch_bounds__(kThreads)
    interpolate_all(const float* __restrict__ times, int frames, float time,
                    const __grid_constant__ Jobs jobs) {
    int mine = 0;
    while (mine + 1 < kFields && blockIdx.x >= jobs.job[mine + 1].first_block) ++mine;
    const Job& job = jobs.job[mine];
    const unsigned first = (blockIdx.x - job.first_block) * kPerBlock;

    const Stretch at = locate(times, frames, time);
    const float* __restrict__ a = job.frames + static_cast<size_t>(at.left) * job.elements;
    const float* __restrict__ b = a + job.elements;
    if (job.finish == Finish::kUnit) {
        const unsigned i = first + threadIdx.x * 4;
        if (i >= job.elements) return;
        *reinterpret_cast<float4*>(job.result + i) =
            slerp(*reinterpret_cast<const float4*>(a + i), *reinterpret_cast<const float4*>(b + i),
                  at.along);
        return;
    }
    float from[kPerThread];
    float to[kPerThread];
#pragma unroll
    for (int j = 0; j < kPerThread; ++j) {
        const unsigned i = first + threadIdx.x + j * kThreads;
        from[j] = i < job.elements ? a[i] : 0.0f;
        to[j] = i < job.elements ? b[i] : 0.0f;
    }
#pragma unroll
    for (int j = 0; j < kPerThread; ++j) {
        const unsigned i = first + threadIdx.x + j * kThreads;
        if (i >= job.elements) continue;
        job.result[i] = finish(job.finish, fmaf(to[j] - from[j], at.along, from[j]));
    }
}

}  // namespace

void interpolate_fused(const Problem& p, const Buffers& buffers, float time, cudaStream_t stream) {
    Jobs jobs{};
    unsigned blocks = 0;
    for (std::size_t f = 0; f < kFields; ++f) {
        const auto elements = static_cast<unsigned>(p.elements(kAllFields[f]));
        jobs.job[f] = {buffers.frames[f], buffers.result[f], elements, blocks,
                       kAllFields[f].finish};
        blocks += (elements + kPerBlock - 1) / kPerBlock;
    }
    interpolate_all<<<blocks, kThreads, 0, stream>>>(buffers.times, p.frames, time, jobs);
    common::check(cudaGetLastError(), "launching interpolate/fused");
}

}  // namespace interpolate
