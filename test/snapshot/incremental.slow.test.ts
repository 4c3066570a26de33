import { afterAll, beforeAll, expect, test } from 'bun:test'
import { change } from '../../src/admin/change.ts'
import { createApp } from '../../src/app.ts'
import type { GuardrailRecord } from '../../src/core/guardrail.ts'
import type { Snapshot } from '../../src/core/snapshot.ts'
import { atomically } from '../../src/db/database.ts'
import { guardrailKeys, guardrailMembers, guardrails, users } from '../../src/db/tables.ts'
import type { Handler } from '../../src/http/edge.ts'
import { objectOf } from '../../src/http/json.ts'
import { createSnapshotSource } from '../../src/snapshot/source.ts'
import { type Gateway, MANAGEMENT_KEY, startGateway } from '../gateway.ts'
import { call } from '../scenario.ts'

/** A Snapshot that was changed row by row equals one that is read afresh, whatever administration did. */

let gateway: Gateway
let handler: Handler
beforeAll(async () => {
  gateway = await startGateway({ environment: { OPENAI_API_KEY: 'sk-test-0123456789' } })
  handler = createApp(gateway.deps)
  const { organizationId } = gateway.deps.snapshot.current()
  await atomically(gateway.database, (tx) => [
    tx.insert(users).values(
      [...USERS, LEAVER].map((id) => ({
        id,
        organization_id: organizationId,
        role: 'member' as const,
        name: id,
      })),
    ),
  ])
})
afterAll(() => gateway.stop())

const USERS = ['user_ada', 'user_bob', 'user_cleo']
/** Makes no keys, so that they may leave. */
const LEAVER = 'user_dee'

/** Filters are functions: what of them can be compared. */
const plainGuardrail = ({ filters, ...rest }: GuardrailRecord) => ({
  ...rest,
  filters: filters && { onInput: filters.holdOnInput, rewrites: filters.output?.rewrites },
})

const plain = ({
  keysByHash,
  workspacesById,
  presets,
  byokKeys,
  organizationId,
  defaultWorkspaceId,
}: Snapshot) => ({
  organizationId,
  defaultWorkspaceId,
  keys: [...keysByHash.values()]
    .map((key) => ({ ...key, guardrails: key.guardrails?.map(plainGuardrail) }))
    .sort((a, b) => (a.hash < b.hash ? -1 : 1)),
  workspaces: [...workspacesById.values()].sort((a, b) => (a.id < b.id ? -1 : 1)),
  presets: [...workspacesById.values()].map(({ id }) => [id, presets.get(id)]).sort(),
  byokKeys: [...workspacesById.values()].map(({ id }) => [id, byokKeys?.get(id)]).sort(),
})

function afresh(): Snapshot {
  const { providersBySlug, models } = gateway.deps.snapshot.current()
  const routing = { providers: [...providersBySlug.values()], models }
  const secrets = { sealer: gateway.deps.sealer, onUnreadable: () => undefined }
  return createSnapshotSource(gateway.database, routing, secrets).current()
}

/** Numbers that look random and are the same each time. */
function dice(seed: number) {
  let state = seed
  const below = (count: number): number => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff
    return (state >> 8) % count
  }
  return { below, of: <Item>(items: readonly Item[]): Item | undefined => items[below(items.length)] }
}

/** What there is to be changed. */
const there = {
  keys: [] as string[],
  workspaces: [] as string[],
  guardrails: [] as string[],
  byok: [] as string[],
}

async function manage(method: string, path: string, body?: unknown): Promise<unknown> {
  const reply = await call(handler, { method, path: `/api/v1${path}`, key: MANAGEMENT_KEY, body })
  if (reply.status >= 500) throw new Error(`${method} ${path}: ${reply.status} ${reply.text}`)
  return reply.status < 300 && reply.text !== '' ? objectOf(reply.json)['data'] : undefined
}
async function made(list: string[], field: string, path: string, body: unknown): Promise<void> {
  const data = await manage('POST', path, body)
  if (data !== undefined) list.push(String(objectOf(data)[field]))
}

type Dice = ReturnType<typeof dice>
const LISTS = [null, ['openai/gpt-5'], ['gpt-5', 'no/such'], []]
const FILTERS = [
  null,
  [{ pattern: 'a+', action: 'flag' }],
  [{ pattern: 'b+', action: 'redact', apply_to: 'both' }],
]
const RATES = [null, { requests_per_minute: 5 }]
const guardrailFields = (d: Dice) => ({
  name: `g${d.below(1000)}`,
  allowed_models: d.of(LISTS),
  content_filters: d.of(FILTERS),
  ...(d.below(2) ? { limit_usd: 1 + d.below(9), reset_interval: 'daily' } : {}),
})

