import { expect, test } from 'bun:test'
import { geminiEgress } from '../../../src/dialects/gemini/index.ts'
import { MOST_SEALED_PIECES } from '../../../src/dialects/reply-decoder.ts'
import { upstreamReply } from '../../upstream-reply.ts'
import { outcomeOf } from '../chat/outcome.ts'

const thought = { text: 'so', thought: true, thoughtSignature: 'abcd' }
const candidate = (parts: unknown[], finishReason?: string) => ({
  candidates: [{ content: { parts, role: 'model' }, ...(finishReason ? { finishReason } : {}) }],
})
const thoughts = (count: number) => Array.from({ length: count }, () => thought)
const eventOf = (body: unknown): string => `data: ${JSON.stringify(body)}\n\n`
const streamOf = (count: number): string =>
  `${eventOf(candidate([thought])).repeat(count)}${eventOf(candidate([], 'STOP'))}`

const replies: [name: string, isStream: boolean, body: (count: number) => string][] = [
  ['in a stream', true, streamOf],
  ['in a stream that was not asked for', false, streamOf],
  ['in one piece', false, (count) => JSON.stringify(candidate(thoughts(count), 'STOP'))],
]

test.each(replies)(
  '5,000 signed pieces of reasoning are read, one more is malformed: %s',
  async (_, isStream, body) => {
    const read = (count: number) => outcomeOf(geminiEgress.read(upstreamReply(body(count)), isStream))
    expect((await read(MOST_SEALED_PIECES)).error).toBeUndefined()
    expect((await read(MOST_SEALED_PIECES + 1)).error).toMatchObject({
      kind: 'malformed',
      reason: `the reply has more than ${MOST_SEALED_PIECES} signed pieces of reasoning`,
    })
  },
)
