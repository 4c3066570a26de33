/** Bounds of single calls, with tools that misbehave. */
import { describe, expect, test } from 'bun:test'
import { GatewayError } from '../../../src/core/errors.ts'
import { beginConversation } from '../../../src/inference/conversation/run.ts'
import { facilitiesOf } from '../../../src/inference/steps/facilities.ts'
import { createCallRunner } from '../../../src/inference/tools/calls.ts'
import type { ServerTool } from '../../../src/tools/tool.ts'
import { gatewayOfFile, labOf } from '../../file-setup.ts'
import { API_KEY } from '../../gateway.ts'
import { noTools } from '../../tools/context.ts'
import { startUpstream, unary } from '../../upstream.ts'
import { conversation, familyOf } from '../steps/family.ts'

const upstream = startUpstream()
const gateway = await gatewayOfFile(
  {
    providers: [
      labOf(upstream, [{ id: 'cent', pricing: { prompt: '0', completion: '0', request: '0.01' } }]),
    ],
  },
  upstream,
)

const described = () => ({ description: '', parameters: { type: 'object' } })

/** A runner of one tool that does `tested`; a call may take `callMs`. */
function runnerOf(tested: ServerTool['run'], callMs = 60_000, signal?: AbortSignal) {
  const { run } = gateway.deps
  const { family } = familyOf(gateway, API_KEY, signal)
  const tool = { name: 'odd', describe: described, run: tested }
  const byFunction = new Map([
    ['odd', { tool, type: 'openrouter:odd', parameters: { mood: 'calm' }, path: '' }],
  ])
  const stop = { conditions: [], mostCalls: 100 }
  const runner = createCallRunner(
    { byFunction, stop },
    {
      family,
      deps: run,
      facilitiesOf: (each) => facilitiesOf(each, run, beginConversation),
      access: noTools,
      callMs,
    },
  )
  let calls = 0
  return () => runner.start({ id: `c${calls}`, name: 'odd', json: `{"n":${calls++}}`, isTooLong: false })
}

const never = (): Promise<never> => new Promise(() => undefined)

test('a tool that hangs has failed after its time, although it does not heed the signal', async () => {
  let signal: AbortSignal | null = null
  const start = runnerOf((_, context) => {
    signal = context.signal
    return never()
  }, 1)
  const { message, call } = await start().ended
  expect(message).toContain('it took longer than')
  expect(call.status).toBe('failed')
  expect(signal).toHaveProperty('aborted', true)
})

test('a request that is cancelled ends its calls', async () => {
  const client = new AbortController()
  const start = runnerOf(never, 60_000, client.signal)
  const { ended } = start()
  client.abort(new Error('left'))
  expect((await ended).message).toContain('left')
})

test('a tool sees the parameters of the request and how often it was called', async () => {
  const start = runnerOf(async (args, { parameters, uses }) => ({
    text: JSON.stringify({ args, parameters, uses }),
  }))
  await start().ended
  const { call } = await start().ended
  expect(JSON.parse(call.text)).toEqual({ args: { n: 1 }, parameters: { mood: 'calm' }, uses: 1 })
})

test('long results are cut, and all results together are bounded', async () => {
  const start = runnerOf(async () => ({ text: 'x'.repeat(10_000_000) }))
  let length = 0
  for (let i = 0; i < 40; i++) {
    const { message } = await start().ended
    expect(message).toContain('[The rest was left out: it is too long]')
    length += message.length
  }
  expect(length).toBeLessThan(1_100_000)
})

test.each([402, 403, 429])('a refusal with %d ends the request', async (status) => {
  const start = runnerOf(() => Promise.reject(new GatewayError(status, 'no')))
  expect((await start().ended).refusal?.status).toBe(status)
})

test('any other error is a failed result for the model, shortened', async () => {
  for (const error of [
    new GatewayError(502, 'the engine is away'),
    new TypeError('y'.repeat(5_000)),
    'text',
  ]) {
    const start = runnerOf(() => Promise.reject(error))
    const { refusal, message } = await start().ended
    expect(refusal).toBeNull()
    expect(message).toStartWith('The call of odd failed: ')
    expect(message.length).toBeLessThan(1_100)
  }
})

test('an error that is thrown at once is one of the call', async () => {
  const start = runnerOf(() => {
    throw new Error('at once')
  })
  expect((await start().ended).message).toBe('The call of odd failed: at once')
})

describe('a tool asks a model', () => {
  const asking: ServerTool['run'] = async (_, { ask }) => {
    const { result } = await ask(conversation('cent'), { kind: 'tool' })
    return { text: result.choices[0]?.text ?? '' }
  }
  const last = () => gateway.generations().at(-1)

  test('as a step that is paid for', async () => {
    upstream.on('cent', unary('An answer'))
    expect((await runnerOf(asking)().ended).call.text).toBe('An answer')
    expect(last()).toMatchObject({ step: '{"kind":"tool"}', cost_nano_usd: 10_000_000 })
  })

  test('that is settled when a call that took too long has failed', async () => {
    upstream.on('cent', never)
    const { message } = await runnerOf(asking, 1)().ended
    expect(message).toContain('it took longer than')
    expect(last()).toMatchObject({ step: '{"kind":"tool"}', cancelled: 1 })
    expect(gateway.deps.ledger.heldNanoUsd()).toBe(0)
  })

  test('a limit of a provider is one for the model', async () => {
    upstream.on('cent', () => new Response('', { status: 429 }))
    const { message, refusal } = await runnerOf(asking)().ended
    expect(message).toContain('rate limit is reached')
    expect(refusal).toBeNull()
  })
})
