/** Reads the lines of the plan table: `request | endpoints | expected`. */
import { GatewayError } from '../../../src/core/errors.ts'
import type { ContentPart, InferenceRequest, ProviderPreferences } from '../../../src/core/request.ts'
import type { EndpointRecord, ProviderRecord } from '../../../src/core/snapshot.ts'
import { estimatePrompt } from '../../../src/inference/admission/estimate.ts'
import { needsOf } from '../../../src/inference/routing/needs.ts'
import { plan } from '../../../src/inference/routing/plan.ts'
import { caller, directory, endpoint, model, pricing, provider, request, snapshot } from '../fixture.ts'

const ALL = [
  'max_tokens',
  'reasoning',
  'response_format',
  'structured_outputs',
  'temperature',
  'tool_choice',
  'tools',
]
const only = (...supportedParameters: string[]) => ({ supportedParameters })
const takes = (...inputModalities: string[]) => ({ inputModalities: ['text', ...inputModalities] })

/** What each endpoint of the table has instead of texts, all parameters, a context of 128,000 and 4,096 output tokens. */
const ENDPOINTS: Readonly<Record<string, Partial<EndpointRecord>>> = {
  text: {},
  other: {},
  sees: takes('image'),
  hears: takes('audio'),
  reads: takes('image', 'file'),
  films: takes('video'),
  blank: { inputModalities: [], supportedParameters: null, contextLength: null, maxCompletionTokens: null },
  plain: only('temperature', 'max_tokens'),
  tooled: only('tools', 'temperature'),
  forced: only('tools', 'tool_choice'),
  parallel: only('tools', 'tool_choice', 'parallel_tool_calls'),
  json: only('response_format'),
  schema: only('structured_outputs'),
  thinks: only('reasoning', 'max_completion_tokens'),
  effort: only('reasoning_effort'),
  seeded: only('seed', 'temperature'),
  claude: only('tools', 'tool_choice'),
  toolless: only('tools'),
  regex: only('structured_outputs', 'response_format'),
  tiny: { contextLength: 50, maxCompletionTokens: 16 },
  small: { contextLength: 8_000, maxCompletionTokens: 1_000 },
  bare: { contextLength: 8_000, maxCompletionTokens: null },
  long: { contextLength: 1_000_000, maxCompletionTokens: 64_000 },
  zdr: { isZdr: true, dataPolicy: { training: false, retentionDays: 0, zdr: 'always' } },
  fp8: { quantization: 'fp8' },
  bf16: { quantization: 'bf16' },
  paints: { outputModalities: ['text', 'image'] },
  speaks: { outputModalities: ['text', 'audio'] },
  embeds: { outputModalities: ['embeddings'] },
  unpriced: { pricing: null },
  free: { pricing: pricing('0', '0') },
}

const PROVIDERS: Readonly<Record<string, Partial<ProviderRecord>>> = {
  claude: { dialect: 'messages' },
  toolless: { quirks: { chat: { tools: false } } },
  regex: { quirks: { chat: { responseFormats: ['json_object', 'regex'] } } },
}

const FUNCTION = { type: 'function', name: 'now' } as const
const part = (content: ContentPart): Partial<InferenceRequest> => ({
  messages: [{ role: 'user', content: [{ type: 'text', text: 'What is this?' }, content] }],
})
const file = (data: string, filename?: string) => part({ type: 'file', data, ...(filename && { filename }) })
const words = (count: string) => ({
  messages: [{ role: 'user' as const, content: 'word '.repeat(Number(count)) }],
})
const listed = (...parameters: string[]) => ({ parameters })

