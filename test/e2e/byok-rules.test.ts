import { describe, expect, test } from 'bun:test'
import { objectOf } from '../../src/http/json.ts'
import { API_KEY } from '../gateway.ts'
import { keyOf, startForByok } from './byok-setup.ts'

/** Who may use a BYOK key and for what, and that each change applies to the next request. */

const { gateway, calls, signatures, bring, change, ask, askedBy } = await startForByok()

async function makeWorkspace(): Promise<string> {
  const slug = `else-${crypto.randomUUID()}`
  const made = objectOf(await (await gateway.manage('POST', '/workspaces', { name: 'Else', slug })).json())
  return String(objectOf(made['data'])['id'])
}

describe('a BYOK key', () => {
  test('is used for the named keys and people, and in no other workspace', async () => {
    const [mine, other] = [await gateway.makeKey({}), await gateway.makeKey({})]
    const foreign = await gateway.makeKey({ workspace_id: await makeWorkspace() })
    const id = await bring('a', { allowed_api_key_hashes: [mine.hash], is_byok_only: true })
    expect(await askedBy('tiny', {}, mine.key)).toEqual(['a'])
    expect(await askedBy('tiny', {}, other.key)).toEqual(['shared'])
    await change(id, { allowed_api_key_hashes: null })
    expect(await askedBy('tiny', {}, other.key)).toEqual(['a'])
    expect(await askedBy('tiny', {}, foreign.key)).toEqual(['shared'])
    const { creatorUserId } = [...gateway.deps.snapshot.current().keysByHash.values()][0] ?? {}
    await change(id, { allowed_user_ids: [creatorUserId] })
    expect(await askedBy('tiny', {}, other.key)).toEqual(['a'])
    await change(id, { allowed_user_ids: [] })
    expect(await askedBy('tiny', {}, other.key)).toEqual(['shared'])
  })

  test('applies each change to the next request', async () => {
    const id = await bring('a')
    expect(await askedBy()).toEqual(['a'])
    await change(id, { disabled: true })
    expect(await askedBy()).toEqual(['shared'])
    await change(id, { disabled: false, key: keyOf('b') })
    expect(await askedBy()).toEqual(['b'])
    await change(id, { is_fallback: true })
    expect(await askedBy()).toEqual(['shared'])
    await change(id, { is_fallback: false, is_required: true })
    calls.refused = { b: 403 }
    expect(await askedBy()).toEqual(['b'])
    await gateway.manage('DELETE', `/byok/${id}`)
    expect(await askedBy()).toEqual(['shared'])
  })

  test('is tried after it replaced a key in cooldown', async () => {
    const id = await bring('a')
    calls.refused = { a: 401 }
    expect(await askedBy()).toEqual(['a', 'shared'])
    // Once refused, it has a cooldown; the gateway's credential has none.
    expect(await askedBy()).toEqual(['shared'])
    await change(id, { key: keyOf('b') })
    expect(await askedBy()).toEqual(['b'])
  })

  test('is named in the error if it is required and rejected', async () => {
    await bring('a', { is_required: true })
    calls.refused = { a: 401 }
    const uptime = gateway.deps.measurements.of('one/tiny')?.uptime5m
    const reply = await ask()
    expect([reply.status, reply.text]).toEqual([
      502,
      expect.stringContaining("one rejected the workspace's BYOK key"),
    ])
    expect(reply.text).not.toMatch(/canary|Refused/)
    // Its failures do not count for the endpoint, which other workspaces use too.
    expect(gateway.deps.measurements.of('one/tiny')?.uptime5m).toBe(uptime)
  })

  test('has its own declaration of retention', async () => {
    const strict = { provider: { zdr: true, only: ['openai'] } }
    await bring('a', { provider: 'openai' })
    expect((await ask('openai/gpt-4o-mini', strict)).status).toBe(404)
    await bring('b', { provider: 'openai', declared_zdr: true })
    expect(await askedBy('openai/gpt-4o-mini', strict)).toEqual(['b'])
    // A provider on loopback retains nothing, unless the key declares otherwise.
    await bring('c', { declared_zdr: false })
    expect(await askedBy('tiny', { provider: { zdr: true, only: ['one'] } })).toEqual(['shared'])
  })

  test('is subject to guardrails', async () => {
    await bring('a')
    const { key, hash } = await gateway.makeKey({})
    const made = objectOf(
      await (
        await gateway.manage('POST', '/guardrails', { name: 'Strict', ignored_providers: ['one'] })
      ).json(),
    )
    const rail = objectOf(made['data'])['id']
    await gateway.manage('POST', `/guardrails/${rail}/assignments/keys`, { key_hashes: [hash] })
    expect(await ask('large', {}, key)).toMatchObject({ status: 403, asked: [] })
  })
})

