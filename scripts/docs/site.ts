import { readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { Glob } from 'bun'
import { Marked, type Token, type Tokens } from 'marked'
import type { Heading, Page, Section, Site } from '../../src/docs/page.ts'
import { groups } from './pages.ts'
import { slugger } from './slugs.ts'

const FOLDER = join(import.meta.dir, '../../docs')

/** The pages of docs/ as HTML. `src/docs/site.ts` calls it as a macro. */
export function renderedSite(): Site {
  const files = [...new Glob('**/*.md').scanSync(FOLDER)].map((file) => file.replace(/\.md$/, '')).sort()
  const named = Object.values(groups).flat()
  const ordered = [
    ...named.filter((path) => files.includes(path)),
    ...files.filter((path) => !named.includes(path)),
  ]
  const rendered = ordered.map((path) => render(path, files))
  return { pages: rendered.map(({ page }) => page), sections: rendered.flatMap(({ sections }) => sections) }
}

const groupOf = (path: string): string =>
  Object.entries(groups).find(([, paths]) => paths.includes(path))?.[0] ??
  (path.startsWith('decisions/') ? 'Decisions' : 'More')

function render(path: string, files: readonly string[]): { page: Page; sections: Section[] } {
  const tokens = new Marked().lexer(readFileSync(join(FOLDER, `${path}.md`), 'utf8'))
  const ids = idsOf(tokens)
  const first = tokens.find(isHeading)
  const title = first === undefined ? path : textOf(first)
  const summary = tokens.find((token) => token.type === 'paragraph')
  return {
    page: {
      path,
      group: groupOf(path),
      title,
      summary: summary === undefined ? '' : textOf(summary),
      html: htmlOf(tokens, ids, path, files),
      headings: tokens
        .filter(isHeading)
        .filter(({ depth }) => depth === 2)
        .map((token): Heading => ({ id: ids.get(token) ?? '', text: textOf(token) })),
    },
    sections: sectionsOf(tokens, ids, path, title),
  }
}

const isHeading = (token: Token): token is Tokens.Heading => token.type === 'heading'

function idsOf(tokens: readonly Token[]): Map<Token, string> {
  const slugOf = slugger()
  return new Map(tokens.filter(isHeading).map((token) => [token, slugOf(token.text)]))
}

function htmlOf(tokens: Token[], ids: Map<Token, string>, path: string, files: readonly string[]): string {
  const marked = new Marked({
    renderer: {
      heading(token) {
        const id = ids.get(token) ?? ''
        const anchor = `<a class="anchor" href="#${id}" aria-label="Link to this section">#</a>`
        const text = this.parser.parseInline(token.tokens)
        return `<h${token.depth} id="${id}">${text}${token.depth === 1 ? '' : ` ${anchor}`}</h${token.depth}>\n`
      },
      link({ href, tokens: inline }) {
        const text = this.parser.parseInline(inline)
        const address = addressOf(href, path, files)
        return address === null ? text : `<a href="${Bun.escapeHTML(address)}">${text}</a>`
      },
    },
  })
  // A wide table scrolls by itself on a narrow screen; the keyboard must reach it for that.
  return marked
    .parser(tokens)
    .replaceAll('<table>', '<div class="table" tabindex="0"><table>')
    .replaceAll('</table>', '</table></div>')
}

/** Null for a file that the site does not have: such a link is shown as text. */
function addressOf(href: string, path: string, files: readonly string[]): string | null {
  if (/^[a-z]+:|^\/|^#/.test(href)) return href
  const [file = '', anchor] = href.split('#')
  const target = normalize(join(dirname(path), file)).replace(/\.md$/, '')
  if (!files.includes(target)) return null
  return `/docs/${target}${anchor === undefined ? '' : `#${anchor}`}`
}

/** One for each heading, with all that is below it up to the next one. */
function sectionsOf(
  tokens: readonly Token[],
  ids: Map<Token, string>,
  path: string,
  page: string,
): Section[] {
  const sections: (Section & { text: string })[] = []
  for (const token of tokens) {
    const last = sections.at(-1)
    if (isHeading(token))
      sections.push({ at: `${path}#${ids.get(token)}`, page, heading: textOf(token), text: '' })
    else if (last !== undefined) last.text = `${last.text} ${textOf(token)}`.trim()
  }
  return sections
}

/** Without marks, and white space as one space. */
function textOf(token: Token): string {
  const html = new Marked().parser([token])
  return html
    .replace(/<[^>]*>/g, ' ')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&')
    .replace(/\s+/g, ' ')
    .replace(/ (?=[.,:;)])/g, '')
    .trim()
}
