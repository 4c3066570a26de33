import { describe, expect, test } from 'bun:test'
import type { Attempt } from '../../../../src/core/attempt.ts'
import { NO_USAGE, type Usage } from '../../../../src/core/usage.ts'
import type { DialectCall, MadeContext } from '../../../../src/dialects/dialect.ts'
import { throughContext } from '../../../../src/inference/upstream/context-cache/apply.ts'
import { withWriting } from '../../../../src/inference/upstream/context-cache/charge.ts'
import { Busy, createContextStore, TooShort } from '../../../../src/inference/upstream/context-cache/store.ts'
import { endpoint, model, provider, request } from '../../fixture.ts'

/** When a beginning is kept, how long, and for whom. */

const written = { prompt: 1n, completion: 1n, request: 0n, inputCacheWrite: 1n }
const attemptWith = (credentialId: string): Attempt => {
  const lab = { ...endpoint('lab', 'lab/tiny'), pricing: written }
  return {
    model: model('lab/tiny', [lab]),
    endpoint: lab,
    provider: provider('lab'),
    credential: { id: credentialId, secret: 'secret' },
    dialect: 'gemini',
  }
}
const plain: DialectCall = { path: '/models/tiny:x', headers: {}, body: { contents: [] }, dropped: [] }

/** A call that is marked at the last of these lengths, in tokens; each is the beginning of the next. */
const callOf = (...lengths: number[]): DialectCall => ({
  ...plain,
  dropped: ['seed', 'cache_control'],
  breakpoints: () =>
    lengths.map((tokens, index) => ({
      adds: `${tokens};`,
      tokens,
      share: tokens / Number(lengths.at(-1)),
      isMarked: index === lengths.length - 1,
      make: (ttl) => ({ ...plain, path: '/cachedContents', body: { ttl, tokens } }),
      bodyWith: (name) => ({ cachedContent: name, tokens }),
    })),
})

interface Asked {
  read?: number
  owner?: string
  credential?: string
  /** Tokens of the provider for one of our rough count. */
  density?: number
  /** Nothing was counted. */
  fails?: boolean
}

function world() {
  let now = 1_000_000
  const contexts = createContextStore(() => now)
  const made: unknown[] = []
  let answer: () => Promise<MadeContext> = async () => ({ name: `c${made.length}`, tokens: null })
  const use = (call: DialectCall, { owner = 'w', credential = 'lab-1' }: Asked = {}) =>
    throughContext(
      call,
      { preferences: request().preferences, attempt: attemptWith(credential), owner },
      contexts,
      (making) => {
        made.push(making.body['tokens'])
        return answer()
      },
    )
  /** The name of the cache that the call was read from; by default all of that was read, else nothing. */
  const ask = async (call: DialectCall, asked: Asked = {}): Promise<unknown> => {
    const used = use(call, asked)
    const name = used?.call.body['cachedContent'] ?? null
    const read = asked.read ?? (name === null ? 0 : Number(used?.call.body['tokens']) * (asked.density ?? 1))
    // Of a provider that counts as much as we do, or so many times it.
    const prompt = (call.breakpoints?.().at(-1)?.tokens ?? 0) * (asked.density ?? 1)
    const usage: Usage = { ...NO_USAGE, cacheReadTokens: read, inputTokens: prompt - read }
    used?.settled(asked.fails ? null : usage)
    await contexts.whenIdle()
    return name
  }
  return {
    ask,
    use,
    contexts,
    made,
    later: (ms: number) => {
      now += ms
    },
    answerWith: (next: () => Promise<MadeContext>) => {
      answer = next
    },
  }
}

describe('a prefix is cached', () => {
  test('once it came again and nothing else kept it', async () => {
    const { ask, made } = world()
    expect(await ask(callOf(5_000))).toBeNull()
    expect(made).toEqual([])
    expect(await ask(callOf(5_000))).toBeNull()
    expect(made).toEqual([5_000])
    expect(await ask(callOf(5_000))).toBe('c1')
    expect(await ask(callOf(5_000))).toBe('c1')
    expect(made).toEqual([5_000])
  })

  test('not while the automatic cache of the provider does', async () => {
    const { ask, made } = world()
    for (let i = 0; i < 5; i++) expect(await ask(callOf(5_000), { read: 2_500 })).toBeNull()
    expect(made).toEqual([])
    await ask(callOf(5_000), { read: 2_499 })
    expect(made).toEqual([5_000])
  })

  test('not of an answer that failed', async () => {
    const { ask, made } = world()
    for (let i = 0; i < 5; i++) await ask(callOf(5_000), { fails: true })
    expect(made).toEqual([])
  })

  test('not where it comes again too late', async () => {
    const { ask, made, later } = world()
    for (let i = 0; i < 3; i++) {
      await ask(callOf(5_000))
      later(300_000)
    }
    expect(made).toEqual([])
  })

  test('not where it is short', async () => {
    const { ask, made } = world()
    for (let i = 0; i < 3; i++) await ask(callOf(1_023))
    expect(made).toEqual([])
  })

  test('for one workspace and one account', async () => {
    const { ask, made } = world()
    for (let i = 0; i < 2; i++) await ask(callOf(5_000))
    expect(await ask(callOf(5_000), { owner: 'x' })).toBeNull()
    expect(await ask(callOf(5_000), { credential: 'lab-2' })).toBeNull()
    expect(await ask(callOf(5_000))).toBe('c1')
    expect(made).toEqual([5_000])
  })

  test.each([0.1, 1, 10])(
    'of a mark that rolls along, twice as long each time, where one of ours is %p of theirs',
    async (density) => {
      const { ask, made } = world()
      const names = []
      for (let turn = 1; turn <= 40; turn++) {
        names.push(await ask(callOf(...Array.from({ length: turn }, (_, i) => 2_000 + i * 500)), { density }))
      }
      expect(made).toEqual([2_000, 4_500, 9_500, 19_500])
      expect(names.slice(0, 3)).toEqual([null, null, 'c1'])
      expect(names.filter((name) => name === null)).toHaveLength(2)
    },
  )
})

