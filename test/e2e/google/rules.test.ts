import { describe, expect, test } from 'bun:test'
import { chunk, DONE, usageChunk } from '../../upstream.ts'
import { events } from '../replies.ts'
import { chatReply, chatStream, json, startForGoogle } from './setup.ts'

/** Limits, guardrails, caches, files: as for callers of the other dialects. */

const { gateway, upstream, ask } = await startForGoogle()
const HELLO = { contents: [{ role: 'user', parts: [{ text: 'Hello' }] }] }
const PLAIN = '/models/maker/plain-1:generateContent'

describe('what the gateway does for every dialect', () => {
  const lamps = '/models/lamps:generateContent'
  const claude = {
    id: 'msg',
    type: 'message',
    role: 'assistant',
    content: [{ type: 'text', text: 'Hi' }],
    stop_reason: 'end_turn',
    usage: { input_tokens: 1, output_tokens: 1 },
  }

  test('names what another dialect cannot carry', async () => {
    upstream.answers = [json(claude)]
    const response = await ask(
      lamps,
      {
        ...HELLO,
        safety_settings: [{ category: 'HARM_CATEGORY_HATE_SPEECH', threshold: 'BLOCK_NONE' }],
        tools: [{ google_search: {} }],
        generation_config: { seed: 5, candidate_count: 1, media_resolution: 'MEDIA_RESOLUTION_LOW' },
      },
      { 'x-service-metadata': 'enabled' },
    )
    const { service_metadata: metadata } = await response.json()
    expect(metadata.params.dropped_parameters.toSorted()).toEqual([
      'generationConfig.mediaResolution',
      'safetySettings',
      'seed',
      'tools.googleSearch',
    ])
  })

  test('holds a key to its limit', async () => {
    const { key } = await gateway.makeKey({ limit: 0.00001 })
    const response = await ask(PLAIN, HELLO, { 'x-goog-api-key': key })
    expect(response.status).toBe(402)
    expect((await response.json()).error).toMatchObject({ code: 402, status: 'FAILED_PRECONDITION' })
  })

  test('redacts and blocks by its guardrails, in requests and answers', async () => {
    const { key } = await gateway.makeGuardedKey({
      content_filters: [{ pattern: 'swordfish', action: 'redact' }],
      content_filter_builtins: [{ slug: 'email', action: 'redact', apply_to: 'both' }],
    })
    const unfiltered = 'Ask ann@site.example'
    upstream.answers = [
      json(chatReply({ content: unfiltered })),
      chatStream('Ask ann', '@site', '.example'),
      json(claude),
    ]
    const asked = {
      system_instruction: 'The word is swordfish',
      contents: [
        { role: 'user', parts: [{ text: 'My swordfish is bob@site.example' }] },
        { role: 'model', parts: [{ functionCall: { name: 'f', args: { url: 'swordfish' } } }] },
        { role: 'user', parts: [{ functionResponse: { name: 'f', response: { output: 'a swordfish' } } }] },
      ],
    }
    const reply = await (await ask(PLAIN, asked, { 'x-goog-api-key': key })).json()
    expect(JSON.stringify(upstream.seen[0]?.body)).not.toContain('swordfish')
    expect(JSON.stringify(upstream.seen[0]?.body)).not.toContain('bob@')
    expect(reply.candidates[0].content.parts[0].text).toBe('Ask [REDACTED:email]')
    const stream = await ask('/models/maker/plain-1:streamGenerateContent', HELLO, {
      'x-goog-api-key': key,
    })
    const text = await stream.text()
    expect(text).not.toContain('ann')
    expect(text).toContain('[REDACTED:email]')
  })

  test('serves a cache hit in either form', async () => {
    upstream.answers = [chatStream('Kept', ' words')]
    const headers = { 'x-openrouter-cache': 'true' }
    const body = { contents: [{ parts: [{ text: 'Something to keep' }] }] }
    const first = await ask('/models/maker/plain-1:streamGenerateContent?alt=sse', body, headers)
    await first.text()
    const again = await ask(PLAIN, body, headers)
    expect(again.headers.get('x-openrouter-cache-status')).toBe('HIT')
    const reply = await again.json()
    expect(reply.candidates[0]).toMatchObject({
      content: { parts: [{ text: 'Kept words' }] },
      finishReason: 'STOP',
    })
    expect(reply.usageMetadata.cost).toBe(0)
  })

  test('an uploaded file is named by its id', async () => {
    const form = new FormData()
    const pixel = Buffer.from(
      'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
      'base64',
    )
    form.set('file', new File([pixel], 'dot.png', { type: 'image/png' }))
    const { id } = await (await gateway.call('/files', form)).json()
    upstream.answers = [
      json(chatReply({ content: 'A dot' })),
      json({ candidates: [{ content: { parts: [{ text: 'x' }] }, finishReason: 'STOP' }] }),
    ]
    const body = { contents: [{ parts: [{ text: 'See' }, { fileData: { fileUri: id } }] }] }
    expect((await ask(PLAIN, body)).status).toBe(200)
    expect(JSON.stringify(upstream.seen[0]?.body)).toContain(
      `data:image/png;base64,${pixel.toString('base64')}`,
    )
    expect((await ask('/models/tides:generateContent', body)).status).toBe(200)
    expect(upstream.seen[1]?.body).toMatchObject({
      contents: [{ parts: [{}, { inlineData: { mimeType: 'image/png', data: pixel.toString('base64') } }] }],
    })
    const private_ = { contents: [{ parts: [{ fileData: { fileUri: 'http://127.0.0.1/x.png' } }] }] }
    expect((await ask(PLAIN, private_)).status).toBe(400)
  })

  test('several candidates of a chat provider', async () => {
    const both = [0, 1].map((index) => ({
      index,
      message: { role: 'assistant', content: `Answer ${index}` },
      finish_reason: index === 0 ? 'stop' : 'length',
    }))
    upstream.answers = [
      json({ ...chatReply({ content: '' }), choices: both }),
      events(
        chunk({}, null, {
          choices: both.map(({ index, message }) => ({ index, delta: message, finish_reason: null })),
        }),
        chunk({}, null, {
          choices: both.map(({ index, finish_reason }) => ({ index, delta: {}, finish_reason })),
        }),
        usageChunk(),
        DONE,
      ),
    ]
    const body = { ...HELLO, generationConfig: { candidateCount: 2 } }
    const ends = [
      { index: 0, finishReason: 'STOP' },
      { index: 1, finishReason: 'MAX_TOKENS' },
    ]
    const reply = await (await ask(PLAIN, body)).json()
    expect(reply.candidates).toMatchObject(ends)
    expect(upstream.seen[0]?.body['n']).toBe(2)
    const chunks = await (await ask('/models/maker/plain-1:streamGenerateContent', body)).json()
    expect(chunks.at(-1).candidates).toMatchObject(ends)
  })
})
