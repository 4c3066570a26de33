import type { FrameBatch, InferenceEvent } from '../../../../src/core/events.ts'
import type { PatternEntry } from '../../../../src/filters/compile.ts'
import { collect } from '../../../../src/inference/reply/collect.ts'
import { frame } from '../../../dialects/responses/frames.ts'
import { type Guarded, guardrailOf } from './guarding.ts'

/** What filters make of answers: of each kind of text, of several choices, and of what ends too early. */

export const EMAIL = guardrailOf([{ slug: 'email', action: 'redact', appliesTo: 'output' }], [])

export const MARK = '[REDACTED:email]'

export const MAIL = 'ann@site.example'

export const pattern = (more: Partial<PatternEntry>): PatternEntry => ({
  pattern: 'secret',
  action: 'block',
  appliesTo: 'output',
  ...more,
})

export const BLOCK = guardrailOf([], [pattern({})])

export const end = (...reasons: ('stop' | 'tool_calls')[]): InferenceEvent => ({
  type: 'response-end',
  finishes: (reasons.length === 0 ? (['stop'] as const) : reasons).map((reason, choice) => ({
    choice,
    reason,
    native: reason,
  })),
})

export const refusal = (value: string): InferenceEvent => ({ type: 'refusal-delta', choice: 0, text: value })

export const of = (choice: number, event: InferenceEvent): InferenceEvent =>
  'choice' in event ? { ...event, choice } : event

export const each = (events: readonly InferenceEvent[]): FrameBatch[] => events.map((event) => [frame(event)])

export async function read({ frames }: Pick<Guarded, 'frames'>) {
  const events: InferenceEvent[] = []
  let error: unknown
  const changed = (async function* () {
    try {
      for await (const batch of frames) {
        for (const { events: own } of batch) events.push(...own)
        yield batch
      }
    } catch (caught) {
      error = caught
    }
  })()
  const { choices } = await collect(changed, () => undefined)
  return { events, choices, error }
}

export const only = async (guarded: Guarded) => {
  const { choices } = await read(guarded)
  const [choice] = choices
  if (!choice) throw new Error('no choice came')
  return choice
}
