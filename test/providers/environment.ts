import { expect } from 'bun:test'
import type { ProviderRecord } from '../../src/core/snapshot.ts'
import { environmentProviders } from '../../src/providers/environment.ts'
import { defaults } from './defaults.ts'

/** The one provider that these environment variables configure. */
export function providerOf(environment: Record<string, string>): ProviderRecord {
  const { providers, problems } = environmentProviders(environment, defaults)
  expect(problems).toEqual([])
  const [provider, ...others] = providers
  expect(others).toEqual([])
  if (provider === undefined) throw new Error('no provider is configured')
  return provider
}
