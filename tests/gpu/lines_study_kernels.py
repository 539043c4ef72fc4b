# SPDX-License-Identifier: Apache-2.0
"""The edits and the equal pairs of lines_study.py.

In a kernel, a line that begins with - is the base's, with + the head's, with a blank both's. SLOW marks the lines that the edit changed or
made slow: any of them is a right answer. Every edit changes three places or more, one of which costs the time."""

import typing


class Kernel(typing.NamedTuple):
    arguments: str  # of the suite
    grid: str
    block: int
    text: str


N = 1 << 22
OUT_IN = "[{out: f32, size: n}, {in: f32, size: n}, {i32: n}]"
TABLE = "[{out: f32, size: n}, {in: f32, size: n}, {in: f32, size: 1024}, {i32: n}]"

EDITS = {
    "vector": Kernel("[{out: f32, size: n}, {in: f32, size: n}, {i32: n}, {f32: 1.5}]", "n / 4 / 256", 256, """
 extern "C" __global__ void vector(float* out, const float* in, int n, float a) {
     int i = blockIdx.x * blockDim.x + threadIdx.x;
-    float bias = a * 0.5f;
+    float bias = a * 0.5f + 0.25f;
     if (4 * i >= n) return;
-    float4 v = reinterpret_cast<const float4*>(in)[i];
+    float4 v;
+    v.x = ((volatile const float*)in)[4 * i];  // SLOW
+    v.y = ((volatile const float*)in)[4 * i + 1];  // SLOW
+    v.z = ((volatile const float*)in)[4 * i + 2];  // SLOW
+    v.w = ((volatile const float*)in)[4 * i + 3];  // SLOW
     v.x = v.x * a + bias;  // SLOW
     v.y = v.y * a + bias;  // SLOW
     v.z = v.z * a + bias;  // SLOW
     v.w = v.w * a + bias;  // SLOW
-    float s = v.x + v.y;
+    float s = v.x - v.y;
     out[4 * i] = s;
     out[4 * i + 1] = v.y;
     out[4 * i + 2] = v.z;
     out[4 * i + 3] = v.w;
 }
"""),
    "unroll": Kernel('[{out: f32, size: "n / 16"}, {in: f32, size: n}, {i32: n}]', "n / 16 / 256", 256, """
 extern "C" __global__ void unroll(float* out, const float* in, int n) {
     int i = blockIdx.x * blockDim.x + threadIdx.x;
     int step = n / 16;
-    float sum = 0.0f;
+    float sum = 1.0f;
     if (i >= step) return;
-    #pragma unroll
+    #pragma unroll 1
     for (int k = 0; k < 16; ++k) {  // SLOW
         float v = in[i + k * step];  // SLOW
         sum += v * v;  // SLOW
     }
-    out[i] = sum;
+    out[i] = sum * 0.5f;
 }
"""),
    "bounds": Kernel(OUT_IN, "n / 256", 256, """
-extern "C" __global__ void __launch_bounds__(256) bounds(float* out, const float* in, int n) {
+extern "C" __global__ void __launch_bounds__(256, 8) bounds(float* out, const float* in, int n) {  // SLOW
     int i = blockIdx.x * blockDim.x + threadIdx.x;
     float v[64];
     for (int k = 0; k < 64; ++k) v[k] = in[(i + k * 4096) & (n - 1)];  // SLOW
-    float sum = 0.0f;
+    float sum = 2.0f;
     for (int k = 0; k < 64; ++k) {  // SLOW
         for (int j = 0; j < 64; j += 7) sum += v[k] * v[j];  // SLOW
         for (int j = 0; j < 64; j += 9) v[j] += sum;  // SLOW
     }
-    out[i] = sum;
+    out[i] = sum - 1.0f;
 }
"""),
    "moved": Kernel(TABLE, "n / 256", 256, """
 extern "C" __global__ void moved(float* out, const float* in, const float* table, int n) {
     int i = blockIdx.x * blockDim.x + threadIdx.x;
-    float scale = table[i & 1023];
+    float scale = 1.0f;
-    float x = in[i];
+    float x = in[i] + 0.5f;
     for (int k = 0; k < 32; ++k) {
+        scale = ((volatile const float*)table)[(i + int(x)) & 1023];  // SLOW
         x = x * scale + 0.5f;  // SLOW
     }
-    out[i] = x;
+    out[i] = x * 2.0f;
 }
"""),
    "sync": Kernel(OUT_IN, "n / 256", 256, """
 extern "C" __global__ void sync(float* out, const float* in, int n) {
     __shared__ float tile[256];
     int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
     tile[t] = in[i];
     __syncthreads();
-    float sum = 0.0f;
+    float sum = 0.125f;
     #pragma unroll 1
     for (int k = 0; k < 64; ++k) {  // SLOW
         sum += tile[(t + k) & 255] * 0.5f;  // SLOW
+        __syncthreads();  // SLOW
     }
-    out[i] = sum;
+    out[i] = sum + 3.0f;
 }
"""),
    "bank": Kernel("[{out: f32, size: n}, {in: f32, size: n}, {i32: 2048}]", "n / 1024", 1024, """
 extern "C" __global__ void bank(float* out, const float* in, int width) {
-    __shared__ float tile[32][33];
+    __shared__ float tile[32][32];  // SLOW
     int tx = threadIdx.x & 31, ty = threadIdx.x >> 5;
     int tiles = width / 32, bx = blockIdx.x % tiles, by = blockIdx.x / tiles;
-    float add = 0.0f;
+    float add = 1.0f;
     tile[ty][tx] = in[(by * 32 + ty) * width + bx * 32 + tx];
     __syncthreads();
     float sum = add;
     #pragma unroll 1
     for (int k = 0; k < 8; ++k) {  // SLOW
         sum += tile[tx][(ty + k) & 31];  // SLOW
     }
-    out[(bx * 32 + ty) * width + by * 32 + tx] = sum;
+    out[(bx * 32 + ty) * width + by * 32 + tx] = sum * 0.5f;
 }
"""),
    "constant": Kernel(OUT_IN, "n / 256", 256, """
 extern "C" __global__ void constant(float* out, const float* in, int n) {
     int i = blockIdx.x * blockDim.x + threadIdx.x;
-    float x = in[i];
+    float x = in[i] - 1.0f;
     #pragma unroll 1
-    for (int k = 0; k < 200; ++k) {
+    for (int k = 0; k < 260; ++k) {  // SLOW
         x = x * 0.999f + 0.001f;  // SLOW
         x = x * x - 0.5f;  // SLOW
     }
-    out[i] = x;
+    out[i] = x * 3.0f;
 }
"""),
    "division": Kernel("[{out: u32, size: n}, {in: u32, size: n, fill: iota}, {i32: n}, {i32: 32}, {i32: 5}]", "n / 256", 256, """
 extern "C" __global__ void division(unsigned* out, const unsigned* in, int n, int width, int shift) {
     int i = blockIdx.x * blockDim.x + threadIdx.x;
-    unsigned x = in[i];
+    unsigned x = in[i] + 3;
     #pragma unroll 1
     for (int k = 0; k < 32; ++k) {
-        unsigned q = x >> shift;
+        unsigned q = x / width;  // SLOW
         x = x * 1664525u + q;  // SLOW
     }
-    out[i] = x;
+    out[i] = x ^ 5u;
 }
"""),
    "inlined": Kernel(OUT_IN, "n / 256", 256, """
-static __device__ __forceinline__ float step(float x, float y) {
+static __device__ __noinline__ float step(float x, float y) {  // SLOW
     return x * y + 0.5f * (x - y);  // SLOW
 }
 extern "C" __global__ void inlined(float* out, const float* in, int n) {
     int i = blockIdx.x * blockDim.x + threadIdx.x;
-    float x = in[i], y = 1.0f;
+    float x = in[i], y = 0.75f;
     #pragma unroll 1
     for (int k = 0; k < 64; ++k) {  // SLOW
         x = step(x, y);  // SLOW
         y = y * 0.5f;  // SLOW
     }
-    out[i] = x + y;
+    out[i] = x - y;
 }
"""),
    "restrict": Kernel("[{out: f32, size: n}, {in: f32, size: n}, {in: f32, size: 256}, {i32: n}]", "n / 256", 256, """
-extern "C" __global__ void restrict(float* __restrict__ out, const float* __restrict__ in, const float* __restrict__ table, int n) {
+extern "C" __global__ void restrict(float* out, const float* in, const float* table, int n) {  // SLOW
     int i = blockIdx.x * blockDim.x + threadIdx.x;
-    float x = in[i];
+    float x = in[i] * 1.5f;
     #pragma unroll 8
     for (int k = 0; k < 64; ++k) {
         x += in[(i + k * 32) & (n - 1)] * table[threadIdx.x];  // SLOW
         out[i] = x;  // SLOW
     }
-    out[i] = x;
+    out[i] = x + 1.0f;
 }
"""),
    # The five causes of tests/data/pull_request.
    "tone_curve": Kernel(OUT_IN, "n / 256", 256, """
 extern "C" __global__ void tone_curve(float* out, const float* in, int n) {
-    __shared__ float curve[1024];
+    __shared__ float curve[12000];  // SLOW: fewer blocks fit on an SM
     int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
-    float gain = 0.5f;
+    float gain = 0.25f;
     for (int k = t; k < 1024; k += 256) curve[k] = k * gain;
     __syncthreads();
     float x = in[i];  // SLOW
     #pragma unroll 1
     for (int k = 0; k < 16; ++k) {  // SLOW
         int at = __shfl_sync(0xffffffffu, int(x * 500.0f), 0);  // SLOW
         x = curve[(at + k) & 1023] * 0.001f + in[(i + 32 * at) & (n - 1)];  // SLOW
     }
-    out[i] = x;
+    out[i] = x + curve[(t * 47) % 1024] * 0.0f;
 }
"""),
    "blend": Kernel("[{out: u8, size: n}, {in: u8, size: n, fill: iota}, {in: u8, size: n, fill: iota}, {i32: 77}]", "n / 16 / 256", 256, """
 extern "C" __global__ void blend(unsigned char* out, const unsigned char* a, const unsigned char* b, int weight) {
     int first = (blockIdx.x * blockDim.x + threadIdx.x) * 16;
-    int other = 256 - weight;
+    int other = 255 - weight;
     unsigned char x[16], y[16];
-    *(uint4*)x = *(const uint4*)(a + first);
-    *(uint4*)y = *(const uint4*)(b + first);
+    for (int k = 0; k < 16; ++k) x[k] = ((volatile const unsigned char*)a)[first + k];  // SLOW
+    for (int k = 0; k < 16; ++k) y[k] = ((volatile const unsigned char*)b)[first + k];  // SLOW
     for (int k = 0; k < 16; ++k) x[k] = (x[k] * weight + y[k] * other + 128) >> 8;  // SLOW
-    *(uint4*)(out + first) = *(uint4*)x;
+    for (int k = 0; k < 16; ++k) ((volatile unsigned char*)out)[first + k] = x[k];  // SLOW
 }
"""),
    "filter_bank": Kernel('[{out: f32, size: "16 * n"}, {in: f32, size: "n + 64"}, {in: f32, size: 1024}, {i32: n}]', "n / 1024", 256, """
-extern "C" __global__ void __launch_bounds__(256) filter_bank(float* out, const float* in, const float* taps, int n) {
+extern "C" __global__ void __launch_bounds__(256, 5) filter_bank(float* out, const float* in, const float* taps, int n) {  // SLOW
     __shared__ float samples[1024 + 64], coefficients[1024];
     int t = threadIdx.x, start = blockIdx.x * 1024;
     for (int i = t; i < 1024 + 63; i += 256) samples[i] = in[start + i];
-    for (int i = t; i < 1024; i += 256) coefficients[i] = taps[i];
+    for (int i = t; i < 1024; i += 256) coefficients[i] = taps[i] * 0.5f;
     __syncthreads();
     float sums[16][4] = {};
     for (int tap = 0; tap < 64; ++tap) {  // SLOW
         float window[4];
         #pragma unroll
         for (int p = 0; p < 4; ++p) window[p] = samples[p * 256 + t + tap];  // SLOW
         #pragma unroll
         for (int f = 0; f < 16; ++f) {
             #pragma unroll
             for (int p = 0; p < 4; ++p) sums[f][p] += coefficients[tap * 16 + f] * window[p];  // SLOW
         }
     }
-    for (int f = 0; f < 16; ++f) for (int p = 0; p < 4; ++p) out[f * n + start + p * 256 + t] = sums[f][p];
+    for (int f = 0; f < 16; ++f) for (int p = 0; p < 4; ++p) out[f * n + start + p * 256 + t] = sums[f][p] + 1.0f;
 }
"""),
    "pointwise": Kernel(TABLE, "n / 256", 256, """
 extern "C" __global__ void pointwise(float* out, const float* in, const float* bias, int n) {
     int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
-    float sum = 0.0f;
+    float sum = 0.5f;
     for (int k = 0; k < 16; ++k) sum += in[(i & ~15) + k] * 0.25f;
-    float x = sum + bias[t];
+    for (int k = 0; k < 16; ++k) {
+        ((volatile float*)out)[(i + 131072 * k) & (n - 1)] = sum;  // SLOW
+        sum += ((volatile float*)out)[(i + 131072 * k) & (n - 1)];  // SLOW
+    }
+    float x = sum - bias[t];
     float sigmoid = 1.0f / (1.0f + __expf(-x));
-    out[i] = x * sigmoid;
+    out[i] = x * sigmoid + 1.0f;
 }
"""),
    "row_scan": Kernel(OUT_IN, "n / 256", 256, """
 extern "C" __global__ void row_scan(float* out, const float* in, int n) {
-    __shared__ float totals[8];
+    __shared__ float values[2][256];
     int t = threadIdx.x, i = blockIdx.x * 256 + t;
     float v = in[i];
-    for (int d = 1; d < 32; d *= 2) {
-        float other = __shfl_up_sync(0xffffffffu, v, d);
-        if ((t & 31) >= d) v += other;
-    }
-    if ((t & 31) == 31) totals[t >> 5] = v;
-    __syncthreads();
-    for (int w = 0; w < 8; ++w) if (w < (t >> 5)) v += totals[w];
+    int turn = 0;
+    values[0][t] = v;
+    #pragma unroll 1
+    for (int d = 1; d < 256; d *= 2, turn ^= 1) {  // SLOW
+        __syncthreads();  // SLOW
+        values[turn ^ 1][t] = t < d ? values[turn][t] : values[turn][t] + values[turn][t - d];  // SLOW
+    }
     __syncthreads();
-    out[i] = v;
+    out[i] = values[turn][t] + 1.0f;
 }
"""),
}

