// SPDX-License-Identifier: Apache-2.0
// Five thousand cases with names that someone writes to break a page, in every field that takes text.
import { recordedRun } from "./documents.mjs";

export const count = 5000;

export const names = [
  "<script>window.hit=1</script>",
  "</script><script>window.hit=2</script>",
  "<!--<script>",
  "<img src=x onerror=window.hit=3>",
  "\"><svg/onload=window.hit=4>",
  "' autofocus onfocus=window.hit=5 x='",
  "javascript:window.hit=6",
  "{{constructor.constructor('window.hit=7')()}} ${window.hit=8}",
  "&lt;b&gt; &amp; &#60;",
  "__proto__",
  "constructor",
  "@PERFGATE_DATA@ $& $' $`",
  "#case=x&text=y",
  "%3Cscript%3E %00 %",
  "שלום עולם [left=right]",
  "مرحبا (1,2)",
  "寸法 größe 🚀👩‍👩‍👧‍👦 𝕬",
  "e\u0301\u0323 z\u0300\u0301\u0302\u0303\u0304\u0305\u0306\u0307\u0308",
  "line\u2028separator\u2029and paragraph",
  "\u202eoverride \u2066isolate \u200bzero",
  "tab\tand\nline\r\nend",
  "\u001b[31mred\u001b[0m \u0000 \u0007",
  "w".repeat(3000),
  "many words ".repeat(200),
];

/** Every case is named by one of them, and so is what is told of it. */
export function hostileRun(source, slower) {
  const run = recordedRun(source);
  const suite = run.suites[0];
  const template = suite.cases[0];
  const time = template.metrics.gpu_time;
  time.batches = [{ ...time.batches[0], samples: time.batches[0].samples.slice(0, 5) }];
  const registers = template.metrics.registers;
  const definitions = run.metric_definitions;
  for (const name of names) {
    const metric = `${name} metric`;
    definitions[metric] = { ...definitions.registers, name: metric, description: name, unit: name.slice(0, 300) };
  }
  suite.description = names[0];
  suite.file = names[1];
  Object.assign(run, { git_revision: names[1], tool_version: names[3] });
  Object.assign(run.environment, { driver: names[0], cupti: names[2], os: names[4], cpu: names[5], kernel: names[16] });
  run.environment.device.name = names[1];
  suite.cases = Array.from({ length: count }, (_, i) => {
    const name = names[i % names.length];
    const metric = `${name} metric`;
    const by = slower && i % 10 === 9 ? 2 : 1;
    const batch = (series, factor) => ({
      ...series,
      method: name,
      value: series.value * factor,
      batches: series.batches.map((one) => ({ ...one, samples: one.samples.map((sample) => sample * factor) })),
    });
    return {
      ...template,
      id: undefined,
      workload: name,
      variant: name,
      params: { [name]: name, n: i },
      place: { file: name, line: i + 1 },
      tags: [name, "all"],
      verification: { ...template.verification, detail: name },
      work: { flops: 1e3 * (i + 1), bytes: 1e5, arithmetic: i % 2 === 0 ? "f32" : name },
      gates: [
        { metric: "gpu_time", worse: 0.1, better: 0.12 },
        { metric, worse: 0 },
      ],
      metrics: {
        gpu_time: batch(time, by),
        [metric]: { ...batch(registers, by), unit: name.slice(0, 300) },
      },
      kernels: template.kernels.map((kernel) => ({ ...kernel, name, metrics: {} })),
    };
  });
  return run;
}
