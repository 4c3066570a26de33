import { Elysia } from 'elysia'
import { notFound } from '../core/errors.ts'
import { onFirstUse } from '../core/first-use.ts'
import { HTML, pageReply, SCRIPT, STYLE } from '../http/page-reply.ts'
import { version } from '../version.ts'
import script from './browser.js' with { type: 'text' }
import { overview, shell } from './shell.ts'
import style from './style.css' with { type: 'text' }

const JSON_TYPE = 'application/json'

/** The documentation at `/docs`: public, complete in the program, loaded on the first request of a page. */
export function documentationRoutes(basePath: string) {
  const hidden = { detail: { hide: true } }
  const loaded = onFirstUse(async () => (await import('./site.ts')).site)
  const reply = (html: string): Response =>
    pageReply(basePath === '' ? html : html.replaceAll(/="\/(?=docs|openapi\.json)/g, `="${basePath}/`), HTML)
  const first = async (): Promise<Response> => {
    const { pages } = await loaded()
    return reply(shell(pages, null, overview(pages, version)))
  }
  return new Elysia()
    .get('/docs', first, hidden)
    .get('/docs/', first, hidden)
    .get('/docs/style.css', () => pageReply(style, STYLE), hidden)
    .get('/docs/browser.js', () => pageReply(script, SCRIPT), hidden)
    .get(
      '/docs/search.json',
      async () => pageReply(JSON.stringify((await loaded()).sections), JSON_TYPE),
      hidden,
    )
    .get(
      '/docs/*',
      async ({ params }) => {
        const { pages } = await loaded()
        const path = params['*'].replace(/\.md$/, '')
        const page = pages.find((each) => each.path === path)
        if (page === undefined) throw notFound('The documentation has no such page: see /docs')
        return reply(shell(pages, page, page.html))
      },
      hidden,
    )
}
