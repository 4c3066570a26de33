import { expect, test } from 'bun:test'
import type { Attempt } from '../../../src/core/attempt.ts'
import type { EndpointRecord } from '../../../src/core/snapshot.ts'
import { buildChat } from '../../../src/dialects/chat/build.ts'
import { parseChat } from '../../../src/dialects/chat/parse.ts'
import { providerOf } from '../../providers/environment.ts'
import { attemptFor } from '../attempt.ts'
import type { NamedRow } from '../build-table.ts'
import { USER } from './turns.ts'

/** How Mistral, Perplexity, DeepSeek and others differ in this dialect, by the quirks of their rows. */

export function attemptAt(key: string, facts: Partial<EndpointRecord> = {}): Attempt {
  const provider = providerOf({ [key]: 'secret-1' })
  return attemptFor('chat', { endpoint: { upstreamId: 'm', ...facts }, provider })
}

export function table(key: string, rows: NamedRow[]): void {
  test.each(rows.map((row) => [row.name, row] as const))('%s', (_, { asked, facts, sent, dropped }) => {
    const request = parseChat({ messages: [USER], ...asked }, new Headers())
    const before = JSON.stringify(request)
    const built = buildChat(request, attemptAt(key, facts))
    expect(JSON.stringify(request)).toBe(before)
    expect(built.body).toEqual({ model: 'm', messages: [USER], ...sent })
    expect(built.dropped.sort()).toEqual((dropped ?? []).sort())
  })
}

export const SOME_OF_OPENAI = {
  logit_bias: { '1': 1 },
  top_logprobs: 2,
  logprobs: true,
  min_p: 0.1,
  service_tier: 'flex',
  user: 'u',
  verbosity: 'low',
}