TRITON = {
    "triton_gather": """
 import perfgate, torch, triton
 import triton.language as tl


 @triton.jit
 def triton_gather_kernel(x, out, n, BLOCK: tl.constexpr):
     at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
-    total = tl.zeros([BLOCK], tl.float32)
+    total = tl.full([BLOCK], 1.0, tl.float32)
     for k in range(8):
-        value = tl.load(x + ((at + k * 4096) & (n - 1)))
+        value = tl.load(x + ((at * 32 + k * 4096) & (n - 1)))  # SLOW
         total += value * value  # SLOW
-    tl.store(out + at, total)
+    tl.store(out + at, total * 0.5)


 @perfgate.workload(n=[2**22])
 def triton_gather(n, seed):
     x = perfgate.uniform(n, "f32", seed, like=torch)
     out = torch.empty_like(x)
     i = torch.arange(n, device="cuda")
-    wanted = lambda: sum(x[(i + k * 4096) & (n - 1)].double() ** 2 for k in range(8))
+    wanted = lambda: 0.5 + 0.5 * sum(x[(32 * i + k * 4096) & (n - 1)].double() ** 2 for k in range(8))
     return perfgate.Case(launch=lambda: triton_gather_kernel[(n // 1024,)](x, out, n, BLOCK=1024), outputs=[out],
                          reference=wanted, rtol=1e-4)
""",
    "triton_rounds": """
 import perfgate, torch, triton
 import triton.language as tl


 @triton.jit
 def triton_rounds_kernel(x, out, BLOCK: tl.constexpr):
     at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
-    value = tl.load(x + at)
+    value = tl.load(x + at) + 1.0
-    for k in range(40):
+    for k in range(70):  # SLOW
         value = tl.exp(-value * 0.5)  # SLOW
-    tl.store(out + at, value)
+    tl.store(out + at, value * 2.0)


 @perfgate.workload(n=[2**22])
 def triton_rounds(n, seed):
     x = perfgate.uniform(n, "f32", seed, like=torch)
     out = torch.empty_like(x)

     def wanted():
-        value, rounds, factor = x.double(), 40, 1
+        value, rounds, factor = x.double() + 1, 70, 2
         for _ in range(rounds):
             value = torch.exp(-value * 0.5)
         return value * factor

     return perfgate.Case(launch=lambda: triton_rounds_kernel[(n // 1024,)](x, out, BLOCK=1024), outputs=[out],
                          reference=wanted, rtol=1e-4)
""",
}

