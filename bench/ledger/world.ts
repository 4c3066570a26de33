import { asc } from 'drizzle-orm'
import { defaultGuardrail } from '../../src/admin/resources/guardrails/default.ts'
import { newUserId, newUuid } from '../../src/core/ids.ts'
import { hashKey, labelOf, newKey } from '../../src/core/keys.ts'
import { atomically, type Database } from '../../src/db/database.ts'
import {
  apiKeys,
  guardrails,
  organizations,
  users,
  workspaceMembers,
  workspaces,
} from '../../src/db/tables.ts'

/** Who asks in a seeded ledger, and for what. */
export interface World {
  readonly keys: readonly SeededKey[]
  readonly workspaceIds: readonly string[]
  readonly userIds: readonly string[]
}

export interface SeededKey {
  readonly hash: string
  readonly workspaceId: string
  /** The model that it mostly asks for, and the one for the rest. */
  readonly models: readonly [SeededModel, SeededModel]
  /** Counted against a guardrail's budget too; null: against none. */
  readonly guardrailId: string | null
}

interface SeededModel {
  readonly id: string
  readonly providerSlug: string
  readonly providerName: string
  readonly endpointId: string
  /** Nano-dollars a token. */
  readonly price: number
}

const WORKSPACES = 25
const KEYS = 200
const USERS = 50
const PROVIDERS = 8

const MODELS: readonly SeededModel[] = Array.from({ length: 24 }, (_, index) => {
  const slug = `provider-${index % PROVIDERS}`
  const id = `author-${index % 6}/model-${index}`
  return {
    id,
    providerSlug: slug,
    providerName: `Provider ${index % PROVIDERS}`,
    endpointId: `${slug}/${id}`,
    price: 100 + index * 37,
  }
})

/** Workspaces, members and keys in a database after its first run, through the tables that administration writes. */
export async function makeWorld(database: Database): Promise<World> {
  const organization = database.sync.select().from(organizations).get()
  const owner = database.sync.select().from(users).orderBy(asc(users.created_at)).get()
  if (organization === undefined || owner === undefined) throw new Error('the database has no organisation')
  const people = Array.from({ length: USERS }, (_, index) => ({
    id: newUserId(),
    organization_id: organization.id,
    name: `Member ${index}`,
    role: 'member' as const,
  }))
  const spaces = Array.from({ length: WORKSPACES }, (_, index) => ({
    id: newUuid(),
    organization_id: organization.id,
    name: `Workspace ${index}`,
    slug: `workspace-${index}`,
    default_guardrail_id: newUuid(),
    created_by: owner.id,
    created_at: new Date(),
  }))
  const keys = Array.from({ length: KEYS }, (_, index) => keyOf(index, spaces, people))
  await atomically(database, (tx) => [
    tx.insert(users).values(people),
    tx.insert(workspaces).values(spaces),
    tx.insert(guardrails).values(spaces.map(defaultGuardrail)),
    tx
      .insert(workspaceMembers)
      .values(spaces.map(({ id }) => ({ id: newUuid(), workspace_id: id, user_id: owner.id }))),
    tx.insert(apiKeys).values(keys.map(({ row }) => row)),
  ])
  return {
    keys: keys.map(({ seeded }) => seeded),
    workspaceIds: spaces.map(({ id }) => id),
    userIds: people.map(({ id }) => id),
  }
}

function keyOf(index: number, spaces: readonly { id: string }[], people: readonly { id: string }[]) {
  const workspaceId = spaces[index % WORKSPACES]?.id ?? ''
  const key = newKey('inference')
  const hash = hashKey(key)
  const row = {
    hash,
    id: 1000 + index,
    kind: 'inference' as const,
    name: `Key ${index}`,
    label: labelOf(key),
    limit_nano_usd: Number.MAX_SAFE_INTEGER,
    limit_reset: 'monthly' as const,
    creator_user_id: people[index % USERS]?.id ?? '',
    workspace_id: workspaceId,
  }
  const models: [SeededModel, SeededModel] = [modelAt(index), modelAt(index * 7 + 3)]
  return { row, seeded: { hash, workspaceId, models, guardrailId: index % 5 === 0 ? newUuid() : null } }
}

function modelAt(index: number): SeededModel {
  const model = MODELS[index % MODELS.length]
  if (model === undefined) throw new Error('there are no models')
  return model
}
