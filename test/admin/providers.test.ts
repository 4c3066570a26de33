import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type CredentialFields, checkCredential } from '../../src/admin/providers/credential-fields.ts'
import {
  type CredentialDeps,
  listCredentials,
  removeCredential,
  storeCredential,
} from '../../src/admin/providers/service.ts'
import { storedProviders } from '../../src/admin/providers/stored.ts'
import { loadConfig } from '../../src/config.ts'
import { type Database, openDatabase } from '../../src/db/database.ts'
import { migrate } from '../../src/db/migrations.ts'
import { makeSealer, openSealer } from '../../src/db/seal.ts'
import { vendors } from '../../src/providers/compatible.ts'
import { createRoutingSource } from '../../src/server/routing.ts'
import { defaults } from '../providers/defaults.ts'
import { removeVerified } from '../verified.ts'

const SECRET = 'sk-proj-Canary-0123456789-Zebra'
const OTHER = 'sk-proj-Second-9876543210-Tiger'

let folder: string
let database: Database
let deps: CredentialDeps

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-credentials-'))
  database = openDatabase(join(folder, 'sluice.db'))
  migrate(database)
  deps = { database, sealer: openSealer(database, folder), now: () => Date.UTC(2030, 0, 1) }
})
afterEach(() => {
  database.close()
  removeVerified(folder)
})

const add = (fields: Partial<CredentialFields> = {}) =>
  storeCredential(deps, { provider: 'openai', secret: SECRET, ...fields })
const open = () => storedProviders(database, deps.sealer, defaults)
const sealedOf = (id: string): string =>
  String(
    database.file
      .query<{ sealed_secret: string }, [string]>(
        'SELECT sealed_secret FROM provider_credentials WHERE id = ?',
      )
      .get(id)?.sealed_secret,
  )
const change = (id: string, column: string, value: string | number | null): void => {
  database.file.run(`UPDATE provider_credentials SET ${column} = ? WHERE id = ?`, [value, id])
}

describe('storing', () => {
  test('answers what may be seen, and the row holds the secret only sealed', async () => {
    const stored = await add({ secret: `  ${SECRET}\n` })
    expect(stored).toEqual({
      id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f-]{21}$/),
      provider: 'openai',
      name: 'OpenAI',
      label: 'sk-...bra',
      base_url: null,
      disabled: false,
      sort_order: 0,
      weight: null,
      created_at: '2030-01-01T00:00:00.000Z',
      updated_at: null,
    })
    expect(JSON.stringify(await listCredentials(database))).not.toContain('Canary')
    const row = database.file.query('SELECT * FROM provider_credentials').get()
    expect(JSON.stringify(row)).not.toContain('Canary')
    expect(sealedOf(stored.id)).toMatch(/^v1\.[0-9a-f]{8}\./)
  })

  test('the sealed text differs each time', async () => {
    const first = await add()
    const sealed = sealedOf(first.id)
    await removeCredential(database, first.id)
    expect(sealedOf((await add()).id)).not.toBe(sealed)
  })

  test('a short secret has a label that tells nothing of it', async () => {
    expect((await add({ secret: 'abcdefghijklmno' })).label).toBe('...')
    expect((await add({ secret: 'abcdefghijklmnop' })).label).toBe('abc...nop')
  })

  const refused: [fields: Partial<CredentialFields>, status: number, says: RegExp][] = [
    [{ secret: ' \n' }, 400, /^credential: must not be empty/],
    [{ secret: 'two words' }, 400, /^credential: contains characters/],
    [{ secret: 'clé-secrète-0123456789' }, 400, /^credential: contains characters/],
    [{ secret: 'x'.repeat(4097) }, 400, /^credential: must have at most 4096/],
    [{ baseUrl: 'nowhere' }, 400, /^base_url: must be an http/],
    [{ baseUrl: 'https://me:pass@host/v1' }, 400, /^base_url: must not hold a user name/],
    [{ provider: 'cloudflare' }, 400, /^base_url: a part of the address .*CLOUDFLARE_ACCOUNT_ID/],
    [{ provider: 'opnai' }, 404, /no provider "opnai"\. Did you mean openai\?/],
    [{ provider: 'gemini' }, 404, /Did you mean google/],
    [{ provider: 'qqqqqqq' }, 404, /The known ones are openai, anthropic/],
    [{ provider: 'azure' }, 404, /needs more than a key/],
    [{ provider: SECRET }, 404, /no provider with the name given/],
  ]
  test.each(refused)('%j is refused with %d', async (fields, status, says) => {
    const error = await add(fields).then(
      () => new Error('was stored'),
      (thrown: unknown) => thrown,
    )
    expect(String(error)).not.toMatch(/Canary|secrète|me:pass/)
    expect(error).toMatchObject({ status, message: expect.stringMatching(says) })
    expect(await listCredentials(database)).toEqual([])
  })

  test('an address without a path gets the version that the vendor implies, as from the environment', () => {
    const at = (provider: string) =>
      checkCredential({ provider, secret: SECRET, baseUrl: 'https://proxy.example' }).baseUrl
    expect([at('anthropic'), at('openai')]).toEqual(['https://proxy.example/v1', 'https://proxy.example'])
  })

  test('every vendor can be stored', () => {
    for (const { slug, baseUrl } of vendors) {
      const address = baseUrl.includes('$') ? { baseUrl: 'https://mine.example/v1' } : {}
      expect(checkCredential({ provider: slug, secret: SECRET, ...address }).vendor.slug).toBe(slug)
    }
  })

  test('the same credential twice, or one for another address, is a conflict', async () => {
    const { id } = await add()
    await expect(add()).rejects.toMatchObject({ status: 409, message: expect.stringContaining(id) })
    await expect(add({ secret: OTHER, baseUrl: 'https://proxy.example/v1' })).rejects.toMatchObject({
      status: 409,
      message: expect.stringContaining('all of one provider go to one address'),
    })
    expect(await listCredentials(database)).toHaveLength(1)
  })
})

