import type { Attempt } from '../../src/core/attempt.ts'
import type { Caller } from '../../src/core/caller.ts'
import type { GuardrailRecord } from '../../src/core/guardrail.ts'
import { type Price, parsePrice } from '../../src/core/money.ts'
import type { InferenceRequest, ProviderPreferences } from '../../src/core/request.ts'
import type {
  EndpointRecord,
  KeyRecord,
  ModelDirectory,
  ModelRecord,
  Pricing,
  ProviderRecord,
  Snapshot,
  WorkspaceRecord,
} from '../../src/core/snapshot.ts'

import { createRecent, type Recent } from '../../src/inference/routing/recent.ts'

export const usd = (decimal: string): Price => parsePrice(decimal)

export const pricing = (prompt: string, completion: string, more: Partial<Pricing> = {}): Pricing => ({
  prompt: usd(prompt),
  completion: usd(completion),
  request: 0n,
  ...more,
})

export const provider = (slug: string, more: Partial<ProviderRecord> = {}): ProviderRecord => ({
  slug,
  name: slug.toUpperCase(),
  kind: 'compatible',
  dialect: 'chat',
  baseUrl: 'http://127.0.0.1:9/v1',
  credentials: [{ id: `${slug}-1`, secret: 'secret' }],
  timeouts: { firstByteMs: 5_000, betweenBytesMs: 5_000, totalMs: 60_000 },
  maxInFlight: 64,
  quirks: {},
  isLocal: false,
  ...more,
})

export const endpoint = (
  providerSlug: string,
  modelId: string,
  more: Partial<EndpointRecord> = {},
): EndpointRecord => ({
  id: `${providerSlug}/${modelId}`,
  providerSlug,
  modelId,
  upstreamId: modelId.split('/').at(-1) ?? modelId,
  contextLength: 128_000,
  maxCompletionTokens: 4_096,
  inputModalities: ['text'],
  outputModalities: ['text'],
  supportedParameters: null,
  pricing: pricing('0.000001', '0.000002'),
  quantization: null,
  isZdr: false,
  ...more,
})

export const model = (id: string, endpoints: EndpointRecord[]): ModelRecord => ({
  id,
  canonicalSlug: id,
  name: id,
  created: 1_700_000_000,
  endpoints,
})

export function directory(models: ModelRecord[], known: string[] = []): ModelDirectory {
  const byId = new Map(models.map((entry) => [entry.id, entry]))
  return {
    find: (name) => byId.get(name),
    isKnown: (name) => byId.has(name) || known.includes(name),
    nearest: (_, count) => [...byId.keys()].slice(0, count),
    list: () => models,
  }
}

/** An endpoint that was tried a moment ago, with these figures. */
export function recentAs({
  latency,
  speed,
}: {
  latency?: number | undefined
  speed?: number | undefined
}): Recent {
  const recent = createRecent()
  recent.triedAt = Number.MAX_SAFE_INTEGER
  recent.tries = 100
  if (latency !== undefined) recent.latencyMs.add(0, latency)
  if (speed !== undefined) recent.tokensPerSecond.add(0, speed)
  return recent
}

export const snapshot = (providers: ProviderRecord[], models: ModelDirectory): Snapshot => ({
  version: 1,
  organizationId: 'org_1',
  defaultWorkspaceId: 'w1',
  keysByHash: new Map(),
  workspacesById: new Map(),
  presets: new Map(),
  providersBySlug: new Map(providers.map((entry) => [entry.slug, entry])),
  models,
})

export const key = (more: Partial<KeyRecord> = {}): KeyRecord => ({
  hash: 'h'.repeat(64),
  id: 1,
  kind: 'inference',
  name: 'test',
  label: 'sk-sl-v1-abc...xyz',
  disabled: false,
  limitNanoUsd: null,
  limitReset: null,
  includeByokInLimit: false,
  expiresAt: null,
  creatorUserId: 'user_1',
  externalUser: null,
  workspaceId: 'w1',
  ...more,
})

export const workspace = (more: Partial<WorkspaceRecord> = {}): WorkspaceRecord => ({
  id: 'w1',
  slug: 'default',
  name: 'Default',
  defaultGuardrailId: 'g1',
  defaultTextModel: null,
  defaultProviderSort: null,
  ...more,
})

export const caller = (
  keyMore: Partial<KeyRecord> = {},
  workspaceMore: Partial<WorkspaceRecord> = {},
): Caller => ({
  key: key(keyMore),
  workspace: workspace(workspaceMore),
})

export const request = (
  more: Partial<InferenceRequest> = {},
  preferences: Partial<ProviderPreferences> = {},
): InferenceRequest => ({
  apiType: 'completions',
  dialect: 'chat',
  body: {},
  models: ['lab/tiny'],
  stream: false,
  messages: [{ role: 'user', content: 'Hello' }],
  tools: [],
  sampling: {},
  preferences: { allowFallbacks: true, requireParameters: false, ...preferences },
  echoUpstreamBody: false,
  parameters: [],
  ...more,
})

/** A guardrail that allows everything, except what `more` says. */
export const guardrail = (more: Partial<GuardrailRecord> = {}): GuardrailRecord => ({
  id: 'g1',
  name: 'Careful',
  allowedModels: null,
  ignoredModels: null,
  allowedProviders: null,
  ignoredProviders: null,
  allowedRegions: null,
  zdrAuthors: new Set(),
  mayTrainFree: true,
  mayTrainPaid: true,
  limitNanoUsd: null,
  resetInterval: null,
  includeByok: false,
  scope: 'key',
  ...more,
})

/** An attempt at this model of this provider with this credential. */
export const attemptAt = (slug: string, modelId = 'lab/tiny', credentialId = 'c1'): Attempt => {
  const at = endpoint(slug, modelId)
  return {
    model: model(modelId, [at]),
    endpoint: at,
    provider: provider(slug),
    credential: { id: credentialId, secret: null },
    dialect: 'chat',
  }
}
