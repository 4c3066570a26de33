import { expect } from 'bun:test'
import { UpstreamError } from '../../src/core/errors.ts'
import type { Finish } from '../../src/core/events.ts'
import type { Usage } from '../../src/core/usage.ts'
import type { Expected } from '../recordings.ts'
import type { Outcome } from './chat/outcome.ts'

/** Compares the outcome of a reply with what its recording is known to contain. */

/** The value at a path of names in JSON, undefined if it is absent. */
export function at(value: unknown, ...path: string[]): unknown {
  let found = value
  for (const name of path) {
    found = typeof found === 'object' && found !== null ? Reflect.get(found, name) : undefined
  }
  return found
}

export const numberAt = (value: unknown, ...path: string[]): number => {
  const found = at(value, ...path)
  return typeof found === 'number' ? found : 0
}

/** The reason of the error begins with the message that the provider sent. */
export function expectReason(error: unknown, { error: sent }: Expected): void {
  if (!(error instanceof UpstreamError)) throw new Error(`no UpstreamError but ${String(error)}`)
  // The table has the start of the object's JSON.
  const message = /"message": ?"((?:[^"\\]|\\.){1,60})/.exec(String(sent))?.[1] ?? String(sent).slice(0, 60)
  expect(message).not.toBe('')
  expect(error.reason.slice(0, message.length)).toBe(message)
}

/** Arguments of a call as text, `{}` for a call without any. */
export const argumentsOf = (value: unknown): string => {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return text === '' ? '{}' : text
}

/** A reply that was recorded with an error ends in it; another has this finish and no error. */
export function expectEnd(outcome: Outcome, expected: Expected, finishOf: () => Finish): void {
  if (expected.error) {
    expect(outcome.finishes).toEqual([])
    expectReason(outcome.error, expected)
    return
  }
  expect(outcome.error).toBeUndefined()
  expect(outcome.finishes).toEqual([finishOf()])
}

/** The finish of Claude's reasons: `tool_use` ends the answer if the provider ran all of the calls. */
export function finishOf(
  reasons: Readonly<Record<string, Finish['reason']>>,
  native: string | null,
  hasCalls: boolean,
): Finish {
  const reason = native === null ? undefined : reasons[native]
  if (reason === undefined) throw new Error(`unknown finish reason ${native}`)
  return { choice: 0, reason: native === 'tool_use' && !hasCalls ? 'stop' : reason, native }
}

/** The usage to compare, null if the recording has none; then the reply must have none either. */
export function usageToCompare(usage: Usage | null, recorded: Record<string, unknown>): Usage | null {
  if (Object.keys(recorded).length === 0) {
    expect(usage).toBeNull()
    return null
  }
  if (usage === null) throw new Error('usage is lost')
  return usage
}

export const detailsOf = ({ events }: Pick<Outcome, 'events'>) =>
  events.flatMap((event) => (event.type === 'reasoning-detail' ? [event.detail] : []))

/** The text, reasoning and calls are those that were found in the recording. `calls`: those that the client runs. */
export function expectContent(outcome: Outcome, expected: Expected, calls = expected.tool_calls ?? []): void {
  expect(outcome.text).toBe(expected.text ?? '')
  expect(outcome.reasoning).toBe(expected.reasoning ?? '')
  expect(outcome.calls).toEqual(
    calls.map(({ id, name, arguments: given }) => ({
      id: String(id),
      name: String(name),
      arguments: argumentsOf(given),
    })),
  )
}
