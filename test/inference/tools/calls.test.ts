/** Bounds of single calls, with tools that misbehave. */
import { expect, test } from 'bun:test'
import { GatewayError } from '../../../src/core/errors.ts'
import { createCallRunner } from '../../../src/inference/tools/calls.ts'
import type { ServerTool } from '../../../src/tools/tool.ts'
import { gatewayOfFile } from '../../file-setup.ts'
import { API_KEY } from '../../gateway.ts'
import { familyOf } from '../steps/family.ts'

const gateway = await gatewayOfFile({})

const describe = () => ({ description: '', parameters: { type: 'object' } })

/** A runner of one tool that does `run`; a call may take `callMs`. */
function runnerOf(run: ServerTool['run'], callMs = 60_000, signal?: AbortSignal) {
  const { family } = familyOf(gateway, API_KEY, signal)
  const tool = { name: 'odd', describe, run }
  const byFunction = new Map([['odd', { tool, type: 'openrouter:odd', parameters: { mood: 'calm' } }]])
  const stop = { conditions: [], mostCalls: 100 }
  const runner = createCallRunner({ byFunction, stop }, callMs, family, gateway.deps.run)
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

test('any other error is told to the model, shortened', async () => {
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
