import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { objectOf } from '../../src/http/json.ts'
import { document, factModel } from '../catalog/facts-fixture.ts'
import { providers } from '../catalog/fixture.ts'
import { type Gateway, startGateway } from '../gateway.ts'

let gateway: Gateway
beforeEach(async () => {
  gateway = await startGateway({
    providers,
    environment: { OPENAI_API_KEY: 'k' },
    models: [{ id: 'maker/small', name: 'Of the file', aliases: ['of/the-file'] }],
  })
})
afterEach(() => gateway.stop())

const put = async (entry: unknown): Promise<Record<string, unknown>> => {
  const response = await gateway.manage('PUT', '/models/overrides', entry)
  const reply = objectOf(await response.json())
  return { status: response.status, ...objectOf(reply['data'] ?? reply['error']) }
}
const listed = async (): Promise<unknown> =>
  objectOf(await (await gateway.manage('GET', '/models/overrides')).json())['data']
const modelOf = async (id: string): Promise<Record<string, unknown>> =>
  objectOf(objectOf(await (await gateway.call(`/model/${id}`)).json())['data'])
const audited = (): unknown[] =>
  gateway.database.file.query('SELECT action, resource_id FROM audit_log ORDER BY rowid').all()

describe('overrides of a model over the API', () => {
  test('applies to the next request and replaces the former override', async () => {
    const first = await put({ id: 'openai/gpt-4o', pricing: { prompt: '0.000007' }, aliases: ['ours/best'] })
    expect(first).toMatchObject({ status: 200, origin: 'stored', entry: { id: 'openai/gpt-4o' } })
    expect(await modelOf('ours/best')).toMatchObject({
      id: 'openai/gpt-4o',
      pricing: { prompt: '0.000007', completion: '0.000007' },
    })
    const second = await put({ id: 'openai/gpt-4o', name: 'Ours' })
    expect(second['override_id']).toBe(first['override_id'])
    expect(await modelOf('openai/gpt-4o')).toMatchObject({ name: 'Ours', pricing: { prompt: '0.0000025' } })
    expect((await gateway.call('/model/ours/best')).status).toBe(404)
  })

  test('two at once for the same model are stored one after the other', async () => {
    const both = await Promise.all(['One', 'Two'].map((name) => put({ id: 'openai/gpt-4o', name })))
    expect(both).toMatchObject([{ status: 200 }, { status: 200 }])
    expect(both[1]?.['override_id']).toBe(both[0]?.['override_id'])
    expect(await listed()).toHaveLength(2)
  })

  test('a price per million in the place of one per token is pointed out', async () => {
    const saved = await put({ id: 'openai/gpt-4o', pricing: { prompt: '2.5', completion: '0.00001' } })
    expect(saved['warnings']).toEqual([
      expect.stringMatching(
        /^openai\/gpt-4o at openai: prompt 2\.5 USD a token is 1000000 times the median of other/,
      ),
    ])
    const usual = await put({ id: 'openai/gpt-4o', pricing: { prompt: '0.0000025', completion: '0.00001' } })
    expect(usual['warnings']).toEqual([])
  })

  test('one for all providers and one for each stand beside each other', async () => {
    await put({ id: 'shared/large', pricing: { prompt: '0.00001' } })
    await put({ id: 'shared/large', provider: 'cloud', pricing: { prompt: '0.00002' } })
    const reply = objectOf(await (await gateway.call('/models/shared/large/endpoints')).json())
    const { endpoints } = objectOf(reply['data'])
    expect(endpoints).toMatchObject([{ pricing: { prompt: '0.00001' } }, { pricing: { prompt: '0.00002' } }])
  })

  test('the settings file holds before it, and is listed beside it', async () => {
    await put({ id: 'maker/small', name: 'Stored', zdr: false })
    expect(await modelOf('maker/small')).toMatchObject({ name: 'Of the file' })
    expect(await listed()).toEqual([
      {
        override_id: null,
        origin: 'settings',
        entry: { id: 'maker/small', name: 'Of the file', aliases: ['of/the-file'] },
      },
      {
        override_id: expect.any(String),
        origin: 'stored',
        entry: { id: 'maker/small', name: 'Stored', zdr: false },
      },
    ])
  })

  test('it survives a refresh; removed, the facts hold again; the audit log tells all of it', async () => {
    const { override_id: id } = await put({ id: 'openai/gpt-4o', pricing: { prompt: '0.000007' } })
    const facts = document({ openai: [factModel('gpt-4o')] })
    await gateway.manage('POST', '/models/refresh', { document: facts })
    expect(await modelOf('openai/gpt-4o')).toMatchObject({ pricing: { prompt: '0.000007' } })
    expect((await gateway.manage('DELETE', `/models/overrides/${id}`)).status).toBe(200)
    expect(await modelOf('openai/gpt-4o')).toMatchObject({ pricing: { prompt: '0.0000025' } })
    expect((await gateway.manage('DELETE', `/models/overrides/${id}`)).status).toBe(404)
    expect(audited().slice(-3)).toEqual([
      { action: 'model.create', resource_id: 'openai/gpt-4o' },
      { action: 'catalog.refresh', resource_id: 'catalog' },
      { action: 'model.delete', resource_id: 'openai/gpt-4o' },
    ])
  })

  test.each<[entry: unknown, says: string]>([
    [{}, 'id: is required'],
    [{ id: 'openai/gpt-4oo' }, 'id: "openai/gpt-4oo" is not known; did you mean openai/gpt-4o'],
    [{ id: 'bare', pricing: { prompt: '-1' } }, 'pricing.prompt: "-1" is not a price'],
    [
      { id: 'bare', context_length: 1e300 },
      'context_length: must be a whole number of at least 1 and at most 1000000000',
    ],
    [{ id: 'bare', name: 'x'.repeat(301) }, 'name: must be a text of 1 to 300 characters'],
    [{ id: 'bare', context_length: 0 }, 'context_length: must be a whole number of at least 1'],
    [{ id: 'bare', colour: 'red' }, 'colour: is not a known key; known here: id, provider'],
    [{ id: 'bare', provider: 'opnai' }, 'provider: "opnai" is not known; did you mean openai'],
  ])('%j is refused', async (entry, says) => {
    const { status, message } = await put(entry)
    expect({ status, message }).toEqual({ status: 400, message: expect.stringContaining(says) })
    expect(audited().length).toBe(0)
  })

  test('an alias that another model has already is refused, because it would lead nowhere else', async () => {
    expect((await put({ id: 'openai/gpt-4o', aliases: ['ours/best'] })).status).toBe(200)
    for (const [alias, owner] of [
      ['Ours/Best', 'openai/gpt-4o'],
      ['of/the-file', 'maker/small'],
    ] as const) {
      expect(await put({ id: 'shared/large', aliases: ['free', alias] })).toMatchObject({
        status: 400,
        message: `aliases[1]: "${alias}" is an alias of ${owner} already`,
      })
    }
    // Declared again for the same model, by any of its names, an alias stays.
    expect((await put({ id: 'openai/gpt-4o', aliases: ['ours/best', 'more'] })).status).toBe(200)
    expect((await put({ id: 'openai/gpt-4o', provider: 'openai', aliases: ['ours/best'] })).status).toBe(200)
    expect(await modelOf('ours/best')).toMatchObject({ id: 'openai/gpt-4o' })
  })

  test('an inference key may not', async () => {
    expect((await gateway.call('/models/overrides')).status).toBe(403)
  })
})
