import { expect, test } from 'bun:test'
import type { DialectName, InferenceFrames, JsonObject } from '../../../../src/core/events.ts'
import { NO_USAGE } from '../../../../src/core/usage.ts'
import { ingresses } from '../../../../src/dialects/index.ts'
import { unseal } from '../../../../src/dialects/opaque.ts'
import { merged } from '../../../../src/dialects/responses/carried.ts'
import { collect } from '../../../../src/inference/reply/collect.ts'
import { type Outcome, outcomeOf } from '../../../dialects/chat/outcome.ts'
import { readReply, readStream, writtenReply, writtenStream } from '../../../dialects/messages/written.ts'
import { framesOf, isAnswer } from '../../../dialects/recorded.ts'
import { closingOf } from '../../../dialects/replies.ts'
import { CLOSING, reply as responsesReply } from '../../../dialects/responses/written.ts'
import { forReplies, type Recording } from '../../../recordings.ts'
import { guard, guardrailOf } from './guarding.ts'

/**
 * Every provider's recorded answer, in whatever dialect, for a caller of every dialect whose filters never match: they change
 * nothing of it, however much of it they hold back on the way.
 */

/** Matches are under way all the time, or from the first word on. */
const NEVER = [
  guardrailOf(
    [],
    [
      { pattern: '.{0,40}never said here', action: 'redact', appliesTo: 'output' },
      { pattern: String.raw`(?:\w+\s+){2,}nor zzzqq this`, action: 'block', appliesTo: 'both' },
      { pattern: '(?s).*zzzqq', action: 'block', appliesTo: 'output' },
    ],
  ),
]
const ONLY_FLAGS = [guardrailOf([], [{ pattern: '.', action: 'flag', appliesTo: 'output' }])]

forReplies(['chat', 'cohere', 'converse', 'gemini', 'messages', 'responses'], isAnswer, table)

const CALLERS: readonly DialectName[] = ['chat', 'messages', 'responses']

function table(recordings: readonly Recording[]): void {
  test.each(recordings.map((each) => [each.name, each] as const))('%s', async (_, recording) => {
    for (const stream of [true, false]) {
      const direct = await outcomeOf(framesOf(recording))
      for (const dialect of CALLERS) {
        const options = { dialect, stream }
        const { events, ...said } = await outcomeOf(guard(framesOf(recording), NEVER, options).frames)
        const { events: _, ...expected } = direct
        expect(sorted(said)).toEqual(sorted(expected))
        const flagged = await outcomeOf(guard(framesOf(recording), ONLY_FLAGS, options).frames)
        expect(withoutIds(flagged.events)).toBe(withoutIds(direct.events))
        if (direct.error !== undefined) continue
        await expectWritten(recording, dialect, stream)
      }
    }
  })
}

/** Ids that the reader makes differ. */
const withoutIds = (events: unknown): string =>
  JSON.stringify(events).replace(/"(?:call|toolu)_[0-9a-f]{32}"/g, '"made"')

/** What differs without being something else: how many pieces a thought came in, and what is counted meanwhile. */
function comparable(written: unknown): unknown {
  return JSON.parse(withoutIds(opened(written)), (key, value) => {
    if (key === 'usage') return undefined
    return key === 'reasoning_details' && Array.isArray(value) ? merged(value) : value
  })
}

const opened = (written: unknown): unknown =>
  JSON.parse(JSON.stringify(written), (_, value) => {
    const sealed = typeof value === 'string' ? unseal(value) : undefined
    if (sealed === undefined) return value
    const { details, ...rest } = sealed
    return Array.isArray(details) ? { ...rest, details: merged(details) } : rest
  })

const sorted = (outcome: Omit<Outcome, 'events'>): unknown =>
  JSON.parse(withoutIds({ ...outcome, error: outcome.error === undefined ? null : String(outcome.error) }))

/** What a client puts together of what is written. */
async function expectWritten(recording: Recording, dialect: DialectName, stream: boolean): Promise<void> {
  const filtered = () => guard(framesOf(recording), NEVER, { dialect, stream }).frames
  const [ours, direct] = [
    await written(filtered(), dialect, stream),
    await written(framesOf(recording), dialect, stream),
  ]
  expect(comparable(ours)).toEqual(comparable(direct))
}

async function written(frames: InferenceFrames, dialect: DialectName, stream: boolean): Promise<unknown> {
  if (dialect === 'messages') {
    if (!stream) return readReply(await writtenReply(frames))
    return readStream(await writtenStream(frames))
  }
  const ingress = dialect === 'chat' ? ingresses.chat : ingresses.responses
  if (!stream) {
    const result = await collect(frames, () => undefined)
    const { logprobs: _, ...choices } = { ...result, logprobs: null }
    for (const choice of choices.choices) choice.logprobs = null
    return ingress.writeReply(choices, responsesReply(), closingOf())
  }
  const writer = ingress.writeStream(responsesReply())
  let text = ''
  let finishes = CLOSING.finishes
  for await (const batch of frames) {
    for (const frame of batch) {
      text += writer.write(frame)
      for (const event of frame.events) if (event.type === 'response-end') finishes = event.finishes
    }
  }
  text += writer.end({ ...CLOSING, finishes, usage: NO_USAGE })
  return dialect === 'chat' ? chatMessage(text) : withoutLogprobs(writer.reply?.())
}

const withoutLogprobs = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value, (key, field) => (key === 'logprobs' ? [] : field)))

/** The message of each choice, put together. */
function chatMessage(sse: string): unknown {
  const choices: Record<string, JsonObject>[] = []
  for (const line of sse.split('\n')) {
    if (!line.startsWith('data: {')) continue
    for (const { index, delta, finish_reason } of JSON.parse(line.slice(6)).choices) {
      choices[index] ??= {}
      const choice = choices[index]
      for (const [name, value] of Object.entries<unknown>({ ...delta, finish_reason })) {
        if (typeof value === 'string') choice[name] = ((choice[name] ?? '') + value) as never
        else if (name === 'tool_calls' && Array.isArray(value)) {
          for (const call of value) {
            const key = `call ${call.index}`
            choice[key] = (String(choice[key] ?? '') +
              JSON.stringify(call.function?.arguments ?? '').slice(1, -1)) as never
          }
        }
      }
    }
  }
  return choices
}