/** What each word of a request sets. `X` is the rest of the word: `max 2000`. */
const WORDS: Readonly<Record<string, (x: string) => Partial<InferenceRequest>>> = {
  hello: () => ({}),
  image: () => part({ type: 'image', url: 'https://example.org/cat.png' }),
  audio: () => part({ type: 'audio', data: 'AAAA', format: 'mp3' }),
  video: () => part({ type: 'video', url: 'https://example.org/cat.mp4' }),
  pdf: () => file('data:application/pdf;base64,AAAA', 'a.pdf'),
  unnamed: () => file('AAAA'),
  csv: () => file('data:text/csv;base64,AAAA', 'a.csv'),
  markdown: () => file('AAAA', 'a.md'),
  png: () => file('data:image/png;base64,AAAA', 'a.png'),
  mp3: () => file('data:audio/mpeg;base64,AAAA'),
  shot: () => ({
    messages: [
      { role: 'tool', toolCallId: 'c1', content: [{ type: 'image', url: 'https://example.org/shot.png' }] },
    ],
  }),
  words,
  tools: () => ({ tools: [FUNCTION], ...listed('tools') }),
  search: () => ({ tools: [{ type: 'other', data: { type: 'web_search' } }] }),
  required: () => ({ tools: [FUNCTION], toolChoice: 'required', ...listed('tools', 'tool_choice') }),
  named: () => ({ tools: [FUNCTION], toolChoice: { type: 'function', name: 'now' } }),
  at_once: () => ({ tools: [FUNCTION], parallelToolCalls: true }),
  in_turn: () => ({ tools: [FUNCTION], parallelToolCalls: false }),
  schema: () => ({
    responseFormat: { type: 'json_schema' },
    ...listed('response_format', 'structured_outputs'),
  }),
  json: () => ({ responseFormat: { type: 'json_object' }, ...listed('response_format') }),
  text: () => ({ responseFormat: { type: 'text' } }),
  effort: (effort) => ({
    reasoning: { effort: effort === 'none' ? 'none' : 'high' },
    ...listed('reasoning_effort'),
  }),
  budget: (tokens) => ({ reasoning: { maxTokens: Number(tokens) } }),
  off: () => ({ reasoning: { enabled: false } }),
  hide: () => ({ reasoning: { exclude: true } }),
  max: (tokens) => ({ maxOutputTokens: Number(tokens), ...listed('max_tokens') }),
  messages: (tokens) => ({ apiType: 'messages', dialect: 'messages', maxOutputTokens: Number(tokens) }),
  beta: (name) => ({ headers: { 'anthropic-beta': name } }),
  truncated: () => ({ body: { truncation: 'auto' } }),
  output: (kind) => ({ modalities: ['text', kind] }),
  set: (name) => listed(name),
  body: (name) => ({ body: { [name]: 0.5 } }),
}

const PREFERENCES: Readonly<Record<string, (x: string) => Partial<ProviderPreferences>>> = {
  only: (names) => ({ only: names.split('+') }),
  ignore: (names) => ({ ignore: names.split('+') }),
  order: (names) => ({ order: names.split('+') }),
  first: () => ({ allowFallbacks: false }),
  require: () => ({ requireParameters: true }),
  zdr: () => ({ zdr: true }),
  deny: () => ({ dataCollection: 'deny' }),
  runs: (names) => ({ quantizations: names.split('+') }),
  below: (usd) => ({ maxPrice: { prompt: usd } }),
  distill: () => ({ enforceDistillableText: true }),
  together: () => ({ sortPartition: 'none' }),
}

/** A dollar for a million tokens at the first endpoint of a line, two at the next: the request sorts by price. */
const priced = (name: string, place: number): EndpointRecord =>
  endpoint(name, 'lab/one', {
    supportedParameters: ALL,
    pricing: pricing(`0.00000${place + 1}`, `0.00000${place + 1}`),
    ...ENDPOINTS[name],
  })

/** `a, b / c`: two endpoints of the first model, one of the second. */
function worldOf(written: string) {
  let place = 0
  const models = written.split(' / ').map((names, index) => {
    const id = `lab/m${index + 1}`
    const endpoints = names.split(', ').map((name) => {
      if (ENDPOINTS[name] === undefined) throw new Error(`no endpoint "${name}"`)
      const own = { ...priced(name, place), modelId: id, id: `${name}/${id}` }
      place += 1
      return own
    })
    return model(id, endpoints)
  })
  const providers = Object.keys(ENDPOINTS).map((slug) => provider(slug, PROVIDERS[slug]))
  return { names: models.map(({ id }) => id), world: snapshot(providers, directory(models)) }
}

/** The order of the endpoints by name, or `status rule`. */
export function planned(asked: string, offered: string): string {
  const { names, world } = worldOf(offered)
  const fields: Partial<InferenceRequest> = {}
  const preferences: Partial<ProviderPreferences> = { sort: 'price' }
  let suffix = ''
  for (const phrase of asked.split(', ')) {
    const [word = '', x = ''] = phrase.split(' ')
    if (word === 'variant') suffix = `:${x}`
    else if (WORDS[word]) Object.assign(fields, WORDS[word](x))
    else if (PREFERENCES[word]) Object.assign(preferences, PREFERENCES[word](x))
    else throw new Error(`no word "${word}"`)
  }
  const one = request({ ...fields, models: names.map((name) => name + suffix) }, preferences)
  try {
    const { attempts } = plan({
      request: one,
      needs: needsOf(one, estimatePrompt(one)),
      caller: caller(),
      snapshot: world,
      now: 1_000_000,
      cooldownOf: () => null,
      random: () => 0.5,
    })
    return attempts.map(({ provider: { slug } }) => slug).join(', ')
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error
    const { constraint } = error.availability ?? {}
    return `${error.status} ${constraint?.field ?? 'none'}`
  }
}