describe('removing', () => {
  test('deletes the row; a second deletion is a 404', async () => {
    const { id } = await add()
    await removeCredential(database, id)
    expect(await listCredentials(database)).toEqual([])
    expect(open().providers).toEqual([])
    await expect(removeCredential(database, id)).rejects.toMatchObject({ status: 404 })
  })
})

describe('as providers', () => {
  test('several of one vendor keep their order; a disabled one is not used', async () => {
    const [one, two] = [await add(), await add({ secret: OTHER })]
    const { id } = await add({ provider: 'anthropic', secret: OTHER, baseUrl: 'https://proxy.example/v1/' })
    const { providers, leftOut } = open()
    expect(leftOut).toEqual([])
    expect(providers).toMatchObject([
      {
        slug: 'anthropic',
        dialect: 'messages',
        baseUrl: 'https://proxy.example/v1',
        credentialHeader: { name: 'x-api-key', prefix: '' },
        credentials: [{ id, secret: OTHER }],
        ...defaults,
      },
      {
        slug: 'openai',
        baseUrl: 'https://api.openai.com/v1',
        credentials: [
          { id: one.id, secret: SECRET },
          { id: two.id, secret: OTHER },
        ],
        quirks: { outputBoundField: 'max_completion_tokens' },
      },
    ])
    change(one.id, 'disabled', 1)
    const [, openai] = open().providers
    expect(openai?.credentials.map((credential) => credential.id)).toEqual([two.id])
    change(one.id, 'disabled', 0)
    change(one.id, 'sort_order', 9)
    const [, turned] = open().providers
    expect(turned?.credentials.map((credential) => credential.id)).toEqual([two.id, one.id])
  })

  /** What a row may have become, and the sentence about it. */
  const damaged: [name: string, damage: (id: string, otherId: string) => void, says: RegExp][] = [
    ['was cut', (id) => change(id, 'sealed_secret', sealedOf(id).slice(0, 30)), /cannot be read/],
    ['was changed', (id) => change(id, 'sealed_secret', flipped(sealedOf(id))), /was changed/],
    [
      'was moved here from another row',
      (id, otherId) => change(id, 'sealed_secret', sealedOf(otherId)),
      /belongs elsewhere/,
    ],
    [
      'was sealed with another key',
      (id) => change(id, 'sealed_secret', sealedElsewhere(id)),
      /was made with secret key/,
    ],
    ['was given to another provider', (id) => change(id, 'provider', 'groq'), /belongs elsewhere/],
    ['is of an unknown provider', (id) => change(id, 'provider', 'gone'), /is not known to this version/],
    [
      'goes to another address',
      (id) => change(id, 'base_url', 'https://evil.example/v1'),
      /first credential/,
    ],
    ['goes nowhere', (id) => change(id, 'base_url', 'nowhere'), /must be an http/],
  ]
  test.each(damaged)('one that %s is left out and named; the others are used', async (_, damage, says) => {
    const [good, bad] = [await add(), await add({ secret: OTHER })]
    damage(bad.id, good.id)
    const { providers, leftOut } = open()
    expect(providers.map(({ credentials }) => credentials)).toEqual([[{ id: good.id, secret: SECRET }]])
    const [out, ...others] = leftOut
    expect([out?.id, out?.label, others.length]).toEqual([bad.id, 'sk-...ger', 0])
    expect(out?.reason).toMatch(says)
    expect(out?.reason).toContain(bad.id)
    expect(JSON.stringify(leftOut)).not.toMatch(/Second|Canary/)
  })

  test('one whose address was changed in the file is sent nowhere', async () => {
    const { id } = await add({ baseUrl: 'https://proxy.example/v1' })
    for (const address of ['https://evil.example/v1', null]) {
      change(id, 'base_url', address)
      expect(open().providers).toEqual([])
      expect(open().leftOut).toMatchObject([{ id, reason: expect.stringMatching(/belongs elsewhere/) }])
    }
    change(id, 'base_url', 'https://proxy.example/v1')
    expect(open().providers).toMatchObject([{ credentials: [{ id, secret: SECRET }] }])
  })

  const flipped = (sealed: string): string =>
    sealed.slice(0, -2) + (sealed.at(-2) === 'A' ? 'B' : 'A') + sealed.slice(-1)
  const sealedElsewhere = (rowId: string): string =>
    makeSealer(new Uint8Array(32).fill(7)).seal(OTHER, {
      table: 'provider_credentials',
      column: 'sealed_secret',
      rowId,
    })

  test('with another secret key the start is refused before any is opened', async () => {
    await add()
    expect(() => openSealer(database, folder, new Uint8Array(32).fill(7))).toThrow(
      'is not the one with which',
    )
  })
})

