// perfgate compiles this file, then launches and checks the kernel as the suite says.

// Each block sums `in` from 16 elements per thread.
template <int threads>
__global__ void block_sums(const float* in, float* out) {
    __shared__ float sums[threads];
    const float* first = in + size_t(blockIdx.x) * threads * 16;
    float sum = 0;
    for (int i = 0; i < 16; ++i) sum += first[i * threads + threadIdx.x];
    sums[threadIdx.x] = sum;
    for (int half = threads / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
    }
    if (threadIdx.x == 0) out[blockIdx.x] = sums[0];
}

// What the result is checked against: the same sums by one thread of each block.
template <int threads>
__global__ void reference(const float* in, float* out) {
    if (threadIdx.x != 0) return;
    double sum = 0;
    for (int i = 0; i < threads * 16; ++i) sum += in[size_t(blockIdx.x) * threads * 16 + i];
    out[blockIdx.x] = float(sum);
}
