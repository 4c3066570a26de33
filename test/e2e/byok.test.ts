import { describe, expect, test } from 'bun:test'
import { dataLines } from '../upstream.ts'
import { startForByok } from './byok-setup.ts'

/** The order in which BYOK keys and the gateway’s credentials are tried. */

const { gateway, calls, bring, ask, askedBy } = await startForByok()

describe('the order of attempts', () => {
  const all = { a: 500, b: 500, shared: 500, f: 500 }
  type Row = [what: string, keys: [name: string, fields: object][], refused: object, asked: string[]]
  const rows: Row[] = [
    ['none', [], {}, ['shared']],
    ['one, which answers', [['a', {}]], {}, ['a']],
    ['one that is disabled', [['a', { disabled: true }]], {}, ['shared']],
    [
      'two, in the order of creation',
      [
        ['b', {}],
        ['a', {}],
      ],
      { b: 401 },
      ['b', 'a'],
    ],
    ['one that is refused', [['a', {}]], { a: 401 }, ['a', 'shared']],
    ['one without money', [['a', {}]], { a: 402 }, ['a', 'shared']],
    ['one without permission', [['a', {}]], { a: 403 }, ['a', 'shared']],
    ['one at its rate limit', [['a', {}]], { a: 429 }, ['a', 'shared']],
    [
      'two that are refused',
      [
        ['a', {}],
        ['b', {}],
      ],
      { a: 401, b: 401 },
      ['a', 'b', 'shared'],
    ],
    ['a fallback alone', [['f', { is_fallback: true }]], {}, ['shared']],
    [
      'a fallback behind all others',
      [
        ['f', { is_fallback: true }],
        ['a', {}],
      ],
      { a: 401, shared: 401 },
      ['a', 'shared', 'f'],
    ],
    ['required', [['a', { is_required: true }]], { a: 401 }, ['a']],
    ['only', [['a', { is_byok_only: true }]], { a: 401 }, ['a']],
    ['required for another model', [['a', { is_required: true, allowed_models: ['large'] }]], {}, ['shared']],
    [
      'required for this one',
      [['a', { is_required: true, allowed_models: ['tiny'] }]],
      { a: 500 },
      ['a', 'a'],
    ],
    ['for another model', [['a', { allowed_models: ['large'] }]], {}, ['shared']],
    ['for a model by its name at the gateway', [['a', { allowed_models: ['one/tiny'] }]], {}, ['a']],
    ['for no model', [['a', { allowed_models: [] }]], {}, ['shared']],
    ['for no user', [['a', { allowed_user_ids: [] }]], {}, ['shared']],
    ['of another provider', [['a', { provider: 'openai' }]], {}, ['shared']],
    [
      'a second one that is required',
      [
        ['a', {}],
        ['b', { is_required: true }],
      ],
      { a: 401, b: 401 },
      ['a', 'b'],
    ],
    [
      'all of them fail',
      [
        ['a', {}],
        ['f', { is_fallback: true }],
      ],
      all,
      ['a', 'shared', 'f', 'f'],
    ],
  ]
  test.each(rows)('with BYOK keys: %s', async (_, keys, refusals, expected) => {
    for (const [name, fields] of keys) await bring(name, fields)
    calls.refused = { ...refusals }
    const reply = await ask()
    expect(reply.asked).toEqual(expected)
    expect(reply.status === 200).toBe(!expected.every((name) => name in refusals))
    expect(reply.text).not.toContain('0123456789')
  })

  test('is the same for a stream', async () => {
    await bring('a')
    calls.refused = { a: 401 }
    const body = { model: 'large', stream: true, messages: [{ role: 'user', content: 'Hi' }] }
    const lines = await dataLines(await gateway.call('/chat/completions', body))
    expect([calls.asked, lines.at(-1)]).toEqual([['a', 'shared'], '[DONE]'])
    expect(lines.join('')).toContain('"is_byok":false')
    calls.refused = {}
    await bring('b')
    calls.asked = []
    const again = await dataLines(await gateway.call('/chat/completions', body))
    // The first one was refused, so it is skipped.
    expect(calls.asked).toEqual(['b'])
    expect(again.join('')).toContain('"is_byok":true')
  })

  test('has a key of is_byok_only alone, for every model of the provider', async () => {
    await bring('a', { is_byok_only: true, allowed_models: ['tiny'] })
    expect(await askedBy('tiny')).toEqual(['a'])
    const shut = await ask('large')
    expect([shut.status, shut.asked]).toEqual([404, []])
    expect(shut.text).toContain('only its BYOK key of one')
  })

  test('has BYOK keys before preferred providers, and those before the rest', async () => {
    await bring('a')
    const order = { provider: { order: ['two', 'one'] } }
    expect(await askedBy('tiny', order)).toEqual(['a'])
    calls.refused = { a: 401 }
    expect(await askedBy('tiny', order)).toEqual(['a', 'shared@two'])
    calls.refused = { a: 401, shared: 500 }
    expect(await askedBy('tiny', { provider: { order: ['two'], allow_fallbacks: false } })).toEqual([
      'shared@two',
      'shared@two',
    ])
  })

  test('has only the provider of the first key if fallbacks are off', async () => {
    await bring('a', { provider: 'two' })
    calls.refused = { a: 401 }
    expect(await askedBy('tiny', { provider: { allow_fallbacks: false } })).toEqual(['a@two', 'shared@two'])
  })

  test('has the BYOK keys of one model, its shared credential, and then those of the next', async () => {
    await bring('a')
    await bring('f', { is_fallback: true, allowed_models: ['tiny'] })
    calls.refused = { a: 500, shared: 500, f: 500 }
    const reply = await ask('tiny', { models: ['tiny', 'large'], model: undefined })
    expect(reply.asked).toEqual(['a', 'shared', 'f', 'a', 'shared', 'shared'])
  })

  test('has two providers in the order of the keys, unless the caller sorts by price', async () => {
    await bring('a', { provider: 'two' })
    await bring('b', { provider: 'one' })
    calls.refused = { a: 500, b: 500 }
    expect(await askedBy('tiny', { provider: {} })).toEqual(['a@two', 'b', 'shared'])
    expect((await askedBy('tiny', { provider: { sort: 'price' } })).slice(0, 2)).toEqual(['b', 'a@two'])
  })
})
