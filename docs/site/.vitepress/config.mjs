// SPDX-License-Identifier: Apache-2.0
// ci/site copies every page of the repository to PERFGATE_PAGES, in its folder, and builds the site
// from there. PERFGATE_REPOSITORY is the address of the repository's files, for links to what is no
// page; without it such links are plain text.
import path from 'node:path'
import { defineConfig } from 'vitepress'

const pages = process.env.PERFGATE_PAGES
const repository = process.env.PERFGATE_REPOSITORY

const emptyText = { type: 'text', tag: '', attrs: null, content: '' }

// Links to pages stay, where a README is the page of its folder; links to other files lead to the
// repository.
function resolveLinks(md) {
  md.core.ruler.push('perfgate-links', ({ tokens, env }) => {
    for (const { children } of tokens) {
      let dropped = false // the link that is open, and has no target on the site
      for (const token of children ?? []) {
        if (token.type === 'link_open') {
          const target = targetOf(token.attrGet('href'), env.relativePath)
          dropped = target === null
          if (!dropped) token.attrSet('href', target)
        }
        if (dropped && token.type.startsWith('link_')) Object.assign(token, emptyText)
      }
    }
  })
}

function targetOf(href, page) {
  if (/^([a-z]+:|#)/.test(href)) return href
  const [file, fragment] = href.split('#')
  if (!file.endsWith('.md')) {
    return repository ? `${repository}/${path.join(path.dirname(page), file)}` : null
  }
  const name = file.replace(/README\.md$/, 'index.md')
  return fragment ? `${name}#${fragment}` : name
}

const group = (text, items) => ({
  text,
  items: items.map(([label, link]) => ({ text: label, link })),
})

export default defineConfig({
  title: 'perfgate',
  description: 'A performance-regression gate for CUDA in CI',
  srcDir: pages,
  cleanUrls: false,
  lastUpdated: false,
  // Texts of code with enough contrast.
  markdown: {
    config: resolveLinks,
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
  },
  head: [['style', {}, '.vp-doc [class*="language-"] > span.lang { color: var(--vp-c-text-2) }']],
  themeConfig: {
    search: { provider: 'local' },
    outline: [2, 3],
    nav: [
      { text: 'My first week', link: '/docs/' },
      { text: 'Command line', link: '/docs/command-line' },
    ],
    sidebar: [
      group('Start', [
        ['perfgate', '/'],
        ['My first week', '/docs/'],
        ['Moving from another gate', '/docs/moving'],
        ['Questions and messages', '/docs/faq'],
      ]),
      group('What you gate', [
        ['Sources', '/docs/sources'],
        ['Triton and PyTorch', '/docs/python'],
        ['Plugins', '/docs/plugins'],
        ['Programs', '/docs/programs'],
        ['Benchmarks', '/docs/benchmarks'],
        ['The bundled kernels', '/kernels/'],
      ]),
      group('Decide', [
        ['Verdicts and tolerances', '/docs/verdicts'],
        ['Baselines', '/docs/baselines'],
        ['Back to back', '/docs/back-to-back'],
        ['Which commit', '/docs/bisect'],
        ['History', '/docs/history'],
        ['Machine code', '/docs/machine-code'],
        ['Testing the gate', '/docs/checking-the-gate'],
      ]),
      group('In CI', [
        ['GitHub, GitLab and others', '/docs/github-actions'],
        ['A runner', '/ci/runner'],
        ['Slurm', '/ci/slurm/'],
        ['Releases', '/docs/release'],
        ['Security', '/SECURITY'],
      ]),
      group('Look up', [
        ['Suites', '/suites/'],
        ['Metrics', '/docs/metrics'],
        ['Command line', '/docs/command-line'],
        ['Profile database', '/docs/profile-database'],
        ['Changelog', '/CHANGELOG'],
      ]),
      group('Inside', [
        ['Contributing', '/CONTRIBUTING'],
        ['Modules and data flow', '/harness/'],
        ['The rule', '/harness/gate/'],
        ['Measurements', '/tests/bench/'],
        ['What was tested', '/tests/bench/tested'],
        ['Making a release', '/ci/release'],
      ]),
    ],
  },
})
