/**
 * Every form of reply, against the types of the official packages: recorded answers of providers of each dialect,
 * replayed to callers of each dialect, whole and streamed.
 */
import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import type { JsonObject } from '../../src/core/events.ts'
import { startGateway } from '../gateway.ts'
import { FIXTURES, hasTranscripts, loadRecordings, type Recording, TRANSCRIPTS } from '../recordings.ts'
import { startReplaying } from '../replaying-gateway.ts'
import { dataLines, startUpstream } from '../upstream.ts'
import { misfits, type Sample, type SdkType } from './checker.ts'

const aws = { region: 'us-west-2', access_key_id: 'AKIALAB', secret_access_key: 'secret' }
/** The recordings of each dialect, by their `api`, and the entry of their provider. */
const PROVIDERS: [api: RegExp, folder: string, entry: JsonObject][] = [
  [/^openai-chat$/, 'chat', { dialect: 'chat' }],
  [/^openai-responses$/, 'responses', { dialect: 'responses' }],
  [/^anthropic-messages$/, 'messages', { dialect: 'messages' }],
  [/^gemini$/, 'gemini', { dialect: 'gemini' }],
  [/^cohere/, 'cohere', { dialect: 'cohere' }],
  [/converse/, 'converse', { dialect: 'converse', aws }],
]

interface Caller {
  readonly path: string
  readonly body: JsonObject
  readonly whole: SdkType
  readonly event: SdkType
}
const user = [{ role: 'user', content: 'Hello' }]
const CALLERS: readonly Caller[] = [
  {
    path: '/chat/completions',
    body: { messages: user },
    whole: 'ChatCompletion',
    event: 'ChatCompletionChunk',
  },
  { path: '/responses', body: { input: 'Hello' }, whole: 'Response', event: 'ResponseStreamEvent' },
  {
    path: '/messages',
    body: { messages: user, max_tokens: 9 },
    whole: 'Message',
    event: 'RawMessageStreamEvent',
  },
]

/** Events that the API document adds to those of the packages (docs/compatibility.md), and errors in mid-stream. */
const ADDED = new Set(['response.reasoning.delta', 'response.debug', 'error', 'ping'])
const isAdded = (event: JsonObject): boolean =>
  ADDED.has(String(event['type'])) || event['error'] !== undefined

/** What departs from the types on purpose, by the words of the compiler. */
const DEPARTURES: readonly (readonly [RegExp, why: string])[] = [
  [
    /^ChatCompletion of .*"system_fingerprint":null/,
    'the API document requires it, null where nothing is known',
  ],
  [/^ChatCompletion.* → \/chat.*"file_citation"/, 'kinds of citations of a provider travel as they came'],
  [/^Message of .*"type":"image"/, 'a picture for a caller of a dialect that has none'],
  [/^Message of anthropic\/.*"(fallback|server_tool_use)"/, "the provider's own blocks travel as they came"],
  [/^Response of searches.*web_search_call/, "xAI's own items travel as they came"],
]
const isDeparture = (line: string): boolean => DEPARTURES.some(([words]) => words.test(line))

const samples: Sample[] = []
const add = (type: SdkType, name: string, value: JsonObject): void => {
  samples.push({ type, name, value })
}

async function collect(recordings: readonly Recording[], entry: JsonObject): Promise<void> {
  const replaying = await startReplaying(entry)
  for (const recording of recordings) {
    replaying.replay(recording)
    for (const { path, body, whole, event } of CALLERS) {
      const stream = recording.isStream
      const response = await replaying.gateway.call(path, { model: 'recorded', stream, ...body })
      const name = `${recording.name} → ${path}`
      if (response.status !== 200) await response.text()
      else if (!stream) add(whole, name, await response.json())
      else
        for (const line of await dataLines(response)) {
          const value: JsonObject = line === '[DONE]' ? { error: 1 } : JSON.parse(line)
          if (!isAdded(value)) add(event, name, value)
        }
    }
  }
  await replaying.stop()
}

describe('replies fit the types of the official packages', () => {
  test.each(PROVIDERS)(
    'answers of providers of %p',
    async (api, folder, entry) => {
      const before = samples.length
      const all = [
        ...loadRecordings(join(FIXTURES, folder)),
        ...(hasTranscripts ? loadRecordings(TRANSCRIPTS) : []),
      ]
      await collect(
        all.filter((recording) => api.test(recording.api) && recording.status < 300),
        entry,
      )
      expect(samples.length).toBeGreaterThan(before)
    },
    60_000,
  )

  test('embeddings, images, models and counts of tokens', async () => {
    const upstream = startUpstream()
    const data = [{ object: 'embedding', index: 0, embedding: [0.1, 0.2] }]
    upstream.on('vectors', () =>
      Response.json({ object: 'list', data, model: 'm', usage: { prompt_tokens: 3, total_tokens: 3 } }),
    )
    upstream.on('gpt-image-1', () => Response.json({ created: 1, data: [{ b64_json: 'aGk=' }] }))
    const pricing = { prompt: '0.000001', completion: '0.000002', image: '0.01' }
    const gives = (...modalities: string[]) => ({ architecture: { output_modalities: modalities } })
    const models = [
      { id: 'vectors', pricing, ...gives('embeddings') },
      { id: 'gpt-image-1', pricing, ...gives('image') },
      { id: 'plain', pricing },
    ]
    const gateway = await startGateway({ providers: [{ slug: 'lab', base_url: upstream.baseUrl, models }] })
    const ask = async (path: string, body?: object): Promise<JsonObject> => {
      const response = await gateway.call(path, body)
      const text = await response.text()
      expect({ status: response.status, text }).toMatchObject({ status: 200 })
      return JSON.parse(text)
    }
    const named = (type: SdkType, value: JsonObject): Sample => ({ type, name: 'scripted', value })
    samples.push(
      named('CreateEmbeddingResponse', await ask('/embeddings', { model: 'vectors', input: 'x' })),
      named('ImagesResponse', await ask('/images/generations', { model: 'gpt-image-1', prompt: 'x' })),
      named('MessageTokensCount', await ask('/messages/count_tokens', { model: 'plain', messages: user })),
    )
    const listed = await ask('/models')
    for (const model of Array.isArray(listed['data']) ? listed['data'] : [])
      samples.push(named('Model', model))
    await gateway.stop()
    await upstream.stop()
  })

  test('each of them fits', async () => {
    expect((await misfits(samples)).filter((line) => !isDeparture(line))).toEqual([])
  }, 60_000)

  test('the check finds a null, a lacking field and a strange word', async () => {
    const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 1 }
    const message = { role: 'assistant', content: 'x', refusal: null }
    const choice = { index: 0, message, finish_reason: 'stop', logprobs: null }
    const good = {
      id: 'x',
      object: 'chat.completion',
      created: 1,
      model: 'x',
      choices: [choice],
      usage,
      own: null,
    }
    const of = (value: JsonObject): Sample => ({ type: 'ChatCompletion', name: 'made', value })
    expect(await misfits([of(good)])).toEqual([])
    for (const bad of [
      { ...good, usage: null },
      { ...good, created: undefined },
      { ...good, choices: [{ ...choice, finish_reason: 'because' }] },
    ])
      expect(await misfits([of(bad)])).toHaveLength(1)
  }, 60_000)
})
