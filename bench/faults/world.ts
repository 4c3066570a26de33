import { requestBody } from '../answers.ts'
import { makeKey, spentNanoUsd } from '../ledger/administration.ts'
import { entry, startSluice } from '../sluice.ts'
import type { Target } from '../target.ts'
import { answers } from './behaviours.ts'
import { type Behaviour, type ScriptedProvider, startProvider } from './provider.ts'

/** One endpoint of a model, at a provider of its own. */
export interface EndpointSpec {
  behaviour?: Behaviour
  /** In place of the scripted provider's address. */
  baseUrl?(port: number): string
  /** Fields of the `providers:` entry. */
  entry?: object
}

interface Answer {
  /** 0: the connection to the gateway broke. */
  status: number
  body: string
  ms: number
}

/** A gateway in a process of its own, before scripted providers. Every endpoint has its own provider. */
export interface World {
  readonly target: Target
  readonly key: string
  provider(model: string, index: number): ScriptedProvider
  /** Asks for a model; its endpoints are tried in order unless `preferences` say otherwise. */
  ask(model: string, options?: { isStream?: boolean; preferences?: object }): Promise<Answer>
  /** Has so many requests answered that the gateway's retry budget, a share of them, allows for this many retries. */
  earnRetries(count: number): Promise<void>
  /** Calls at all providers so far. */
  calls(): number
  spent(): Promise<number>
  stop(): Promise<void>
}

export type StartWorld = (models: ReadonlyMap<string, readonly EndpointSpec[]>) => Promise<World>

const PATIENCE_MS = 30_000
/** A model that every world has, at a provider that never fails. */
const PLAIN = 'plain'
const REQUESTS_PER_RETRY = 5

export async function startWorld(
  models: ReadonlyMap<string, readonly EndpointSpec[]>,
  options: { folder: string; fromSource: boolean },
): Promise<World> {
  const providers = new Map<string, ScriptedProvider>()
  const entries: object[] = []
  const every: ReadonlyMap<string, readonly EndpointSpec[]> = new Map([...models, [PLAIN, [{}]]])
  for (const [model, specs] of every) {
    for (const [index, spec] of specs.entries()) {
      const provider = await startProvider(spec.behaviour ?? answers)
      const slug = slugOf(model, index)
      providers.set(slug, provider)
      entries.push({
        ...entry(slug, 'chat', provider.port, [model]),
        ...(spec.baseUrl ? { base_url: spec.baseUrl(provider.port) } : {}),
        ...spec.entry,
      })
    }
  }
  const target = await startSluice({ ...options, upstreamPort: 0, bunFlags: [], providers: entries, keys: 0 })
  const { key, hash } = await makeKey(target, { limit: 100_000 })
  const inOrder = (model: string) => ({
    order: (models.get(model) ?? []).map((_, index) => slugOf(model, index)),
  })
  const asking = (model: string, isStream: boolean, preferences: object) =>
    ask(target, key, bodyOf(model, isStream, preferences))
  return {
    target,
    key,
    provider(model, index) {
      const provider = providers.get(slugOf(model, index))
      if (provider === undefined) throw new Error(`there is no provider ${slugOf(model, index)}`)
      return provider
    },
    ask: (model, { isStream = false, preferences = inOrder(model) } = {}) =>
      asking(model, isStream, preferences),
    async earnRetries(count) {
      for (let batch = 0; batch < REQUESTS_PER_RETRY; batch++)
        await Promise.all(Array.from({ length: count }, () => asking(PLAIN, false, {})))
    },
    calls: () => [...providers.values()].reduce((sum, provider) => sum + provider.calls(), 0),
    spent: () => spentNanoUsd(target, hash),
    async stop() {
      await target.stop()
      for (const provider of providers.values()) provider.stop()
    },
  }
}

export const slugOf = (model: string, index: number): string => `${model}-${index}`

const bodyOf = (model: string, isStream: boolean, provider: object): string =>
  JSON.stringify({ ...JSON.parse(requestBody(model, isStream ? 'stream' : 'unary')), provider })

async function ask({ port, path }: Target, key: string, body: string): Promise<Answer> {
  const startedAt = performance.now()
  let status = 0
  let text = ''
  try {
    const reply = await fetch(`http://127.0.0.1:${port}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body,
      signal: AbortSignal.timeout(PATIENCE_MS),
    })
    status = reply.status
    text = await reply.text()
  } catch (error) {
    return { status: 0, body: `${status} ${error}`, ms: performance.now() - startedAt }
  }
  return { status, body: text, ms: performance.now() - startedAt }
}
