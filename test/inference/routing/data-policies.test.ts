import { describe, expect, test } from 'bun:test'
import { createDirectory } from '../../../src/catalog/directory.ts'
import { readOverrides } from '../../../src/catalog/override-schema.ts'
import { loadCatalog } from '../../../src/catalog/store.ts'
import { GatewayError } from '../../../src/core/errors.ts'
import type { ProviderPreferences } from '../../../src/core/request.ts'
import { plan } from '../../../src/inference/routing/plan.ts'
import { readEntries } from '../../../src/providers/entries.ts'
import { environmentProviders } from '../../../src/providers/environment.ts'
import { defaults } from '../../providers/defaults.ts'
import { caller, request, snapshot } from '../fixture.ts'

/** Slugs that a common model is routed to, or the message of the refusal. */
const catalog = loadCatalog()
const routed = (
  models: string[],
  preferences: Partial<ProviderPreferences>,
  settings: { environment?: Record<string, string>; entries?: unknown[]; models?: unknown[] },
): string => {
  const environment = environmentProviders(settings.environment ?? {}, defaults)
  const file = readEntries(settings.entries, {}, defaults)
  const { overrides, problems } = readOverrides(settings.models)
  expect([...environment.problems, ...file.problems, ...problems]).toEqual([])
  const providers = [...environment.providers, ...file.providers]
  const directory = createDirectory(catalog, providers, file.models, overrides)
  try {
    const { attempts } = plan({
      request: request({ models }, preferences),
      caller: caller(),
      snapshot: snapshot(providers, directory),
      now: 0,
      cooldownOf: () => null,
      random: () => 0.5,
    })
    return attempts
      .map(({ endpoint }) => endpoint.providerSlug)
      .sort()
      .join(' ')
  } catch (error) {
    if (error instanceof GatewayError) return error.message
    throw error
  }
}

const openai = { OPENAI_API_KEY: 'x' }
const several = { DEEPINFRA_API_KEY: 'x', FIREWORKS_API_KEY: 'x', TOGETHER_API_KEY: 'x', XAI_API_KEY: 'x' }
const MINI = ['openai/gpt-4o-mini']
const deny = { dataCollection: 'deny' } as const

describe('openai/gpt-4o-mini at OpenAI', () => {
  test('data_collection: "deny" routes there: it does not train, and stores abuse logs for 30 days', () =>
    expect(routed(MINI, deny, { environment: openai })).toBe('openai'))

  test('zdr: true is refused with how to declare an agreement', () => {
    const refusal = routed(MINI, { zdr: true }, { environment: openai })
    expect(refusal).toContain('openai retains no data only by agreement')
    expect(refusal).toContain('set "data_policy.zdr" to "always"')
  })

  test('zdr: true routes there once it is declared for the model', () => {
    const models = [{ id: MINI[0], provider: 'openai', data_policy: { zdr: 'always' } }]
    expect(routed(MINI, { zdr: true }, { environment: openai, models })).toBe('openai')
  })

  test('zdr: true routes there once it is declared for the provider', () => {
    const base_url = 'https://api.openai.com/v1'
    const entries = [{ slug: 'openai', base_url, api_key: 'x', data_policy: { zdr: 'always' } }]
    expect(routed(MINI, { zdr: true }, { entries })).toBe('openai')
  })

  test('data_collection: "deny" is refused where the operator declares a year of storage', () => {
    const models = [{ id: MINI[0], data_policy: { retention_days: 365 } }]
    expect(routed(MINI, deny, { environment: openai, models })).toContain('stores prompts for 365 days')
  })

  test('at another address nothing is known of it', () => {
    const environment = { ...openai, OPENAI_BASE_URL: 'https://proxy.example/v1' }
    expect(routed(MINI, deny, { environment })).toContain('is not known not to train on prompts')
  })

  test('quantizations is refused with how to declare it, and routes there once it is declared', () => {
    const quantizations = ['fp16', 'bf16']
    const refusal = routed(MINI, { quantizations }, { environment: openai })
    expect(refusal).toContain('the quantization at openai is not known. Set "quantization"')
    const models = [{ id: MINI[0], provider: 'openai', quantization: 'bf16' }]
    expect(routed(MINI, { quantizations }, { environment: openai, models })).toBe('openai')
  })
})

describe('openai/gpt-oss-120b at several providers', () => {
  const OSS = ['openai/gpt-oss-120b']
  test('zdr: true keeps those that store nothing by default', () =>
    expect(routed(OSS, { zdr: true }, { environment: several })).toBe('deepinfra fireworks'))

  test('data_collection: "deny" keeps those that store no longer than operation needs', () =>
    expect(routed(OSS, deny, { environment: several })).toBe('deepinfra fireworks'))

  test('without a preference all of them may serve it', () =>
    expect(routed(OSS, {}, { environment: several })).toBe('deepinfra fireworks together'))
})

test('zdr of DeepInfra does not cover what it passes to Google', () => {
  const environment = { DEEPINFRA_API_KEY: 'x' }
  const id = catalog
    .endpointsOf('deepinfra', ['chat'])
    .map(({ modelId }) => modelId)
    .find((name) => name.startsWith('google/'))
  expect(id).toBeString()
  expect(routed([id ?? ''], { zdr: true }, { environment })).toContain('is not known to retain no data')
})

describe('facts of single models at a vendor', () => {
  const venice = { VENICE_API_KEY: 'x' }
  test('Venice retains nothing of the models that it labels private, and nothing is known of the others', () => {
    expect(routed(['meta-llama/llama-3.3-70b'], { zdr: true }, { environment: venice })).toBe('venice')
    for (const preferences of [{ zdr: true }, deny])
      expect(routed(['anthropic/claude-opus-4.8'], preferences, { environment: venice })).toContain(
        'venice is not known',
      )
  })

  test('OpenCode does not train on prompts of the models that are paid for', () => {
    const environment = { OPENCODE_API_KEY: 'x' }
    expect(routed(['openai/gpt-5.1-codex'], deny, { environment })).toBe('opencode')
    expect(routed(['deepseek/deepseek-v4.1-flash-free'], deny, { environment })).toContain(
      'is not known not to train',
    )
    expect(routed(['openai/gpt-5.1-codex'], { zdr: true }, { environment })).toContain('is not known')
  })

  test.each([
    ['together', 'TOGETHER_API_KEY', 'openai/gpt-oss-120b', 'mxfp4', 'fp8'],
    ['together', 'TOGETHER_API_KEY', 'meta-llama/llama-3.3-70b-instruct', 'fp8', 'fp4'],
    ['cerebras', 'CEREBRAS_API_KEY', 'openai/gpt-oss-120b', 'fp8', 'mxfp4'],
  ])('%s with %s serves %s in %s, and not in %s', (slug, key, model, right, wrong) => {
    const environment = { [key]: 'x' }
    expect(routed([model], { quantizations: [right] }, { environment })).toBe(slug)
    expect(routed([model], { quantizations: [wrong] }, { environment })).toContain('uantization')
    // What the operator declares precedes it.
    const models = [{ id: model, provider: slug, quantization: wrong }]
    expect(routed([model], { quantizations: [wrong] }, { environment, models })).toBe(slug)
  })
})
