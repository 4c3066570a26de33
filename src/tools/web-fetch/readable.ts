import { Readability } from '@mozilla/readability'
import { parseHTML } from 'linkedom/worker'
import { markdownOf } from './markdown.ts'

/** A page as text for a model. */
export interface ReadablePage {
  readonly title: string
  readonly text: string
  readonly published?: string
}

/** A tag is an object of some hundred bytes once it is parsed: what follows this many is left out. */
const MOST_TAGS = 40_000
const LONGEST_TITLE = 300
/** Readability's work grows with the square of the depth. */
const DEEPEST = 256
const UNREADABLE =
  'script,style,noscript,template,iframe,object,embed,svg,canvas,form,dialog,body title,[hidden],[aria-hidden="true"]'
/** Text that no reader of the page sees is a place for instructions to models. */
const HIDDEN = /(?:display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*0|opacity\s*:\s*0(?![.\d]))/i

/**
 * The part of a page that people read, as Markdown. Not linear, since its libraries are not: it runs in a worker that can
 * be ended.
 */
export function readablePage(html: string, url: string): ReadablePage {
  const source = completed(withoutExcess(html))
  const { document, title } = cleaned(source, url)
  if (isDeep(document.documentElement)) {
    document.head.remove()
    return { title: oneLine(title), text: (document.documentElement.textContent ?? '').trim() }
  }
  const article = new Readability(document).parse()
  // Readability changes what it reads: without an article, the page is read again.
  const body =
    article?.textContent?.trim() && article.content
      ? bodyOf(article.content)
      : cleaned(source, url).document.body
  return {
    title: oneLine(article?.title || title),
    text: isDeep(body) ? (body.textContent ?? '').trim() : markdownOf(body).trim(),
    ...(article?.publishedTime ? { published: oneLine(article.publishedTime) } : {}),
  }
}

/** The parser makes a page of anything, but has a body only where there is one. */
function completed(html: string): string {
  if (/<html[\s>]/i.test(html)) return html
  return /<body[\s>]/i.test(html)
    ? `<!doctype html><html>${html}</html>`
    : `<!doctype html><html><body>${html}</body></html>`
}

/** The page without its hidden parts; its links are absolute. */
function cleaned(html: string, url: string): { document: Document; title: string } {
  const { document } = parseHTML(html)
  const title = document.querySelector('title')?.textContent ?? ''
  for (const element of document.querySelectorAll(UNREADABLE)) element.remove()
  for (const element of document.querySelectorAll('[style]'))
    if (HIDDEN.test(element.getAttribute('style')?.slice(0, 1_000) ?? '')) element.remove()
  resolveLinks(document, url)
  return { document, title }
}

const bodyOf = (content: string): HTMLElement =>
  parseHTML(`<!doctype html><html><body>${content}</body></html>`).document.body

/** The page up to the tag that is one too many. */
function withoutExcess(html: string): string {
  let at = -1
  for (let count = 0; count < MOST_TAGS; count++) {
    at = html.indexOf('<', at + 1)
    if (at === -1) return html
  }
  return html.slice(0, at)
}

/** True if elements are nested deeper than the libraries can stand. One pass, without recursion. */
function isDeep(root: Element): boolean {
  let depth = 0
  let element: Element | null = root
  while (element !== null) {
    if (element.firstElementChild !== null) {
      depth += 1
      if (depth > DEEPEST) return true
      element = element.firstElementChild
      continue
    }
    while (element !== null && element !== root && element.nextElementSibling === null) {
      element = element.parentElement
      depth -= 1
    }
    element = element === null || element === root ? null : element.nextElementSibling
  }
  return false
}

/** Addresses relative to the page become complete; those that are not of the web are left out. */
function resolveLinks(document: Document, url: string): void {
  const base = URL.parse(document.querySelector('base[href]')?.getAttribute('href') ?? '', url)?.href ?? url
  for (const link of document.querySelectorAll('a[href]')) {
    const target = URL.parse(link.getAttribute('href') ?? '', base)
    if (target !== null && (target.protocol === 'https:' || target.protocol === 'http:'))
      link.setAttribute('href', target.href)
    else link.removeAttribute('href')
  }
}

const oneLine = (text: string): string => text.replace(/\s+/g, ' ').trim().slice(0, LONGEST_TITLE)
