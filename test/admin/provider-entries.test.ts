import { describe, expect, test } from 'bun:test'
import { storeCredential } from '../../src/admin/providers/service.ts'
import { createStoredSource } from '../../src/admin/providers/stored.ts'
import { objectOf } from '../../src/http/json.ts'
import { dataOf } from './people.ts'
import { CREDENTIALS, ENTRIES, SECRET, startProviders } from './provider-entries.ts'

const { admin, manage, seen, listed, address, lab, make, refusedWith, ask } = startProviders()

describe('an entry', () => {
  test('is stored, serves the next request, and is changed, disabled and deleted', async () => {
    expect((await ask()).status).toBe(404)
    const made = await make(ENTRIES, lab({ api_key: SECRET }))
    expect(made).toEqual({
      id: expect.any(String),
      slug: 'lab',
      disabled: false,
      outranked_by: null,
      entry: { ...lab(), api_key: 'cana...6789' },
      created_at: expect.any(String),
      updated_at: null,
    })
    expect((await ask()).status).toBe(200)
    expect(seen).toEqual([{ method: 'POST', path: '/v1/chat/completions', key: `Bearer ${SECRET}` }])
    expect(await listed(ENTRIES)).toEqual([made])
    expect(dataOf(await manage('GET', `${ENTRIES}/lab`))).toEqual(made)

    const models = [{ id: 'big', pricing: { prompt: '0', completion: '0' } }]
    const changed = dataOf(
      await manage('PATCH', `${ENTRIES}/lab`, { models, api_key: 'cana...6789', name: 'Lab' }),
    )
    expect(changed['entry']).toEqual({ ...lab(), models, name: 'Lab', api_key: 'cana...6789' })
    expect([(await ask('tiny')).status, (await ask('big')).status]).toEqual([404, 200])
    expect(seen.at(-1)?.key).toBe(`Bearer ${SECRET}`)
    await manage('PATCH', `${ENTRIES}/lab`, { disabled: true })
    expect((await ask('big')).status).toBe(404)
    await manage('PATCH', `${ENTRIES}/lab`, { disabled: false, name: null })
    expect((await ask('big')).status).toBe(200)
    expect((await manage('DELETE', `${ENTRIES}/lab`)).json).toEqual({ deleted: true })
    expect((await ask('big')).status).toBe(404)
  })

  test('declares what the provider does with prompts; a PATCH replaces it', async () => {
    const routed = async (preferences: object): Promise<number> => (await ask('tiny', preferences)).status
    await make(ENTRIES, lab({ data_policy: { zdr: 'never', training: false }, quantization: 'fp8' }))
    expect([await routed({ zdr: true }), await routed({ data_collection: 'deny' })]).toEqual([404, 404])
    expect([await routed({ quantizations: ['fp8'] }), await routed({ quantizations: ['fp4'] })]).toEqual([
      200, 404,
    ])
    await manage('PATCH', `${ENTRIES}/lab`, { data_policy: { training: false, retention_days: 30 } })
    expect([await routed({ zdr: true }), await routed({ data_collection: 'deny' })]).toEqual([404, 200])
    await manage('PATCH', `${ENTRIES}/lab`, { data_policy: { zdr: 'always' } })
    expect([await routed({ zdr: true }), await routed({ data_collection: 'deny' })]).toEqual([200, 200])
    const wrong = { data_policy: { zdr: 'always', retention_days: 3 } }
    await refusedWith(400, 'data_policy.retention_days: contradicts zdr', 'PATCH', `${ENTRIES}/lab`, wrong)
  })

  test('has a unique slug that cannot be changed', async () => {
    await make(ENTRIES, lab())
    await refusedWith(409, 'stored already', 'POST', ENTRIES, lab())
    await refusedWith(400, 'cannot be changed', 'PATCH', `${ENTRIES}/lab`, { slug: 'other' })
    const headers = { 'idempotency-key': 'entry-1' }
    const [first, second] = [
      await manage('POST', ENTRIES, lab({ slug: 'two' }), headers),
      await manage('POST', ENTRIES, lab({ slug: 'two' }), headers),
    ]
    expect(second.json).toEqual(first.json)
  })

  test('ranks below the settings and the environment', async () => {
    expect(await make(ENTRIES, lab({ slug: 'written' }))).toMatchObject({ outranked_by: 'settings' })
    expect(await make(ENTRIES, lab({ slug: 'mistral' }))).toMatchObject({ outranked_by: 'environment' })
    expect((await ask()).status).toBe(404)
    const configured = await listed('/providers/configured')
    const brief = configured.map(({ slug, origin, base_url }) => [slug, origin, base_url])
    expect(brief).toContainEqual(['written', 'settings', 'http://127.0.0.1:1/v1'])
    expect(brief).toContainEqual(['mistral', 'environment', 'https://api.mistral.ai/v1'])
    expect(JSON.stringify(configured)).not.toContain('canary')
  })

  test('moves to another host only with all of its secrets', async () => {
    const elsewhere = { base_url: 'http://127.0.0.2:9/v1' }
    await make(ENTRIES, lab({ api_key: SECRET }))
    await refusedWith(400, 'api_key: the entry moves', 'PATCH', `${ENTRIES}/lab`, elsewhere)
    await refusedWith(400, 'api_key: the entry moves', 'PATCH', `${ENTRIES}/lab`, {
      ...elsewhere,
      api_key: 'cana...6789',
    })
    expect((await manage('PATCH', `${ENTRIES}/lab`, { base_url: `${address()}/deeper` })).status).toBe(200)
    const { id } = await make(CREDENTIALS, { provider: 'lab', credential: 'canary-of-another' })
    await refusedWith(409, String(id), 'PATCH', `${ENTRIES}/lab`, { ...elsewhere, api_key: 'canary-again' })
    await manage('DELETE', `${CREDENTIALS}/${id}`)
    expect((await manage('PATCH', `${ENTRIES}/lab`, { ...elsewhere, api_key: 'canary-again' })).status).toBe(
      200,
    )
    await refusedWith(400, 'masked', 'PATCH', `${ENTRIES}/lab`, { api_key: 'cana...0000' })
    // The same secret as before is accepted: the caller knows it.
    const back = { base_url: address(), api_key: 'canary-again' }
    expect((await manage('PATCH', `${ENTRIES}/lab`, back)).status).toBe(200)
  })
})

