import { describe, expect, test } from 'bun:test'
import type { Attempt } from '../../../src/core/attempt.ts'
import type { InferenceRequest } from '../../../src/core/request.ts'
import type { DialectCall, MadeContext } from '../../../src/dialects/dialect.ts'
import { throughContext } from '../../../src/inference/context-cache/apply.ts'
import { Busy, createContextStore } from '../../../src/inference/context-cache/store.ts'
import { endpoint, model, provider, request } from '../fixture.ts'

/** How long a request waits for a cache that is made, and what comes of those that are made too late. */

const lab = {
  ...endpoint('lab', 'lab/tiny'),
  pricing: { prompt: 1n, completion: 1n, request: 0n, inputCacheWrite: 1n },
}
const attempt: Attempt = {
  model: model('lab/tiny', [lab]),
  endpoint: lab,
  provider: provider('lab'),
  credential: { id: 'lab-1', secret: 'secret' },
  dialect: 'gemini',
}
const asked: InferenceRequest = request({})
const plain: DialectCall = {
  path: '/models/tiny:generateContent',
  headers: {},
  body: { contents: [] },
  dropped: [],
}
const call: DialectCall = {
  ...plain,
  dropped: ['seed', 'cache_control'],
  cuts: () => [
    {
      kept: { text: 'long' },
      tokens: 5_000,
      make: (ttl) => ({ ...plain, path: '/cachedContents', body: { ttl } }),
      bodyWith: (name) => ({ cachedContent: name }),
    },
  ],
}
const never = () => new Promise<void>(() => undefined)

function world(wait: (ms: number, signal: AbortSignal) => Promise<void> = never) {
  const contexts = createContextStore(() => 1_000)
  const making = Promise.withResolvers<MadeContext>()
  let asks = 0
  const make = (): Promise<MadeContext> => {
    asks += 1
    return making.promise
  }
  const through = (signal = new AbortController().signal) =>
    throughContext(call, { request: asked, attempt, owner: 'w', signal }, { contexts, wait }, make)
  return { through, making, asks: () => asks }
}

describe('a cache that is long in the making', () => {
  test('is waited for, and the call names it', async () => {
    const { through, making } = world()
    const used = through()
    making.resolve({ name: 'c1', tokens: 5_000 })
    expect((await used)?.call).toMatchObject({ body: { cachedContent: 'c1' }, dropped: ['seed'] })
  })

  test('is not waited for without end, and is there for the next one', async () => {
    const waits: number[] = []
    const { through, making, asks } = world((ms) => {
      waits.push(ms)
      return Promise.resolve()
    })
    expect(await through()).toBeNull()
    expect(await through()).toBeNull()
    expect(asks()).toBe(1)
    expect(waits).toEqual([15_000, 15_000])
    making.resolve({ name: 'c1', tokens: null })
    await making.promise
    await Promise.resolve()
    expect((await through())?.context).toMatchObject({ name: 'c1', isPaid: false })
    expect(asks()).toBe(1)
  })

  test('is made to its end although the caller leaves', async () => {
    const { through, making } = world(
      (_, signal) =>
        new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
    )
    const caller = new AbortController()
    const used = through(caller.signal)
    caller.abort(new Error('left'))
    await expect(used).rejects.toThrow('left')
    making.resolve({ name: 'c1', tokens: 5_000 })
    expect((await through())?.context.name).toBe('c1')
  })

  test.each([
    ['the provider refuses', new Error('refused'), 1],
    ['all places are taken', new Busy('busy'), 2],
  ])('%s: whether the next one tries', async (_, error, times) => {
    const { through, making, asks } = world()
    making.reject(error)
    expect(await through()).toBeNull()
    expect(await through()).toBeNull()
    expect(asks()).toBe(times)
  })

  test('fails for all who wait, and is not tried again', async () => {
    const { through, making, asks } = world()
    const both = [through(), through()]
    making.reject(new Error('refused'))
    expect(await Promise.all(both)).toEqual([null, null])
    expect(await through()).toBeNull()
    expect(asks()).toBe(1)
  })
})
