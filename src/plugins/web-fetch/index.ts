import { GatewayError } from '../../core/errors.ts'
import { asCount, textsIn } from '../../core/json.ts'
import type { InferenceRequest } from '../../core/request.ts'
import type { FetchedPage, FetchOptions } from '../../core/web-access.ts'
import { shownPage } from '../../core/web-text.ts'
import { citedFrames } from '../cited-frames.ts'
import { textOfLastTurn, withMaterial } from '../last-turn.ts'
import type { Plugin, PluginContext } from '../plugin.ts'

const CHARACTERS_PER_TOKEN = 4
const USUAL_TOKENS = 12_000
const MOST_TOKENS = 100_000
const USUAL_USES = 5
const MOST_USES = 20
/** Refusals of a limit end the request. */
const ENDING = new Set([402, 403, 429])

/** Reads the pages whose addresses are in the last turn of the user, before the model answers. */
export const webFetch: Plugin = {
  id: 'web-fetch',
  async request(request, options, context) {
    const { readDomains: domains } = context.web
    const tokens = Math.min(asCount(options['max_content_tokens']) ?? USUAL_TOKENS, MOST_TOKENS)
    const wanted: FetchOptions = {
      allowedDomains: domains(textsIn(options['allowed_domains']), 'plugins.web-fetch.allowed_domains'),
      blockedDomains: domains(textsIn(options['blocked_domains']), 'plugins.web-fetch.blocked_domains'),
      mostCharacters: tokens * CHARACTERS_PER_TOKEN,
    }
    const most = Math.min(asCount(options['max_uses']) ?? USUAL_USES, MOST_USES)
    const addresses = addressesIn(textOfLastTurn(request), most)
    if (addresses.length === 0) return request
    const pages = await Promise.all(addresses.map((address) => pageAt(address, wanted, context)))
    context.report({
      type: 'plugin',
      name: 'web-fetch',
      summary: `${pages.filter(isPage).length} of ${pages.length} pages were read`,
      data: {
        pages: pages.map((page, i) => ({ url: addresses[i], ...(isPage(page) ? {} : { error: page }) })),
      },
    })
    return withPages(request, addresses, pages, context)
  },
  frames(frames, _, { request }) {
    const isCitedAlready = request.plugins?.some(({ id }) => id === 'web') === true
    return isCitedAlready ? frames : citedFrames(frames, request.sources ?? [])
  },
}

/** A page, or why it could not be read. */
type Outcome = FetchedPage | string
const isPage = (outcome: Outcome): outcome is FetchedPage => typeof outcome !== 'string'

async function pageAt(
  address: string,
  wanted: FetchOptions,
  { web, pay, request }: PluginContext,
): Promise<Outcome> {
  try {
    return await pay(
      { kind: 'web-fetch', name: 'openrouter:web_fetch', engine: 'sluice', atMostNanoUsd: 0 },
      async (signal) => ({
        value: await web.fetchPage(address, wanted, signal, request),
        costNanoUsd: 0,
        counts: { fetches: 1 },
      }),
    )
  } catch (error) {
    if (error instanceof GatewayError && !ENDING.has(error.status)) return error.message
    throw error
  }
}

async function withPages(
  request: InferenceRequest,
  addresses: readonly string[],
  pages: readonly Outcome[],
  { filtered }: PluginContext,
): Promise<InferenceRequest> {
  const texts: string[] = []
  for (const [i, page] of pages.entries())
    texts.push(isPage(page) ? await filtered(shownPage(page)) : `${addresses[i]}: ${page}`)
  const sources = [...(request.sources ?? []), ...pages.filter(isPage)]
  const prompt = 'The pages that the next message names were read.'
  return { ...withMaterial(request, [prompt, ...texts].join('\n\n')), sources }
}

/** Of the last turn. It may have megabytes of addresses. */
const MOST_CHARACTERS = 500_000

/** The first web addresses of a text, each once, without the punctuation behind them. */
function addressesIn(text: string, most: number): string[] {
  const found = new Set<string>()
  for (const [address] of text.slice(0, MOST_CHARACTERS).matchAll(ADDRESS)) {
    found.add(withoutPunctuation(address))
    if (found.size === most) break
  }
  return [...found]
}
const ADDRESS = /https?:\/\/[^\s<>"'`)\]}|\\^]{1,2000}/gi

function withoutPunctuation(address: string): string {
  let end = address.length
  while (end > 0 && '.,;:!?*_'.includes(address.charAt(end - 1))) end -= 1
  return address.slice(0, end)
}
