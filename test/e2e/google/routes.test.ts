import { describe, expect, test } from 'bun:test'
import { API_KEY } from '../../gateway.ts'
import { events } from '../replies.ts'
import { chatReply, chatStream, json, startForGoogle } from './setup.ts'

/** Google's API on the wire: paths, forms of streams, errors, and what the gateway does for every dialect. */

const lines: string[] = []
const { gateway, upstream, ask } = await startForGoogle({ log: (line) => lines.push(line) })
const HELLO = { contents: [{ role: 'user', parts: [{ text: 'Hello' }] }] }
const PLAIN = '/models/maker/plain-1:generateContent'

describe('paths', () => {
  test.each([
    PLAIN,
    '/models/maker%2Fplain-1:generateContent',
    '/models/maker%2Fplain-1%3AgenerateContent',
    '/models/maker/plain-1:nitro:generateContent',
    '/models/plain/plain-1:generateContent',
    '/models/plain-1:generateContent',
    // The AI SDK's, for names with a slash.
    '/maker/plain-1:generateContent',
  ])('%s', async (path) => {
    upstream.answers = [json(chatReply({ content: 'Hi' }))]
    const response = await ask(path, HELLO)
    expect(response.status).toBe(200)
    expect(await response.json()).toMatchObject({ modelVersion: 'maker/plain-1' })
  })

  test('a preset is named in the place of a model', async () => {
    const made = await gateway.manage('POST', '/presets/brief/chat/completions', {
      model: 'maker/plain-1',
      temperature: 0.2,
      messages: [{ role: 'system', content: 'Be brief.' }],
    })
    expect(made.status).toBe(200)
    upstream.answers = [json(chatReply({ content: 'Hi' }))]
    const response = await ask('/models/@preset/brief:generateContent', {
      ...HELLO,
      generationConfig: { topP: 0.5 },
    })
    expect(response.status).toBe(200)
    expect(upstream.seen[0]?.body).toMatchObject({
      model: 'plain-1',
      temperature: 0.2,
      top_p: 0.5,
      messages: [{ role: 'system', content: 'Be brief.' }, { role: 'user' }],
    })
  })

  test('the key is taken from three places, and stands in no line of the log', async () => {
    const keyless = { 'x-goog-api-key': '' }
    upstream.answers = [json(chatReply({ content: 'Hi' })), json(chatReply({ content: 'Hi' }))]
    const url = `${gateway.url}/v1beta${PLAIN}`
    const init = { method: 'POST', body: JSON.stringify(HELLO) }
    expect((await fetch(`${url}?key=${API_KEY}`, init)).status).toBe(200)
    const bearer = { ...init, headers: { authorization: `Bearer ${API_KEY}` } }
    expect((await fetch(url, bearer)).status).toBe(200)
    expect((await fetch(url, { ...init, headers: keyless })).status).toBe(401)
    expect((await fetch(`${url}?key=sk-sl-v1-wrong`, init)).status).toBe(401)
    expect((await fetch(`${gateway.url}/v1beta/models?key=${API_KEY}`)).status).toBe(200)
    // Elsewhere an address is no place for a key.
    expect((await fetch(`${gateway.url}/api/v1/key?key=${API_KEY}`)).status).toBe(401)
    await Bun.sleep(0)
    expect(lines.join('')).toContain('/v1beta/models/maker/plain-1')
    expect(lines.join('')).not.toContain(API_KEY)
    expect(lines.join('')).not.toContain('sk-sl-v1-wrong')
  })
})

