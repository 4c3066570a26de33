import { escapeHTML } from 'bun'
import type { Page } from './page.ts'

/** A complete page: header with search, navigation, and `html`. `current` is null on the first page. */
export function shell(pages: readonly Page[], current: Page | null, html: string): string {
  const title = current === null ? 'Sluice documentation' : `${current.title} · Sluice`
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHTML(title)}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/docs/style.css">
<script src="/docs/browser.js" data-index="/docs/search.json" defer></script>
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<header>
<button class="menu" popovertarget="nav" aria-label="Pages">☰</button>
<a class="name" href="/docs">Sluice <span>documentation</span></a>
<search><input id="search" type="search" placeholder="Search" aria-label="Search the documentation" aria-controls="results" autocomplete="off"><div id="results" role="listbox" hidden></div></search>
<a class="reference" href="/docs/api">API reference</a>
<button id="theme" aria-label="Dark or light">◐</button>
</header>
<div class="columns">
<nav id="nav" popover aria-label="Pages">${navigation(pages, current)}</nav>
<main id="content">
${html}
${neighbours(pages, current)}
</main>
</div>
</body>
</html>
`
}

function navigation(pages: readonly Page[], current: Page | null): string {
  const groups = Map.groupBy(pages, ({ group }) => group)
  return [...groups]
    .map(
      ([group, list]) =>
        `<h2>${escapeHTML(group)}</h2><ul>${list.map((page) => item(page, current)).join('')}</ul>`,
    )
    .join('')
}

function item(page: Page, current: Page | null): string {
  if (page !== current) return `<li>${link(page)}</li>`
  const inside = page.headings
    .map(({ id, text }) => `<li><a href="#${id}">${escapeHTML(text)}</a></li>`)
    .join('')
  return `<li class="current"><a href="/docs/${page.path}" aria-current="page">${escapeHTML(page.title)}</a><ul>${inside}</ul></li>`
}

const link = (page: Page): string => `<a href="/docs/${page.path}">${escapeHTML(page.title)}</a>`

function neighbours(pages: readonly Page[], current: Page | null): string {
  if (current === null) return ''
  const at = pages.indexOf(current)
  const [before, after] = [pages[at - 1], pages[at + 1]]
  return `<footer>${before === undefined ? '<span></span>' : `<span>← ${link(before)}</span>`}${after === undefined ? '' : `<span>${link(after)} →</span>`}</footer>`
}

/** The first page: every page with its summary. */
export function overview(pages: readonly Page[], version: string): string {
  const groups = Map.groupBy(pages, ({ group }) => group)
  const lists = [...groups].map(
    ([group, list]) =>
      `<h2>${escapeHTML(group)}</h2><dl>${list.map((page) => `<dt>${link(page)}</dt><dd>${escapeHTML(page.summary)}</dd>`).join('')}</dl>`,
  )
  return `<h1>Sluice ${escapeHTML(version)}</h1>
<p>A self-hosted AI model gateway in one executable. The <a href="/docs/api">API reference</a> has every operation and field; <a href="/openapi.json">openapi.json</a> is its source.</p>
${lists.join('\n')}`
}
