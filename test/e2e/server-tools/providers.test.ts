/** The loop with a provider of each dialect: its thoughts, signatures, text and calls are sent back to it with the results. */
import { beforeEach, expect, test } from 'bun:test'
import { asList, isObject, objectsIn } from '../../../src/core/json.ts'
import { gatewayOfFile } from '../../file-setup.ts'
import { CALLERS, jsonIn } from '../../plugins/callers.ts'
import { startUpstream } from '../../upstream.ts'
import { ANSWER, geminiReply, TURNS } from './provider-turns.ts'

const upstream = startUpstream()
const gateway = await gatewayOfFile(
  {
    providers: Object.entries(TURNS).map(([dialect, { upstreamId }]) => ({
      slug: `lab-${dialect}`,
      dialect,
      base_url: upstream.baseUrl,
      api_key: 'secret',
      models: [
        {
          id: dialect,
          upstream_id: upstreamId,
          pricing: { prompt: '0.000001', completion: '0.000002' },
        },
      ],
    })),
  },
  upstream,
)
beforeEach(() => {
  upstream.seen.length = 0
})

/** How each caller asks for thoughts. */
const THINKING: Readonly<Record<string, object>> = {
  chat: { reasoning: { max_tokens: 1024 }, max_tokens: 2000 },
  responses: { reasoning: { effort: 'low', summary: 'auto' }, max_output_tokens: 2000 },
  messages: { thinking: { type: 'enabled', budget_tokens: 1024 }, max_tokens: 2000 },
  gemini: {
    generationConfig: {
      maxOutputTokens: 2000,
      thinkingConfig: { includeThoughts: true, thinkingBudget: 1024 },
    },
  },
}

const rows = Object.keys(TURNS).flatMap((provider) =>
  CALLERS.flatMap((caller) =>
    [false, true].map((stream) => ({ caller, provider, stream, as: caller.dialect })),
  ),
)

test.each(rows)('a caller of $as, a provider of $provider, streamed: $stream', async (row) => {
  const { caller, provider, stream } = row
  const turn = TURNS[provider]
  if (turn === undefined) throw new Error(provider)
  for (const name of [turn.upstreamId, 'undefined']) upstream.inTurn(name, [turn.calls, turn.answers])
  const { path, body } = caller.ask(provider, 'What is 6 * 7, and 1 + 1?', stream)
  const response = await gateway.call(path, {
    ...body,
    ...THINKING[caller.dialect],
    tools: [{ type: 'openrouter:calculator' }],
  })
  const raw = await response.text()
  expect(response.status, raw).toBe(200)
  expect(upstream.seen).toHaveLength(2)
  const [before, after] = upstream.seen.map((seen) => seen.body)
  const asked = asList(before?.[turn.field])
  expect(asList(after?.[turn.field])).toEqual([...asked, ...turn.replayed])
  // The rest of the request, such as how to think, is the same.
  expect({ ...after, [turn.field]: null }).toEqual({ ...before, [turn.field]: null })
  for (const sent of [before, after]) {
    const tools = provider === 'converse' ? sent?.['toolConfig'] : sent?.['tools']
    expect(tools).toEqual(turn.tools)
  }
  expect(raw).toContain(ANSWER)
  // A stream may have the thought in pieces.
  expect(raw).toContain('Two ')
  expect(jsonIn(raw).filter((json) => isObject(json) && json['error'])).toEqual([])
})

test('ids of calls that a provider of gemini uses again: each call keeps its own signature', async () => {
  const part = (expression: string, thoughtSignature: string) => ({
    functionCall: { id: 'same', name: 'calculator', args: { expression } },
    thoughtSignature,
  })
  const turns = [[part('1', 'b25l')], [part('2', 'dHdv')], [{ text: ANSWER }]].map(geminiReply)
  upstream.inTurn('undefined', turns)
  const response = await gateway.call('/chat/completions', {
    model: 'gemini',
    messages: [{ role: 'user', content: 'Two steps' }],
    tools: [{ type: 'openrouter:calculator' }],
  })
  expect(response.status).toBe(200)
  const contents = objectsIn(upstream.seen[2]?.body['contents'])
  expect(contents.filter(({ role }) => role === 'model').map(({ parts }) => parts)).toEqual([
    [part('1', 'b25l')],
    [{ ...part('2', 'dHdv'), functionCall: { name: 'calculator', args: { expression: '2' } } }],
  ])
})
