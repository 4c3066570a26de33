import { beforeEach, describe, expect, test } from 'bun:test'
import { gatewayOfFile } from '../../file-setup.ts'
import { startUpstream, unary } from '../../upstream.ts'
import { askAs, CALLERS } from '../callers.ts'
import { providersOf, REPLIES } from '../providers.ts'

/** Healing as callers of each dialect see it, before providers of each dialect. */

const upstream = startUpstream()
const gateway = await gatewayOfFile({ providers: providersOf(upstream.baseUrl) }, upstream)

const schema = {
  type: 'object',
  properties: { city: { type: 'string' } },
  required: ['city'],
  additionalProperties: false,
}
const plugins = [{ id: 'response-healing' }]
const BROKEN = ['Sure:\n```json\n{"ci', 'ty": \'Ro', "me',}\n```"]
const HEALED = '{"city": "Rome"}'

/** A provider of Gemini's dialect is sent no model in the body. */
const answerWith = (dialect: string, pieces: readonly string[], stream: boolean): void => {
  for (const name of [dialect, 'undefined']) upstream.on(name, REPLIES[dialect]!(pieces, stream))
}

beforeEach(() => {
  upstream.seen.length = 0
})

const combinations = CALLERS.flatMap((caller) =>
  Object.keys(REPLIES).flatMap((model) =>
    [false, true].map((stream) => ({ name: caller.dialect, caller, model, stream })),
  ),
)

describe.each(combinations)('$name caller, $model provider, stream: $stream', ({ caller, model, stream }) => {
  test('a broken answer is repaired', async () => {
    answerWith(model, BROKEN, stream)
    const { status, text, pipeline, raw } = await askAs(gateway, caller, 'Where?', {
      model,
      stream,
      schema,
      more: { plugins },
    })
    expect({ status, text }).toEqual({ status: 200, text: HEALED })
    expect(raw).not.toContain('```')
    expect(pipeline).toEqual([
      {
        type: 'response_healing',
        name: 'response-healing',
        data: {
          ...(stream ? { held_back: true } : {}),
          choices: [{ choice: 0, result: 'healed', repairs: ['quotes', 'commas', 'code_fence', 'prose'] }],
        },
      },
    ])
  })

  test('a whole answer is what it is without the plugin', async () => {
    answerWith(model, ['{"city"', ' : "Rome"}\n'], stream)
    const healed = await askAs(gateway, caller, 'Where?', { model, stream, schema, more: { plugins } })
    expect(healed.text).toBe('{"city" : "Rome"}\n')
    const usual = await askAs(gateway, caller, 'Where?', { model, stream, schema })
    expect(healed.json.length).toBe(usual.json.length)
  })
})

describe.each(CALLERS.map((caller) => ({ name: caller.dialect, caller })))('$name', ({ caller }) => {
  const ask = (stream: boolean, more: Record<string, unknown> = {}) =>
    askAs(gateway, caller, 'Where?', { stream, schema, more: { plugins, ...more } })

  test('an answer that cannot be repaired is a 502 that says why, and is charged', async () => {
    answerWith('chat', ['I do not know.'], false)
    const { status, raw } = await ask(false)
    expect(status).toBe(502)
    expect(raw).toContain("The model's answer is not JSON: it contains no JSON")
    expect(gateway.generations().at(-1)).toMatchObject({ cost_nano_usd: 20_000 })
  })

  test('in a stream it is an error event', async () => {
    answerWith('chat', ['I do ', 'not know.'], true)
    const { text, raw } = await ask(true)
    expect(text).toBe('')
    expect(raw).toContain("The model's answer is not JSON: it contains no JSON")
  })

  test('it is asked for again by the same model if the caller wants that', async () => {
    for (const stream of [false, true]) {
      const first = REPLIES['chat']!(['No ', 'idea.'], stream)
      upstream.inTurn('chat', [first, unary('{city: "Rome"}')])
      const { status, text, pipeline } = await ask(stream, {
        plugins: [{ id: 'response-healing', retry: 1 }],
      })
      expect({ status, text }).toEqual({ status: 200, text: HEALED })
      expect(pipeline[0]).toMatchObject({ data: { choices: [{ repairs: ['asked_again', 'unquoted'] }] } })
      const [, second] = upstream.seen.splice(0)
      expect(second?.body['messages']).toMatchObject([
        { role: 'user' },
        { role: 'assistant', content: 'No idea.' },
        { role: 'user', content: expect.stringContaining('is not JSON: it contains no JSON') },
      ])
      const [a, b] = gateway.generations().slice(-2)
      const [parent, child] = a?.['parent_id'] === null ? [a, b] : [b, a]
      expect(child).toMatchObject({ parent_id: parent?.['id'], model: 'chat' })
    }
  })

  test('without a format an answer stays as it is', async () => {
    answerWith('chat', ['{a: 1}'], false)
    const { text, pipeline } = await askAs(gateway, caller, 'Where?', { more: { plugins } })
    expect({ text, pipeline }).toEqual({ text: '{a: 1}', pipeline: [] })
  })

  test('a wrong retry is a 400 with its place', async () => {
    const { status, raw } = await ask(false, { plugins: [{ id: 'response-healing', retry: 2 }] })
    expect(status).toBe(400)
    expect(raw).toContain('plugins[0].retry')
  })
})
