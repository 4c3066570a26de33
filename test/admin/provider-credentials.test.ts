import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Attempt } from '../../src/core/attempt.ts'
import { UpstreamError } from '../../src/core/errors.ts'
import { dataOf } from './people.ts'
import { CREDENTIALS, ENTRIES, SECRET, startProviders } from './provider-entries.ts'

const { admin, manage, seen, listed, address, lab, make, refusedWith, ask } = startProviders()

/** The attempt whose health a test changes. */
function attemptWith(credentialId: string): Attempt {
  const { models, providersBySlug } = admin.gateway.deps.snapshot.current()
  const [model, provider] = [models.find('tiny'), providersBySlug.get('lab')]
  const [endpoint, credential] = [
    model?.endpoints[0],
    provider?.credentials.find(({ id }) => id === credentialId),
  ]
  if (!model || !provider || !endpoint || !credential) throw new Error('there is no such attempt')
  return { model, endpoint, provider, credential, dialect: 'chat' }
}

describe('credentials', () => {
  test('of an entry are several, ordered and weighted, and can be disabled, rotated and removed', async () => {
    await make(ENTRIES, lab())
    const first = await make(CREDENTIALS, {
      provider: 'lab',
      credential: 'canary-first-0123456789',
      name: 'First',
    })
    expect(first).toEqual({
      id: expect.any(String),
      provider: 'lab',
      name: 'First',
      label: 'can...789',
      base_url: null,
      disabled: false,
      sort_order: 0,
      weight: null,
      outranked_by: null,
      created_at: expect.any(String),
      updated_at: null,
    })
    const second = await make(CREDENTIALS, { provider: 'lab', credential: 'canary-second', weight: 2 })
    const used = async (): Promise<string[]> => {
      const provider = admin.gateway.deps.snapshot.current().providersBySlug.get('lab')
      return (provider?.credentials ?? []).map(({ secret, weight }) => `${secret} ${weight}`)
    }
    expect(await used()).toEqual(['canary-first-0123456789 undefined', 'canary-second 2'])
    await ask()
    expect(['Bearer canary-first-0123456789', 'Bearer canary-second']).toContain(seen[0]?.key ?? '')
    await manage('PATCH', `${CREDENTIALS}/${first['id']}`, { disabled: true })
    const rotated = dataOf(
      await manage('PATCH', `${CREDENTIALS}/${second['id']}`, {
        credential: 'canary-third',
        weight: null,
        sort_order: 7,
      }),
    )
    expect(rotated).toMatchObject({ sort_order: 7, weight: null, updated_at: expect.any(String) })
    expect(await used()).toEqual(['canary-third undefined'])
    await refusedWith(409, 'stored already', 'POST', CREDENTIALS, {
      provider: 'lab',
      credential: 'canary-third',
    })
    await refusedWith(400, 'base_url', 'POST', CREDENTIALS, {
      provider: 'lab',
      credential: 'x',
      base_url: 'http://a.example',
    })
    expect((await listed(`${CREDENTIALS}?provider=lab`)).map(({ id }) => id)).toEqual([
      first['id'],
      second['id'],
    ])
    await manage('DELETE', `${CREDENTIALS}/${second['id']}`)
    // No credential is left, and the entry itself has no key.
    expect(await used()).toEqual(['null undefined'])
    await manage('DELETE', `${ENTRIES}/lab`)
    expect(await listed(CREDENTIALS)).toEqual([])
  })

  test('share the requests by weight, one without a weight counting as 1', async () => {
    await make(ENTRIES, lab())
    await make(CREDENTIALS, { provider: 'lab', credential: 'canary-light' })
    await make(CREDENTIALS, { provider: 'lab', credential: 'canary-heavy', weight: 2 })
    const { run } = admin.gateway.deps
    const { random } = run
    const first = async (...draws: number[]): Promise<string | undefined> => {
      run.random = () => draws.shift() ?? 0.5
      seen.length = 0
      await ask()
      return seen[0]?.key
    }
    // 0.5 to the power of 1/2 is 0.71.
    expect(await first(0.5, 0.5)).toBe('Bearer canary-heavy')
    expect(await first(0.7, 0.5)).toBe('Bearer canary-heavy')
    expect(await first(0.72, 0.5)).toBe('Bearer canary-light')
    run.random = random
  })

  test('of a vendor are sent to the vendor, never to an entry with its name', async () => {
    const stored = await make(CREDENTIALS, { provider: 'openai', credential: SECRET, base_url: address() })
    expect(admin.gateway.deps.snapshot.current().providersBySlug.get('openai')).toMatchObject({
      baseUrl: address(),
    })
    await refusedWith(409, String(stored['id']), 'POST', ENTRIES, lab({ slug: 'openai' }))
    await refusedWith(409, 'one address', 'POST', CREDENTIALS, {
      provider: 'openai',
      credential: 'canary-other',
    })
    expect(await make(CREDENTIALS, { provider: 'mistral', credential: SECRET })).toMatchObject({
      outranked_by: 'environment',
    })
  })

  test('of a disabled entry are not used', async () => {
    await make(ENTRIES, lab({ slug: 'openai', disabled: true }))
    await make(CREDENTIALS, { provider: 'openai', credential: SECRET })
    expect(admin.gateway.deps.snapshot.current().providersBySlug.has('openai')).toBe(false)
  })

  test('that a provider refused are used at once after a change', async () => {
    await make(ENTRIES, lab())
    const { id } = await make(CREDENTIALS, { provider: 'lab', credential: 'canary-bad' })
    const { health } = admin.gateway.deps.run
    const attempt = attemptWith(String(id))
    const error = new UpstreamError('credential', 'refused', { status: 401 })
    health.failed(attempt, error, health.trying(attempt))
    expect(health.cooldownOf(attempt, true)).toMatchObject({ reason: 'refused' })
    await manage('PATCH', `${CREDENTIALS}/${id}`, { credential: 'canary-good' })
    expect(health.cooldownOf(attempt, true)).toBeNull()
    expect((await ask()).status).toBe(200)
  })

  test('are in no file in clear, and not in the audit log', async () => {
    await make(ENTRIES, lab({ api_key: SECRET }))
    await manage('PATCH', `${ENTRIES}/lab`, { name: 'Other' })
    await make(CREDENTIALS, { provider: 'lab', credential: 'canary-of-the-credential' })
    for (const file of ['sluice.db', 'sluice.db-wal']) {
      const bytes = readFileSync(join(admin.gateway.folder, file))
      for (const secret of [SECRET, 'canary-of-the-credential']) expect(bytes.includes(secret)).toBe(false)
    }
    const log = await manage('GET', '/audit-log?limit=100')
    expect(log.text).toContain('provider.update')
    expect(log.text).toContain('credential.create')
    expect(log.text).not.toContain(SECRET)
    expect(log.text).not.toContain('canary-of-the-credential')
  })
})
