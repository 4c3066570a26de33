/** A gateway that stores responses for a week, with clients of two workspaces. The clock is the test's. */
import { beforeEach } from 'bun:test'
import OpenAI from 'openai'
import { addWorkspace } from '../admin/fixtures.ts'
import { gatewayOfFile, openaiOf } from '../file-setup.ts'
import { type Answer, chunk, DONE, sse, startUpstream, streamed, unary, usageChunk } from '../upstream.ts'

const models = ['tiny', 'broken', 'short'].map((id) => ({
  id,
  pricing: { prompt: '0.000001', completion: '0.000002' },
}))

/** A reply of these words, streamed or complete. */
export const replyOf =
  (words: readonly string[]): Answer =>
  (seen, request) =>
    (seen.body.stream === true ? streamed(words) : unary(words.join('')))(seen, request)

export async function startForStoredResponses() {
  const clock = { now: Date.now() }
  const upstream = startUpstream()
  const gateway = await gatewayOfFile(
    {
      listens: true,
      now: () => clock.now,
      environment: { SLUICE_RESPONSES_RETENTION_DAYS: '7' },
      providers: [{ slug: 'lab', dialect: 'chat', base_url: upstream.baseUrl, models }],
    },
    upstream,
  )
  beforeEach(() => {
    upstream.on('tiny', replyOf(['Hello', ' there']))
    upstream.on('broken', () => sse([chunk({ content: 'Half an' })]))
    upstream.on('short', () => sse([chunk({ content: 'Cut' }), chunk({}, 'length'), usageChunk(), DONE]))
  })
  const { key: foreignKey } = await addWorkspace(gateway)
  return {
    clock,
    upstream,
    gateway,
    client: openaiOf(gateway),
    foreignKey,
    foreign: openaiOf(gateway, foreignKey),
    sentMessages: () => upstream.seen.at(-1)?.body.messages,
    send: (method: string, path: string, key: string) =>
      fetch(`${gateway.url}/v1${path}`, { method, headers: { authorization: `Bearer ${key}` } }),
  }
}

/** The status and the message of a call that must be rejected. */
export async function refusal(
  call: Promise<unknown>,
): Promise<{ status: number | undefined; message: string }> {
  try {
    await call
  } catch (error) {
    if (error instanceof OpenAI.APIError) return { status: error.status, message: error.message }
    throw error
  }
  throw new Error('the call was not rejected')
}
