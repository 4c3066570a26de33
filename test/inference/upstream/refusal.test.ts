import { expect, test } from 'bun:test'
import type { Attempt } from '../../../src/core/attempt.ts'
import { UpstreamError } from '../../../src/core/errors.ts'
import type { UpstreamReply } from '../../../src/core/reply.ts'
import { egresses } from '../../../src/dialects/index.ts'
import { readErrorResponse } from '../../../src/inference/upstream/attempts.ts'
import { createTokens } from '../../../src/providers/token.ts'
import { endpoint, model, provider } from '../fixture.ts'

const attempt: Attempt = {
  model: model('lab/tiny', []),
  endpoint: endpoint('lab', 'lab/tiny'),
  provider: provider('lab'),
  credential: { id: 'one', secret: null },
  dialect: 'chat',
}

/** An error of this status whose body cannot be read to its end. */
const unreadable = (status: number, failure: unknown): UpstreamReply => ({
  status,
  headers: new Headers({ 'retry-after': '7' }),
  bytes: { [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(failure) }) },
  text: () => Promise.reject(failure),
  beginning: () => (failure instanceof UpstreamError ? Promise.resolve('') : Promise.reject(failure)),
})

const refusal = (reply: UpstreamReply) =>
  readErrorResponse(reply, attempt, { tokens: createTokens() }, (status, headers, text) =>
    egresses.chat.readError(status, headers, text),
  )

const FAILURES: [name: string, failure: UpstreamError][] = [
  ['is larger than any reason', new UpstreamError('malformed', 'the reply is larger than 4194304 bytes')],
  ['breaks off', new UpstreamError('connect', 'the connection broke', { code: 'ECONNRESET' })],
  ['stalls', new UpstreamError('timeout', 'the reply stalled for 60000 ms')],
]
test.each(FAILURES)('an error keeps its status where its body %s', async (_, failure) => {
  expect(await refusal(unreadable(400, failure))).toMatchObject({ kind: 'caller', status: 400 })
  expect(await refusal(unreadable(429, failure))).toMatchObject({ kind: 'rate-limit', retryAfterMs: 7000 })
})

test('a client disconnect ends the reading', async () => {
  const left = new DOMException('left', 'AbortError')
  expect(await refusal(unreadable(400, left)).catch((error: unknown) => error)).toBe(left)
})