test('the audit log names the credentials that were deleted with an entry, and a replaced credential', async () => {
  const entry = await make(ENTRIES, lab({ api_key: SECRET }))
  const { id } = await make(CREDENTIALS, { provider: 'lab', credential: 'canary-1' })
  await manage('PATCH', `${CREDENTIALS}/${id}`, { credential: 'canary-2' })
  await manage('DELETE', `${ENTRIES}/lab`)
  const last = await listed('/audit-log?limit=3')
  const logged = last.map(({ action, before, after }) => ({ action, before, after }))
  expect(logged).toContainEqual({
    action: 'provider.delete',
    before: {
      slug: 'lab',
      disabled: false,
      entry: expect.objectContaining({ base_url: objectOf(entry['entry'])['base_url'] }),
    },
    after: null,
  })
  expect(logged).toContainEqual({
    action: 'credential.delete',
    before: expect.objectContaining({ provider: 'lab', label: '...' }),
    after: null,
  })
  expect(logged).toContainEqual({
    action: 'credential.update',
    before: {},
    after: { credential: 'replaced' },
  })
  expect(JSON.stringify(last)).not.toContain('cana')
})

describe('a stored entry or credential', () => {
  const openStored = () => {
    const reported: string[] = []
    const { database, deps } = admin.gateway
    const source = createStoredSource(
      database,
      deps.sealer,
      deps.providers.defaults,
      ({ provider, reason }) => reported.push(`${provider}: ${reason}`),
    )
    return { ...source.current(), reported }
  }

  test('is loaded by a start', async () => {
    await make(ENTRIES, lab({ api_key: SECRET, slug: 'kept' }))
    await make(CREDENTIALS, { provider: 'kept', credential: 'canary-second', weight: 3 })
    const { providers, models, reported } = openStored()
    expect(reported).toEqual([])
    expect(models.map(({ endpoint }) => endpoint.id)).toEqual(['kept/tiny'])
    expect(providers).toMatchObject([
      {
        slug: 'kept',
        baseUrl: address(),
        credentials: [
          { id: 'kept', secret: SECRET },
          { secret: 'canary-second', weight: 3 },
        ],
      },
    ])
  })

  test('that is damaged is skipped, reported, and still listed', async () => {
    await make(ENTRIES, lab({ slug: 'whole' }))
    await make(ENTRIES, lab({ slug: 'torn' }))
    admin.gateway.database.file.run(
      "UPDATE provider_entries SET sealed_entry = 'v1.nothing' WHERE slug = 'torn'",
    )
    const { providers, reported } = openStored()
    expect(providers.map(({ slug }) => slug)).toEqual(['whole'])
    expect(reported).toEqual([expect.stringMatching(/^torn: The sealed value in provider_entries/)])
    expect((await listed(ENTRIES)).map((each) => [each['slug'], each['entry']])).toEqual([
      ['torn', {}],
      ['whole', lab({ slug: 'whole' })],
    ])
    admin.gateway.database.file.run("DELETE FROM provider_entries WHERE slug = 'torn'")
  })

  test('of a vendor is refused by the command line if an entry has its name', async () => {
    await make(ENTRIES, lab({ slug: 'openai' }))
    const { database, deps } = admin.gateway
    const storing = storeCredential(
      { database, sealer: deps.sealer, now: deps.now },
      { provider: 'openai', secret: SECRET },
    )
    await expect(storing).rejects.toMatchObject({ status: 409 })
  })
})