describe('streams', () => {
  const path = '/models/maker/plain-1:streamGenerateContent'

  test('without alt=sse are one JSON list', async () => {
    upstream.answers = [chatStream('One', ' two')]
    const response = await ask(path, HELLO)
    expect(response.headers.get('content-type')).toBe('application/json')
    expect(response.headers.get('x-generation-id')).toMatch(/^gen-/)
    const chunks = await response.json()
    const texts = chunks.map((each: { candidates: unknown[] }) => each.candidates[0])
    expect(texts).toMatchObject([
      { content: { role: 'model', parts: [{ text: 'One' }] }, index: 0 },
      { content: { parts: [{ text: ' two' }] } },
      { content: { parts: [{ text: '' }] }, finishReason: 'STOP' },
    ])
    expect(chunks.at(-1)).toMatchObject({ usageMetadata: { totalTokenCount: 15, cost: 0.00002 } })
  })

  test('that break off are a list with an error at its end', async () => {
    upstream.answers = [
      events(`data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: 'One' } }] })}\n\n`),
    ]
    const chunks = await (await ask(path, HELLO)).json()
    expect(chunks).toHaveLength(2)
    expect(chunks[1]).toMatchObject({ error: { code: 502, status: 'UNAVAILABLE' } })
    expect(JSON.stringify(chunks)).not.toContain('finishReason')
  })

  test('say an error as an event and bare, for clients that read one of them', async () => {
    upstream.answers = [
      events(`data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: 'One' } }] })}\n\n`),
    ]
    const text = await (await ask(`${path}?alt=sse`, HELLO)).text()
    const [first, second, bare] = text.split('\n\n')
    expect(first).toStartWith('data: {"candidates"')
    expect(second).toStartWith('data: {"error":{"code":502')
    expect(bare).toBe(`${second?.slice('data: '.length)}\n`)
  })

  test('have the usage that GET /generation tells', async () => {
    upstream.answers = [chatStream('One')]
    const response = await ask(`${path}?alt=sse`, HELLO, { 'x-service-metadata': 'enabled' })
    const id = response.headers.get('x-generation-id')
    const text = await response.text()
    expect(text).toContain('"service_metadata"')
    const generation = await (await gateway.call(`/generation?id=${id}`)).json()
    expect(generation.data).toMatchObject({ id, api_type: 'gemini', streamed: true, tokens_completion: 5 })
  })
})

describe('errors', () => {
  test.each([
    [PLAIN, {}, 400, 'INVALID_ARGUMENT', 'contents'],
    [
      PLAIN,
      { contents: [{ role: 'cat', parts: [{ text: 'x' }] }] },
      400,
      'INVALID_ARGUMENT',
      'contents[0].role',
    ],
    [PLAIN, { contents: [{ parts: [{ text: 5 }] }] }, 400, 'INVALID_ARGUMENT', 'contents[0].parts[0].text'],
    [
      PLAIN,
      { contents: [{ parts: [{ functionResponse: { name: 'f', response: {} } }] }] },
      400,
      'INVALID_ARGUMENT',
      'functionCall',
    ],
    [
      PLAIN,
      { ...HELLO, toolConfig: { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['f'] } } },
      400,
      'INVALID_ARGUMENT',
      'allowedFunctionNames',
    ],
    ['/models/nobody/nothing:generateContent', HELLO, 404, 'NOT_FOUND', 'nobody/nothing'],
    ['/models/maker/plain-1:cook', HELLO, 405, 'UNIMPLEMENTED', 'verb'],
    ['/tunedModels/x:generateContent', HELLO, 404, 'NOT_FOUND', 'tunedModels/x'],
    ['/files', HELLO, 404, 'NOT_FOUND', 'models/<model>:generateContent'],
  ] as const)('%s %j is %d %s', async (path, body, code, status, reason) => {
    const response = await ask(path, body)
    expect(response.status).toBe(code)
    const { error } = await response.json()
    expect(error).toMatchObject({ code, status })
    expect(error.message).toContain(reason)
    expect(upstream.seen).toEqual([])
  })

  test('below /v1 too, and the envelope beside it', async () => {
    const at = (path: string) =>
      fetch(`${gateway.url}/v1${path}`, {
        method: 'POST',
        body: '{}',
        headers: { 'x-goog-api-key': 'wrong' },
      })
    expect((await (await at(PLAIN)).json()).error.status).toBe('UNAUTHENTICATED')
    expect((await (await at('/chat/completions')).json()).error.status).toBeUndefined()
  })

  test('how long to wait stands in a RetryInfo', async () => {
    upstream.answers = [
      () =>
        Response.json({ error: { message: 'slow down' } }, { status: 429, headers: { 'retry-after': '7' } }),
    ]
    const response = await ask('/models/tide-1:generateContent', HELLO)
    expect(response.status).toBe(429)
    expect(response.headers.get('retry-after')).toBe('7')
    const { error } = await response.json()
    expect(error.status).toBe('RESOURCE_EXHAUSTED')
    expect(error.details).toContainEqual({
      '@type': 'type.googleapis.com/google.rpc.RetryInfo',
      retryDelay: '7s',
    })
  })
})
