/** Ramp's intake of AI usage, by OTLP: an address and a bearer token. Its spans have nothing of the vendor's own. */
import { tracesAt } from '../otlp/call.ts'
import { tracesKind } from '../otlp/kind.ts'

export const ramp = tracesKind('ramp', ({ baseUrl = '', apiKey = '' }) => ({
  url: tracesAt(baseUrl),
  headers: { authorization: `Bearer ${apiKey}` },
}))
