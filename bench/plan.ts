import type { Caller } from '../src/core/caller.ts'
import { parsePrice } from '../src/core/money.ts'
import type { EndpointRecord, ModelRecord, ProviderRecord, Snapshot } from '../src/core/snapshot.ts'
import { parseChat } from '../src/dialects/chat/parse.ts'
import { estimatePrompt } from '../src/inference/admission/estimate.ts'
import { createHealth } from '../src/inference/routing/health.ts'
import { createMeasurements } from '../src/inference/routing/measurements.ts'
import { needsOf } from '../src/inference/routing/needs.ts'
import { plan } from '../src/inference/routing/plan.ts'
import type { PlanInput } from '../src/inference/routing/plan-input.ts'
import { createConversations } from '../src/inference/routing/stickiness.ts'
import { caller } from '../test/inference/fixture.ts'
import { aligned, markdown } from './print.ts'
import type { Settings } from './settings.ts'
import { median } from './statistics.ts'

/** The processor time of planning one request, with every endpoint healthy and measured. */

const SIZES = [1, 3, 50] as const
const GOAL_MICROS: Readonly<Record<number, number>> = { 3: 4, 50: 25 }
const TURNS = 9
/** Of one endpoint; fewer with more of them. */
const PLANS_PER_TURN = 20_000

const CASES = {
  'by price': {},
  'sort price': { provider: { sort: 'price' } },
  'sort latency': { provider: { sort: 'latency' } },
  'sort throughput': { provider: { sort: 'throughput' } },
  order: { provider: { order: ['provider-2', 'provider-1'] } },
} as const

export async function benchPlan(settings: Settings): Promise<boolean> {
  const rows: string[][] = []
  let isGood = true
  for (const [name, more] of Object.entries(CASES)) {
    const cells = SIZES.map((size) => {
      const micros = median(turnsOf(inputOf(size, more), Math.ceil((3 * PLANS_PER_TURN) / (size + 2))))
      isGood &&= micros <= (GOAL_MICROS[size] ?? Number.POSITIVE_INFINITY)
      return micros.toFixed(2)
    })
    rows.push([name, ...cells])
  }
  const goals = SIZES.map((size) => (GOAL_MICROS[size] === undefined ? '' : String(GOAL_MICROS[size])))
  const head = ['plan', ...SIZES.map((size) => `${size} endpoint${size === 1 ? '' : 's'}`)]
  const print = settings.isMarkdown ? markdown : aligned
  console.log(`${print([head, ...rows, ['goal', ...goals]])}\n`)
  console.log(`Microseconds of processor time for one plan; median of ${TURNS}.`)
  return isGood
}

/** Microseconds per plan, of each turn. The first turn warms up and is left out. */
function turnsOf(input: PlanInput, plans: number): number[] {
  const micros: number[] = []
  for (let turn = 0; turn <= TURNS; turn++) {
    Bun.gc(true)
    const [startedAt, cpu] = [performance.now(), process.cpuUsage()]
    for (let count = 0; count < plans; count++) plan(input)
    const { user, system } = process.cpuUsage(cpu)
    // The smaller one: other work on the machine stretches the wall clock, other threads of this process the other.
    const spent = Math.min((performance.now() - startedAt) * 1_000, user + system)
    if (turn > 0) micros.push(spent / plans)
  }
  return micros
}

function inputOf(size: number, more: object): PlanInput {
  const measurements = createMeasurements(Date.now)
  const health = createHealth({
    clock: Date.now,
    random: Math.random,
    mayRetry: () => true,
    onChange: () => undefined,
  })
  const conversations = createConversations(Date.now)
  const providers = Array.from({ length: size }, (_, index) => providerOf(index))
  const model: ModelRecord = {
    id: 'lab/model',
    canonicalSlug: 'lab/model',
    name: 'Model',
    created: 1_700_000_000,
    endpoints: providers.map(({ slug }, index) => endpointOf(slug, index)),
  }
  for (const [index, { id }] of model.endpoints.entries()) {
    measurements.tried(id, model.id)
    for (let count = 0; count < 20; count++) measurements.answered(id, 100 + ((index * 37 + count) % 90))
  }
  const messages = [
    { role: 'system', content: 'You answer in one sentence.' },
    { role: 'user', content: 'What is a gateway?' },
    { role: 'assistant', content: 'A server between clients and providers.' },
    { role: 'user', content: 'Why would one use it?' },
  ]
  const request = parseChat({ model: model.id, messages, temperature: 0.5, ...more }, new Headers())
  return {
    request,
    needs: needsOf(request, estimatePrompt(request, false)),
    caller: CALLER,
    snapshot: snapshotOf(providers, model),
    now: Date.now(),
    cooldownOf: health.cooldownOf,
    measured: measurements.of,
    recent: measurements.recentOf,
    inFlight: () => 0,
    answeredBy: conversations.endpointOf,
    random: Math.random,
  }
}

const providerOf = (index: number): ProviderRecord => ({
  slug: `provider-${index}`,
  name: `Provider ${index}`,
  kind: 'compatible',
  dialect: 'chat',
  baseUrl: 'http://127.0.0.1:9/v1',
  credentials: [{ id: `credential-${index}`, secret: 'secret' }],
  timeouts: { firstByteMs: 5_000, betweenBytesMs: 5_000, totalMs: 60_000 },
  maxInFlight: 64,
  quirks: {},
  isLocal: false,
})

const endpointOf = (providerSlug: string, index: number): EndpointRecord => ({
  id: `${providerSlug}/lab/model`,
  providerSlug,
  modelId: 'lab/model',
  upstreamId: 'model',
  contextLength: 128_000,
  maxCompletionTokens: 4_096,
  inputModalities: ['text'],
  outputModalities: ['text'],
  supportedParameters: ['temperature', 'tools', 'max_tokens'],
  pricing: {
    prompt: parsePrice(`0.000001${index % 10}`),
    completion: parsePrice(`0.000002${index % 7}`),
    request: 0n,
  },
  quantization: index % 2 === 0 ? 'fp8' : null,
  isZdr: false,
})

const snapshotOf = (providers: readonly ProviderRecord[], model: ModelRecord): Snapshot => ({
  version: 1,
  organizationId: 'organization',
  defaultWorkspaceId: 'workspace',
  keysByHash: new Map(),
  workspacesById: new Map(),
  presets: new Map(),
  providersBySlug: new Map(providers.map((provider) => [provider.slug, provider])),
  models: {
    find: (name) => (name === model.id ? model : undefined),
    isKnown: (name) => name === model.id,
    nearest: () => [],
    list: () => [model],
  },
})

const CALLER: Caller = caller({ name: 'bench' })
