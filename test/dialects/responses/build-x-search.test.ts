import { describe, expect, test } from 'bun:test'
import type { JsonObject } from '../../../src/core/events.ts'
import type { ProviderQuirks } from '../../../src/core/quirks.ts'
import { buildResponses } from '../../../src/dialects/responses/build.ts'
import { parseResponses } from '../../../src/dialects/responses/parse.ts'
import { vendors } from '../../../src/providers/compatible.ts'
import { attemptFor } from '../attempt.ts'

const FILTER = { allowed_x_handles: ['sluice'], from_date: '2026-01-31', to_date: null }

function built(body: JsonObject, quirks: ProviderQuirks) {
  const attempt = attemptFor('responses', { provider: { quirks } })
  return buildResponses(parseResponses({ model: 'm', input: 'x', ...body }, new Headers()), attempt)
}
const xai = vendors.find(({ slug }) => slug === 'xai')?.quirks ?? {}

describe('x_search_filter', () => {
  test("is xAI's own tool at xAI", () => {
    const { body, dropped } = built({ x_search_filter: FILTER }, xai)
    expect(body).toMatchObject({
      tools: [{ type: 'x_search', allowed_x_handles: ['sluice'], from_date: '2026-01-31' }],
    })
    expect(JSON.stringify(body)).not.toContain('x_search_filter')
    expect(JSON.stringify(body)).not.toContain('to_date')
    expect(dropped).toEqual([])
  })

  test('changes the tool that the caller sent, and no other', () => {
    const tools = [{ type: 'web_search' }, { type: 'x_search', to_date: '2026-03-01' }]
    expect(built({ x_search_filter: FILTER, tools }, xai).body).toMatchObject({
      tools: [
        { type: 'web_search' },
        { type: 'x_search', to_date: '2026-03-01', allowed_x_handles: ['sluice'], from_date: '2026-01-31' },
      ],
    })
  })

  test('is dropped by name at providers without it', () => {
    const { body, dropped } = built({ x_search_filter: FILTER }, { responsesExtensions: false })
    expect(JSON.stringify(body)).not.toContain('x_search')
    expect(dropped).toEqual(['x_search_filter'])
  })
})
