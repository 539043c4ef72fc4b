// SPDX-License-Identifier: Apache-2.0
// Runs to make reports of: a recorded one (one process of each case, on an H100) as five processes,
// and what has become of it.
import fs from "node:fs";
import path from "node:path";

const recorded = "tests/data/aa/nvidia-h100-80gb-hbm3/gemm-1.run.json";

export function recordedRun(source) {
  const run = JSON.parse(fs.readFileSync(path.join(source, recorded), "utf8"));
  for (const of of run.suites[0].cases) {
    for (const series of Object.values(of.metrics)) inProcesses(series, 5);
  }
  // As such boards are seen to do.
  run.environment.ceilings = {
    copy_bytes_per_s: 2.8e12,
    matrix_flops_per_s: { bf16: 7.1e14, f16: 7.1e14, f32: 5.1e13, tf32: 3.9e14 },
  };
  for (const of of run.suites[0].cases) if (of.work) of.work.arithmetic = of.params.dtype;
  run.git_revision = "4f2a9c1";
  return run;
}

/** The samples of one process dealt out to several. */
function inProcesses(series, count) {
  const [batch] = series.batches;
  if (batch.samples.length < count) return;
  series.batches = Array.from({ length: count }, (_, process) => ({
    ...batch,
    process,
    samples: batch.samples.filter((_sample, i) => i % count === process),
  }));
}

export function findCase(run, id) {
  const found = run.suites[0].cases.find((of) => of.id === id);
  if (!found) throw new Error(`the recorded run has no ${id}`);
  return found;
}

export function scale(series, by) {
  series.value *= by;
  for (const batch of series.batches) batch.samples = batch.samples.map((sample) => sample * by);
}

export const slower = "gemm/tiled[dtype=f32,k=2048,m=2048,n=2048]";
export const faster = "gemm/tensor_core[dtype=f16,k=2048,m=2048,n=2048]";
export const broken = "gemm/naive[dtype=f32,k=512,m=512,n=512]";
export const wrong = "gemm/cublas[dtype=f32,k=1000,m=1000,n=1000]";

/** code.json of a case whose kernels have so many instructions in both builds, a third of which differ. */
export function longListing(id, length) {
  const side = (load, samples) => ({
    suite: "gemm",
    case: id,
    kernels: [
      {
        name: "gemm_tiled",
        code: load,
        launches: 100,
        instructions: Array.from({ length }, (_, i) => ({
          at: 16 * i,
          text: [`${load} R${i % 200}, desc[UR4][R2.64+${i}]`, `FFMA R${i % 200}, R1, R2, R${i % 100}`, `IADD3 R${i % 150}, R4, 0x${i.toString(16)}, RZ`][i % 3],
          file: "gemm.cu",
          line: 1 + Math.floor(i / 10),
          samples: { long_scoreboard: samples + (i % 17), selected: 3 },
          of_half: Math.floor(samples / 2),
        })),
      },
    ],
  });
  return { schema: "perfgate.code", version: 1, cases: [side("LDG.E", 40)], base: [side("LDG.E.64", 10)] };
}

/** One case slower for want of registers, one faster, one that crashed, one that is wrong. */
export function changedRun(source) {
  const run = recordedRun(source);
  const slow = findCase(run, slower);
  scale(slow.metrics.gpu_time, 1.18);
  for (const [metric, value] of [["registers", 255], ["local_bytes", 96], ["spill_sectors", 2.1e6]]) {
    slow.metrics[metric].value = value;
    slow.metrics[metric].batches[0].samples = [value];
  }
  scale(slow.metrics.dram_bytes, 1.4);
  scale(slow.metrics.instructions, 1.12);
  scale(findCase(run, faster).metrics.gpu_time, 0.8);
  Object.assign(findCase(run, broken), {
    status: "error",
    reason: "the worker died of signal 11 (SIGSEGV) while it verified",
    log: "loading plugin gemm.so\nfatal: bad access <at> 0x0\n",
    metrics: {},
    kernels: [],
  });
  Object.assign(findCase(run, wrong), {
    status: "incorrect",
    reason: "verification failed: c[3,5] is 1.5, expected 1.25",
    metrics: {},
    kernels: [],
  });
  return run;
}
