import { describe, expect, test } from 'bun:test'
import { createDirectory } from '../../src/catalog/directory.ts'
import { loadCatalog } from '../../src/catalog/store.ts'
import { environmentProviders } from '../../src/providers/environment.ts'
import { defaults } from '../providers/defaults.ts'

/** Models that OpenAI and xAI serve only on /responses, by their documentation (2026). */

const directoryOf = (environment: Record<string, string>) =>
  createDirectory(loadCatalog(), environmentProviders(environment, defaults).providers, [])

const ONLY = [
  'openai/o1-pro',
  'openai/o3-pro',
  'openai/gpt-5-pro',
  'openai/gpt-5.2-pro',
  'openai/gpt-5-codex',
  'openai/gpt-5.1-codex-max',
  'openai/o3-deep-research',
  'openai/o4-mini-deep-research',
  'x-ai/grok-4.20-multi-agent-0309',
]

describe('models that are served only on /responses', () => {
  const models = directoryOf({ OPENAI_API_KEY: 'k', XAI_API_KEY: 'k' })

  test.each(ONLY)('%s', (id) => {
    expect(models.find(id)?.endpoints.map(({ dialects }) => dialects)).toEqual([['responses']])
  })

  test.each(['openai/gpt-5', 'openai/gpt-4.1', 'openai/o3', 'x-ai/grok-4.3'])('%s is not', (id) => {
    expect(models.find(id)?.endpoints.map(({ dialects }) => dialects)).toEqual([undefined])
  })

  test('are not offered at providers without the dialect', () => {
    const moved = directoryOf({ OPENAI_API_KEY: 'k', OPENAI_BASE_URL: 'https://proxy.example/v1' })
    expect(moved.find('openai/o3-pro')).toBeUndefined()
    expect(moved.find('openai/o3')).toBeDefined()
  })
})