const OPERATIONS: readonly ((d: Dice) => Promise<unknown>)[] = [
  (d) =>
    made(there.keys, 'hash', '/keys', {
      name: 'k',
      workspace_id: d.of(there.workspaces),
      creator_user_id: d.of(USERS),
      rate_limits: d.of(RATES),
      limit: d.below(5),
    }),
  (d) =>
    manage('PATCH', `/keys/${d.of(there.keys)}`, { disabled: d.below(2) === 1, name: `n${d.below(99)}` }),
  (d) => manage('PATCH', `/keys/${d.of(there.keys)}`, { limit: d.below(9), rate_limits: d.of(RATES) }),
  (d) => manage('DELETE', `/keys/${d.of(there.keys)}`),
  (d) => made(there.workspaces, 'id', '/workspaces', { name: 'w', slug: `w${d.below(40)}` }),
  (d) =>
    manage('PATCH', `/workspaces/${d.of(there.workspaces)}`, {
      name: `n${d.below(99)}`,
      default_text_model: d.of(['openai/gpt-5', null]),
      rate_limits: d.of(RATES),
      is_observability_io_logging_enabled: d.below(2) === 1,
    }),
  (d) => (d.below(4) === 0 ? manage('DELETE', `/workspaces/${d.of(there.workspaces)}`) : Promise.resolve()),
  (d) =>
    made(there.guardrails, 'id', '/guardrails', {
      ...guardrailFields(d),
      workspace_id: d.of(there.workspaces),
    }),
  (d) => manage('PATCH', `/guardrails/${d.of(there.guardrails)}`, guardrailFields(d)),
  (d) => manage('DELETE', `/guardrails/${d.of(there.guardrails)}`),
  (d) =>
    manage('POST', `/guardrails/${d.of(there.guardrails)}/assignments/keys`, {
      key_hashes: [d.of(there.keys)],
    }),
  () => {
    const row = gateway.database.sync.select().from(guardrailKeys).get()
    return manage('POST', `/guardrails/${row?.guardrail_id}/assignments/keys/remove`, {
      key_hashes: [row?.key_hash],
    })
  },
  (d) =>
    manage('POST', `/guardrails/${d.of(there.guardrails)}/assignments/members`, {
      member_user_ids: [d.of(USERS)],
    }),
  () => {
    const row = gateway.database.sync.select().from(guardrailMembers).get()
    const path = `/guardrails/${row?.guardrail_id}/assignments/members/remove`
    return manage('POST', path, { member_user_ids: [row?.user_id] })
  },
  (d) => manage('PUT', `/workspaces/${d.of(there.workspaces)}/budgets/daily`, { limit_usd: 1 + d.below(9) }),
  (d) => manage('DELETE', `/workspaces/${d.of(there.workspaces)}/budgets/daily`),
  (d) =>
    manage('POST', `/presets/p${d.below(4)}/chat/completions?workspace_id=${d.of(there.workspaces)}`, {
      model: 'openai/gpt-5',
      temperature: d.below(2),
      messages: [{ role: 'user', content: 'x' }],
    }),
  (d) => manage('PATCH', `/presets/p${d.below(4)}`, { status: d.of(['active', 'disabled', 'archived']) }),
  (d) =>
    made(there.byok, 'id', '/byok', {
      provider: 'openai',
      key: `sk-proj-${d.below(1e6)}-0123456789`,
      workspace_id: d.of(there.workspaces),
      allowed_models: d.of(LISTS),
    }),
  (d) =>
    manage('PATCH', `/byok/${d.of(there.byok)}`, { disabled: d.below(2) === 1, allowed_models: d.of(LISTS) }),
  (d) => manage('DELETE', `/byok/${d.of(there.byok)}`),
  (d) => manage('PUT', '/credits', { total_credits: d.of([null, 10, 20]) }),
  async () => {
    const id = gateway.database.sync.select().from(guardrails).get()?.id
    await manage('POST', `/guardrails/${id}/assignments/members`, { member_user_ids: [LEAVER] })
    await manage('DELETE', `/organization/members/${LEAVER}`)
  },
]

test('after any changes it equals one that is read afresh, and those before it stay as they were', async () => {
  const d = dice(11)
  there.workspaces.push(gateway.deps.snapshot.current().defaultWorkspaceId)
  const answers = new Map<number, number>()
  const former: { snapshot: Snapshot; was: unknown }[] = []
  for (let step = 0; step < 400; step++) {
    const index = d.below(OPERATIONS.length)
    const { version } = gateway.deps.snapshot.current()
    await OPERATIONS[index]?.(d)
    const snapshot = gateway.deps.snapshot.current()
    if (snapshot.version !== version) answers.set(index, (answers.get(index) ?? 0) + 1)
    const now = plain(snapshot)
    expect(now).toEqual(plain(afresh()))
    if (step % 20 === 0) former.push({ snapshot, was: now })
  }
  for (const { snapshot, was } of former) expect<unknown>(plain(snapshot)).toEqual(was)
  // Each operation has changed something: none was refused every time.
  expect([...OPERATIONS.keys()].filter((index) => !answers.has(index))).toEqual([])
}, 60_000)

test('a transaction that fails changes nothing', async () => {
  const before = gateway.deps.snapshot.current()
  const actor = {
    type: 'system',
    id: 'x',
    label: 'x',
    userId: '',
    requestId: null,
    address: null,
    userAgent: null,
  } as const
  const entry = { action: 'user.create', resourceId: 'x', workspaceId: null } as const
  const fails = change(gateway.deps, actor, entry, (tx) => {
    gateway.database.file.run("UPDATE api_keys SET name = 'changed'")
    gateway.database.file.run("UPDATE workspaces SET name = 'changed'")
    return [
      tx.insert(users).values({ id: USERS[0] ?? '', organization_id: 'none', role: 'member', name: 'twice' }),
    ]
  })
  expect(await fails.catch((error: unknown) => error)).toBeInstanceOf(Error)
  gateway.deps.snapshot.applyChanges()
  expect(gateway.deps.snapshot.current()).toBe(before)
})
