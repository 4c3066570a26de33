import { badRequest } from '../../core/errors.ts'
import { isText, type JsonObject } from '../../core/json.ts'
import { shownPage } from '../../core/web-text.ts'
import { oneTextTool } from '../description.ts'
import { readDomains } from '../domains.ts'
import { readParameters } from '../parameters.ts'
import type { ServerTool } from '../tool.ts'

const CHARACTERS_PER_TOKEN = 4
const USUAL_TOKENS = 12_000
const MOST_TOKENS = 100_000
const MOST_USES = 1_000
/** The engines of this API that are this gateway's own fetch. */
const OWN_ENGINES = new Set(['auto', 'openrouter', 'sluice'])

/** Reads a page of the web for a model. */
export const webFetch: ServerTool = {
  name: 'web_fetch',
  describe(parameters, place) {
    readFetch(parameters, place)
    return oneTextTool(
      'Reads one page of the web and returns its text as Markdown. Cite a page that you use as a Markdown link to its address.',
      'url',
      'The complete address, with https://',
    )
  },
  async run({ url }, { parameters, uses, signal, web, pay }) {
    if (!isText(url)) throw new Error('url must be a text')
    const { options, mostUses } = readFetch(parameters, 'parameters')
    if (uses >= mostUses) throw new Error(`no more than ${mostUses} pages are read for this request`)
    const page = await pay(
      { kind: 'tool', name: 'openrouter:web_fetch', engine: 'sluice', atMostNanoUsd: 0 },
      async (ended) => ({
        value: await web.fetchPage(url, options, AbortSignal.any([signal, ended]), parameters),
        costNanoUsd: 0,
        counts: { fetches: 1 },
      }),
    )
    return {
      text: shownPage(page),
      item: { url: page.url, title: page.title },
      sources: [page],
    }
  },
}

function readFetch(parameters: JsonObject, place: string) {
  const read = readParameters(parameters, place)
  const engine = read.text('engine') ?? 'auto'
  if (!OWN_ENGINES.has(engine))
    throw badRequest('must be auto or openrouter: this gateway reads pages itself', `${place}.engine`)
  const options = {
    allowedDomains: readDomains(read.texts('allowed_domains'), `${place}.allowed_domains`),
    blockedDomains: readDomains(read.texts('blocked_domains'), `${place}.blocked_domains`),
    mostCharacters:
      Math.min(read.integer('max_content_tokens', 1_000_000) ?? USUAL_TOKENS, MOST_TOKENS) *
      CHARACTERS_PER_TOKEN,
  }
  const mostUses = read.integer('max_uses', MOST_USES) ?? MOST_USES
  read.end()
  return { options, mostUses }
}
