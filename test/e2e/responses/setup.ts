/** POST /responses in front of providers of four dialects, called by OpenAI's own client. */
import { gatewayOfFile, openaiOf, queuedUpstream, readJson } from '../../file-setup.ts'

export const DIALECTS = ['chat', 'messages', 'gemini', 'responses'] as const
const pricing = { prompt: '0.000001', completion: '0.000002' }

export async function startForResponses() {
  const upstream = queuedUpstream(readJson)
  const gateway = await gatewayOfFile(
    {
      listens: true,
      providers: DIALECTS.map((dialect) => ({
        slug: `lab-${dialect}`,
        name: `Lab ${dialect}`,
        dialect,
        base_url: `${upstream.origin}/v1`,
        api_key: 'secret',
        models: [
          {
            id: `${dialect}-lamps`,
            upstream_id: dialect === 'gemini' ? 'gemini-3-lamps' : 'lamps',
            max_completion_tokens: 9_000,
            pricing,
          },
          ...['refused', 'broken', 'busy'].map((id) => ({
            id: `${dialect}-${id}`,
            upstream_id: id,
            pricing,
          })),
        ],
      })),
    },
    upstream,
  )
  gateway.deps.run.wait = async () => undefined
  return { upstream, gateway, client: openaiOf(gateway) }
}
