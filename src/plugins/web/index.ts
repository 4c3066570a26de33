import { badRequest } from '../../core/errors.ts'
import { asCount, asText, defined, fieldsOf, isObject, textsIn } from '../../core/json.ts'
import type { PluginOptions } from '../../core/plugin-options.ts'
import type { InferenceRequest } from '../../core/request.ts'
import type { WantedSearch } from '../../core/web-access.ts'
import { shownResults } from '../../core/web-text.ts'
import { citedFrames } from '../cited-frames.ts'
import { textOfLastTurn, withMaterial } from '../last-turn.ts'
import type { Plugin, PluginContext } from '../plugin.ts'
import { isNative, nativeSearchOf } from './native.ts'

const ONLINE = ':online'
const PLACE = 'plugins.web'

/** Searches the web for the last turn of the user, once, before the model answers. */
export const web: Plugin = {
  id: 'web',
  implied: ({ models }) =>
    models.some((name) => name.endsWith(ONLINE)) ? { id: 'web', online: true } : null,
  request(request, options, context) {
    const models = request.models.map((name) => withoutSuffix(name, context))
    const isNamed = models.some((name, i) => name !== request.models[i])
    // A model whose own name ends so asks for nothing.
    if (options['online'] === true && !isNamed) return request
    if (isObject(options['x_search']))
      throw badRequest('is the search of xAI itself: send its tool x_search in `tools`', `${PLACE}.x_search`)
    const named = isNamed ? { ...request, models } : request
    return isNative(named, options['engine'], context, PLACE)
      ? { ...named, tools: [...named.tools, nativeSearchOf(options)], rewritten: true }
      : searched(named, options, context)
  },
  frames: (frames, _, { request }) => citedFrames(frames, request.sources ?? []),
}

const withoutSuffix = (name: string, { snapshot }: PluginContext): string =>
  name.endsWith(ONLINE) && snapshot.models.find(name) === undefined ? name.slice(0, -ONLINE.length) : name

async function searched(
  request: InferenceRequest,
  options: PluginOptions,
  { web: access, pay, report, filtered, now }: PluginContext,
): Promise<InferenceRequest> {
  const prepared = access.prepareSearch(wantedOf(request, options), PLACE)
  const query = textOfLastTurn(request)
  const { engine, atMostNanoUsd } = prepared
  if (query === '') {
    report({ type: 'plugin', name: 'web-search', summary: 'the last turn has no text to search for' })
    return request
  }
  const results = await pay(
    { kind: 'web', name: 'openrouter:web_search', engine, atMostNanoUsd },
    async (signal) => {
      const { results: found, costNanoUsd } = await prepared.run(query, signal)
      const counts = { searches: 1, searchResults: found.length, searchEngine: engine }
      return { value: found, costNanoUsd, counts }
    },
  )
  report({
    type: 'plugin',
    name: 'web-search',
    summary: `${engine} found ${results.length} results`,
    data: { engine, results: results.map(({ url }) => url) },
  })
  const prompt = asText(options['search_prompt']) ?? usualPrompt(now())
  const sources = [...(request.sources ?? []), ...results]
  const shown = await filtered(shownResults(results))
  return { ...withMaterial(request, `${prompt}\n\n${shown}`), sources }
}

const usualPrompt = (now: number): string =>
  `The web was searched for the next message on ${new Date(now).toISOString().slice(0, 10)}. Use the results where they help. Cite each one that you use as a Markdown link named after its site, such as [example.com](https://example.com/page).`

/** The options of the plugin; what they leave open, `web_search_options` of chat says. */
function wantedOf({ body }: InferenceRequest, options: PluginOptions): WantedSearch {
  const chat = fieldsOf(body['web_search_options'])
  const place = fieldsOf(options['user_location'] ?? fieldsOf(chat['user_location'])['approximate'])
  const location = defined({
    city: asText(place['city']),
    region: asText(place['region']),
    country: asText(place['country']),
    timezone: asText(place['timezone']),
  })
  return defined({
    engine: asText(options['engine']),
    maxResults: asCount(options['max_results']),
    includeDomains: textsIn(options['include_domains']),
    excludeDomains: textsIn(options['exclude_domains']),
    contextSize: asText(chat['search_context_size']),
    mode: asText(options['mode']),
    location,
  })
}
