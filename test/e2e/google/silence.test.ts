import { expect, test } from 'bun:test'
import { gatewayOfFile, labOf } from '../../file-setup.ts'
import { API_KEY } from '../../gateway.ts'
import { frames, paced, startUpstream } from '../../upstream.ts'

/**
 * Keep-alives of Google's API. google-genai for Python reads a comment as a broken chunk, so that silence is filled with
 * empty lines, which every client skips. The clock is ours.
 */

let now = Date.UTC(2026, 0, 1)

const upstream = startUpstream()
const gateway = await gatewayOfFile(
  {
    listens: true,
    now: () => now,
    providers: [labOf(upstream, ['slow'])],
  },
  upstream,
)

test.each([
  ['?alt=sse', /^\n+data: \{/],
  ['', /^\n+\[\{/],
])('streamGenerateContent%s', async (query, form) => {
  const held = Promise.withResolvers<void>()
  upstream.on('slow', () => paced(frames(['late']), 'close', () => held.promise))
  const passing = setInterval(() => {
    now += 1_000
  }, 5)
  const response = await fetch(`${gateway.url}/v1beta/models/slow:streamGenerateContent${query}`, {
    method: 'POST',
    headers: { 'x-goog-api-key': API_KEY },
    body: JSON.stringify({ contents: 'Hello' }),
  })
  // The headers come with the first keep-alive.
  clearInterval(passing)
  held.resolve()
  const text = await response.text()
  expect(text).not.toContain('SLUICE')
  expect(text).toMatch(form)
  expect(text).toContain('"late"')
})