describe('in the routing', () => {
  const sources: [name: string, environment: Record<string, string>, entries: unknown[], url: string][] = [
    ['nothing else', {}, [], 'https://api.openai.com/v1'],
    [
      'a moved address without a credential',
      { OPENAI_BASE_URL: 'https://env.example/v1' },
      [],
      'https://api.openai.com/v1',
    ],
    [
      'the environment',
      { OPENAI_API_KEY: OTHER, OPENAI_BASE_URL: 'https://env.example/v1' },
      [],
      'https://env.example/v1',
    ],
    ['an entry', {}, [{ slug: 'openai', base_url: 'https://entry.example/v1' }], 'https://entry.example/v1'],
    [
      'both',
      { OPENAI_API_KEY: OTHER },
      [{ slug: 'openai', base_url: 'https://entry.example/v1' }],
      'https://entry.example/v1',
    ],
  ]
  test.each(sources)('beside %s', async (_, environment, providers, baseUrl) => {
    await add()
    const config = await loadConfig({ environment, workingFolder: folder })
    const source = createRoutingSource({ ...config, providers }, open)
    const openai = source.configured.filter(({ slug }) => slug === 'openai')
    expect(openai.map((provider) => provider.baseUrl)).toEqual([baseUrl])
    const isStored = openai[0]?.credentials[0]?.secret === SECRET
    expect(isStored).toBe(baseUrl === 'https://api.openai.com/v1')
    expect(source.outranked).toEqual(isStored ? [] : ['openai'])
  })
})
