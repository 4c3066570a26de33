/** A gateway in front of two providers of chat completions: the second one has the model `backup` alone. */
import { beforeEach } from 'bun:test'
import { gatewayOfFile, lastRowOf } from '../file-setup.ts'
import { startUpstream } from '../upstream.ts'

/** A model for each failure, so that the circuit breaker of one does not decide about the next. */
export const FAILING = Array.from({ length: 40 }, (_, index) => `failing-${index}`)

export async function startForChat() {
  const upstream = startUpstream()
  const entry = (slug: string, models: readonly string[]) => ({
    slug,
    name: slug.toUpperCase(),
    dialect: 'chat',
    base_url: upstream.baseUrl,
    api_key: `secret-of-${slug}`,
    models: models.map((id) => ({
      id,
      pricing: { prompt: '0.000001', completion: '0.000002', request: '0' },
    })),
  })
  const gateway = await gatewayOfFile(
    { providers: [entry('lab', ['tiny', 'other', 'mistaken', ...FAILING]), entry('second', ['backup'])] },
    upstream,
  )
  beforeEach(() => {
    upstream.seen.length = 0
  })
  return { upstream, gateway, lastGeneration: lastRowOf(gateway) }
}

export const ask = (more: Record<string, unknown> = {}) => ({
  model: 'tiny',
  messages: [{ role: 'user', content: 'Hello' }],
  ...more,
})