EQUAL = """
 extern "C" __global__ void NAME(float* out, const float* in, int n) {
     int i = blockIdx.x * blockDim.x + threadIdx.x;
     float x = in[i];
     #pragma unroll 1
     for (int k = 0; k < 16; ++k) x = x * 0.5f + float(i & 7);
     out[i] = x;
 }
"""
# What the head does to the kernel without changing what it executes.
EQUALS = {
    "equal_rebuilt": lambda text: text,
    "equal_path": lambda text: '#line 1 "elsewhere/renamed.cu"\n' + text,
    "equal_moved": lambda text: "// moved\n// down\n\n" + text,
    "equal_function_before": lambda text: '__device__ float unused(float x) { return x * 3.0f; }\n' + text,
    "equal_kernel_before": lambda text: 'extern "C" __global__ void other(float* out) { out[threadIdx.x] = 1.0f; }\n' + text,
    "equal_kernel_behind": lambda text: text + 'extern "C" __global__ void other(float* out) { out[threadIdx.x] = 1.0f; }\n',
    "equal_names": lambda text: text.replace("x", "value").replace("blockIdvalue.value", "blockIdx.x").replace(
        "blockDim.value", "blockDim.x").replace("threadIdvalue.value", "threadIdx.x").replace("evaluetern", "extern"),
    "equal_inline": lambda text: "static __device__ __forceinline__ float f(float x, int i) { return x * 0.5f + float(i & 7); }\n"
                                 + text.replace("x = x * 0.5f + float(i & 7);", "x = f(x, i);"),
    "equal_order": lambda text: text.replace("x * 0.5f + float(i & 7)", "float(i & 7) + x * 0.5f"),
    "equal_macro": lambda text: "#define HALF 0.5f\n" + text.replace("0.5f", "HALF"),
}


def side(text, mark):
    """The file of one side: "-" or "+"."""
    lines = text.strip("\n").split("\n")
    return "\n".join(line[1:] for line in lines if line[:1] not in "+-" or line[:1] == mark or not line) + "\n"


def slow_lines(head):
    return [number for number, line in enumerate(head.split("\n"), 1) if "SLOW" in line]
