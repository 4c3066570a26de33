import type { ProviderDefaults } from '../../src/providers/environment.ts'

export const defaults: ProviderDefaults = {
  timeouts: { firstByteMs: 1_000, betweenBytesMs: 2_000, totalMs: 3_000 },
  maxInFlight: 7,
}
