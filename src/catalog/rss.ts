import { isSecure, type Site } from '../http/site.ts'
import { descriptionOf } from './description.ts'
import type { Offered } from './listing.ts'
import { addressOf } from './view.ts'

export const RSS_MEDIA = 'application/rss+xml'
export const RSS_TYPE = `${RSS_MEDIA}; charset=utf-8`

export interface Feed {
  /** The complete address of the feed. */
  self: string
  /** The complete address before `/models`. */
  api: string
  models: readonly Offered[]
}

/** An RSS 2.0 document, one item for each model. It has its own address, as the best practices profile requires. */
export function rssOf({ self, api, models }: Feed): string {
  const items = models.map((offered) => {
    const link = escaped(`${api}/model/${addressOf(offered)}`)
    const { model, author } = offered
    const published =
      model.created > 0 ? `<pubDate>${new Date(model.created * 1000).toUTCString()}</pubDate>` : ''
    const description = escaped(descriptionOf(offered))
    return `<item><title>${escaped(model.name)}</title><link>${link}</link><guid isPermaLink="false">${escaped(model.id)}</guid><category>${escaped(author)}</category>${published}<description>${description}</description></item>`
  })
  return `<?xml version="1.0" encoding="UTF-8"?>
<rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom"><channel><title>Sluice models</title><link>${escaped(api)}/models</link><description>Models that can be called here</description><atom:link href="${escaped(self)}" rel="self" type="application/rss+xml"/>
${items.join('\n')}
</channel></rss>
`
}

/**
 * The address before `/models` as readers of the feed reach it: the public one where the settings tell one that is
 * encrypted (this server is not), else that of the request.
 */
export function publicApi(request: Request, site: Site, basePath: string): string {
  if (site.address.startsWith('https:')) return `${site.address}/api/v1`
  const { origin } = new URL(request.url)
  return (isSecure(request, site) ? origin.replace(/^http:/, 'https:') : origin) + basePath
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
}

/** Escapes text and attributes. Drops characters that XML 1.0 cannot represent. */
const escaped = (text: string): string =>
  text
    .toWellFormed()
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '')
    .replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '')
