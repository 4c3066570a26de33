import type { Attempt } from '../../core/attempt.ts'
import type { FrameBatch, InferenceFrame, InferenceFrames } from '../../core/events.ts'
import type { Generation } from '../generation.ts'

/** A reply whose first content has arrived, or that ended without content. */
export interface Dispatched {
  attempt: Attempt
  frames: InferenceFrames
  dropped: string[]
}

/** A generation that begins with calls asks no provider itself: the steps after it do. */
export function uncalled({ attempts }: Pick<Generation, 'attempts'>): Omit<Dispatched, 'frames'> {
  const [attempt] = attempts
  if (attempt === undefined) throw new Error('a plan without attempts')
  return { attempt, dropped: [] }
}

/** Reads up to the first content. `answer` is the complete stream, with what has been read. */
export async function untilContent(
  frames: InferenceFrames,
  isFirst: (frame: InferenceFrame) => boolean,
  generation?: Pick<Generation, 'replyStartedAt' | 'deps'>,
): Promise<{ answer: InferenceFrames; upstreamId: string | null }> {
  const iterator = frames[Symbol.asyncIterator]()
  let first: FrameBatch = []
  let more: InferenceFrame[] | null = null
  for (;;) {
    const { value, done } = await iterator.next()
    if (done) break
    if (first.length === 0) first = value
    else {
      more ??= [...first]
      for (const frame of value) more.push(frame)
    }
    if (value.some(isFirst)) break
    if (generation && value.some(begins)) generation.replyStartedAt ??= generation.deps.now()
  }
  first = more ?? first
  return { answer: continued(first, iterator), upstreamId: upstreamIdOf(first) }
}

const begins = ({ events }: InferenceFrame): boolean => events.some(({ type }) => type === 'response-start')

function continued(first: FrameBatch, rest: AsyncIterator<FrameBatch>): InferenceFrames {
  // Released once it is read: the rest may take minutes.
  let unread: FrameBatch = first
  const iterator: AsyncIterator<FrameBatch> = {
    next: () => {
      if (unread.length === 0) return rest.next()
      const value = unread
      unread = []
      return Promise.resolve({ value, done: false as const })
    },
    return: async () => {
      unread = []
      await rest.return?.()
      return { value: undefined, done: true as const }
    },
  }
  return { [Symbol.asyncIterator]: () => iterator }
}

export function upstreamIdOf(frames: FrameBatch): string | null {
  for (const frame of frames) {
    for (const event of frame.events)
      if (event.type === 'response-start' && event.upstreamId) return event.upstreamId
  }
  return null
}