describe('what is kept', () => {
  test('is named until shortly before it ends, from its making', async () => {
    const { ask, later, answerWith } = world()
    await ask(callOf(5_000))
    answerWith(async () => {
      later(20_000)
      return { name: 'slow', tokens: 5_000 }
    })
    await ask(callOf(5_000))
    later(264_999)
    expect(await ask(callOf(5_000))).toBe('slow')
    later(1)
    expect(await ask(callOf(5_000))).toBeNull()
  })

  test('is not used any more by a call that was refused with it, nor is another made for five minutes', async () => {
    const { ask, use, made, later } = world()
    for (let i = 0; i < 2; i++) await ask(callOf(5_000))
    use(callOf(5_000))?.refused()
    for (let i = 0; i < 4; i++) {
      expect(await ask(callOf(5_000))).toBeNull()
      later(74_000)
    }
    expect(made).toHaveLength(1)
    later(4_000)
    await ask(callOf(5_000))
    expect(made).toHaveLength(2)
  })

  test('a rejected cache is forgotten, a newer one is not', async () => {
    const { ask, use, later } = world()
    for (let i = 0; i < 2; i++) await ask(callOf(5_000))
    const slow = use(callOf(5_000))
    use(callOf(5_000))?.refused()
    later(300_000)
    for (let i = 0; i < 2; i++) await ask(callOf(5_000))
    expect(await ask(callOf(5_000))).toBe('c2')
    slow?.refused()
    expect(await ask(callOf(5_000))).toBe('c2')
  })
})

describe('where it cannot be made', () => {
  test.each([
    ['all places are taken: tried again at once', new Busy(), 5, 5],
    ['it is too short: others are still tried', new TooShort(), 1, 2],
    ['the provider refuses: nothing is tried for a while', new Error('refused'), 1, 1],
  ])('%s', async (_, error, times, withOthers) => {
    const { ask, made, later, answerWith } = world()
    answerWith(() => Promise.reject(error))
    for (let i = 0; i < 6; i++) expect(await ask(callOf(5_000))).toBeNull()
    expect(made).toHaveLength(times)
    if (times > 1) return
    for (let i = 0; i < 2; i++) await ask(callOf(9_000))
    expect(made).toHaveLength(withOthers)
    // Another workspace is not held to it.
    for (let i = 0; i < 2; i++) await ask(callOf(5_000), { owner: 'x' })
    expect(made).toHaveLength(withOthers + 1)
    later(300_000)
    for (let i = 0; i < 2; i++) await ask(callOf(5_000))
    expect(made).toHaveLength(withOthers + 2)
  })

  test('one is under way: no longer one is begun beside it', async () => {
    const { use, contexts, made, answerWith } = world()
    const making = Promise.withResolvers<MadeContext>()
    answerWith(() => making.promise)
    for (let turn = 1; turn <= 10; turn++) {
      const call = callOf(...Array.from({ length: turn }, (_, i) => 2_000 + i * 500))
      use(call)?.settled({ ...NO_USAGE, inputTokens: 10_000 })
    }
    expect(made).toEqual([2_000])
    making.resolve({ name: 'c', tokens: null })
    await contexts.whenIdle()
  })

  test('usage that is reported after the settlement is not charged', async () => {
    const { ask, use } = world()
    for (let i = 0; i < 2; i++) await ask(callOf(5_000))
    const late = use(callOf(5_000))
    if (!late?.context) throw new Error('nothing was kept')
    late.settled(null)
    const usage: Usage = { ...NO_USAGE, cacheReadTokens: 5_000 }
    const replied = async function* () {
      yield [{ events: [{ type: 'usage' as const, usage }] }]
    }
    for await (const batch of withWriting(replied(), late.context, late.claim)) {
      expect(batch[0]?.events[0]).toEqual({ type: 'usage', usage })
    }
    expect(late.context.making).toBe('open')
  })

  test('one is under way: it is not created twice, and no request waits', async () => {
    const { use, contexts, made, answerWith } = world()
    const making = Promise.withResolvers<MadeContext>()
    answerWith(() => making.promise)
    for (let i = 0; i < 5; i++) {
      const used = use(callOf(5_000))
      expect(used?.context).toBeNull()
      used?.settled({ ...NO_USAGE, inputTokens: 5_000 })
    }
    expect(made).toHaveLength(1)
    making.resolve({ name: 'c', tokens: 5_000 })
    await contexts.whenIdle()
    expect(use(callOf(5_000))?.call).toMatchObject({ body: { cachedContent: 'c' }, dropped: ['seed'] })
  })
})