describe('a provider without a credential of the gateway', () => {
  const MODEL = 'openai/gpt-4o-mini'
  async function listed(path: string, key?: string): Promise<unknown[]> {
    const headers = { authorization: `Bearer ${key ?? API_KEY}` }
    const { data } = objectOf(await (await gateway.call(path, undefined, headers)).json())
    return Array.isArray(data) ? data.map((model) => objectOf(model)['id']) : []
  }

  test('is called with the BYOK key of a workspace; lists and routing agree', async () => {
    const { key } = await gateway.makeKey({})
    const foreign = await gateway.makeKey({ workspace_id: await makeWorkspace() })
    const open = { provider: {} }
    const unknown = await ask(MODEL, open, key)
    expect(unknown.status).toBe(404)
    const id = await bring('a', { provider: 'openai', allowed_models: [MODEL] })
    expect(await ask(MODEL, open, key)).toMatchObject({ status: 200, asked: ['a'] })
    expect(await ask('gpt-4o-mini', open, key)).toMatchObject({ status: 200, asked: ['a'] })
    expect(await ask(`${MODEL}:floor`, open, key)).toMatchObject({ status: 200, asked: ['a'] })
    expect(await listed('/models/user?limit=1000', key)).toContain(MODEL)
    // It is for one model alone, and for one workspace alone.
    expect(await listed('/models/user?limit=1000', key)).not.toContain('openai/gpt-4o')
    expect((await ask('openai/gpt-4o', open, key)).status).toBe(404)
    expect(await listed('/models/user?limit=1000', foreign.key)).not.toContain(MODEL)
    const { status, text } = await ask(MODEL, open, foreign.key)
    expect([status, text.replace(/req-\w+/, '')]).toEqual([404, unknown.text.replace(/req-\w+/, '')])
    expect(await listed('/models', key)).not.toContain(MODEL)
    const details = async (model: string, of: string): Promise<number> =>
      (await gateway.call(`/models/${model}/endpoints`, undefined, { authorization: `Bearer ${of}` })).status
    expect([await details(MODEL, key), await details('openai/gpt-4o', key)]).toEqual([200, 404])
    expect(await details(MODEL, foreign.key)).toBe(404)
    await change(id, { disabled: true })
    expect((await ask(MODEL, open, key)).status).toBe(404)
    expect(await listed('/models/user?limit=1000', key)).not.toContain(MODEL)
  })

  test('is called with signatures of the workspace’s access key if it is a cloud', async () => {
    const key = JSON.stringify({ accessKeyId: 'AKIAOWNKEY', secretAccessKey: 'canary-0123456789' })
    await bring('', { provider: 'amazon-bedrock', key })
    const model = 'anthropic/claude-sonnet-4.5'
    const reply = await ask(model, { provider: { only: ['amazon-bedrock'] } })
    expect([reply.status, reply.text]).toEqual([502, expect.stringContaining("the workspace's BYOK key")])
    expect(signatures.at(-1)).toMatch(/^AWS4-HMAC-SHA256 Credential=AKIAOWNKEY\/\d{8}\/eu-west-1\/bedrock\//)
    expect(reply.text).not.toContain('canary')
    expect(await listed('/models/user?limit=1000')).toContain(model)
  })

  test('adds endpoints to models of the gateway under the same names', async () => {
    const before = await listed('/models/user?limit=1000')
    await bring('a', { provider: 'openai' })
    const after = await listed('/models/user?limit=1000')
    expect(after.length).toBeGreaterThan(before.length)
    expect(after).toEqual(expect.arrayContaining(before))
    expect(await askedBy('tiny')).toEqual(['shared'])
  })

  test('is absent from lists for models that is_byok_only excludes', async () => {
    await bring('a', { is_byok_only: true, allowed_models: ['tiny'] })
    const ids = await listed('/models/user')
    expect([ids.includes('tiny'), ids.includes('large')]).toEqual([true, false])
  })
})
