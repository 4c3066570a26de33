import type { JsonObject } from '../../core/events.ts'
import { fieldsOf, isObject } from '../../core/json.ts'
import { type Candidate, candidatesIn } from './candidates.ts'
import { type Repair, Unrepairable } from './cursor.ts'
import { checkSchema } from './schema-check.ts'

/** An answer after its check. */
export type Healed =
  /** It is what the caller asked for, to the byte. */
  | { kind: 'whole'; unchecked: readonly string[] }
  | { kind: 'healed'; text: string; repairs: readonly Repair[]; unchecked: readonly string[] }
  /** `reason` completes "The answer … ". */
  | { kind: 'failed'; reason: string }

/** Longer answers are not repaired: a repair is one turn of the event loop, of up to 100 ms for hostile ones. */
const LONGEST_HEALED = 100_000

/** The schema that an answer must match: null if any JSON does. Undefined: no JSON was asked for. */
export function schemaOf(format: JsonObject | undefined): JsonObject | null | undefined {
  if (format?.type === 'json_object') return null
  if (format?.type !== 'json_schema') return undefined
  const { schema } = fieldsOf(format.json_schema)
  return isObject(schema) ? schema : null
}

/** Repairs an answer that should be JSON. An answer that is whole is never changed. */
export function heal(answer: string, schema: JsonObject | null): Healed {
  const whole = parsed(answer)
  let problem: string | null = null
  if (whole !== undefined && (schema !== null || typeof whole.value === 'object')) {
    const checked = checkedBy(whole.value, schema)
    if (checked.problem === null) return { kind: 'whole', unchecked: checked.unchecked }
    problem = `does not match the schema: ${checked.problem}`
  }
  if (answer.length > LONGEST_HEALED)
    return failed(
      problem ?? `is longer than the ${LONGEST_HEALED.toLocaleString('en')} characters that are repaired`,
    )
  try {
    return best(unwrapped(candidatesIn(answer)), schema, problem)
  } catch (error) {
    if (error instanceof Unrepairable) return failed(problem ?? `is not JSON: ${error.message}`)
    throw error
  }
}

const failed = (reason: string): Healed => ({ kind: 'failed', reason })

function parsed(text: string): { value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) }
  } catch {
    return undefined
  }
}

const checkedBy = (value: unknown, schema: JsonObject | null) =>
  schema === null ? { problem: null, unchecked: [] } : checkSchema(value, schema)

/** A string that holds JSON again stands for it. */
function unwrapped(candidates: readonly Candidate[]): Candidate[] {
  return candidates.flatMap((candidate) => {
    if (typeof candidate.value !== 'string' || !/^\s*[[{"]/.test(candidate.value.slice(0, 1_000)))
      return [candidate]
    const inner = candidatesIn(candidate.value).map((each) => ({
      ...each,
      repairs: new Set<Repair>([...candidate.repairs, ...each.repairs, 'escaped']),
      length: candidate.length,
    }))
    return [...inner, candidate]
  })
}

/** Values whose problems are looked for; the others are shorter. */
const MOST_CHECKED = 20

/**
 * The longest value that matches, the last one of several of about the same length: a model that answers twice corrects
 * itself. Without a schema an object comes before a list, and a text is not an answer.
 */
function best(candidates: readonly Candidate[], schema: JsonObject | null, problem: string | null): Healed {
  const fitting = candidates.filter(({ value }) => schema !== null || typeof value === 'object')
  const ranked = [...fitting]
    .reverse()
    .sort((a, b) => rankOf(b, schema) - rankOf(a, schema) || lengthRank(b) - lengthRank(a))
  let first = problem
  for (const { json, value, repairs } of ranked.slice(0, MOST_CHECKED)) {
    const { problem: found, unchecked } = checkedBy(value, schema)
    if (found === null) return { kind: 'healed', text: json, repairs: [...repairs], unchecked }
    first ??= `does not match the schema: ${found}`
  }
  return failed(first ?? 'is not JSON: it contains no object and no list')
}

const rankOf = ({ value, repairs }: Candidate, schema: JsonObject | null): number => {
  if (schema !== null) return 0
  if (repairs.has('several_values')) return 2
  return isObject(value) ? 1 : 0
}

/** Lengths within a factor of about 1.4 are the same. */
const lengthRank = ({ length }: Candidate): number => Math.round(Math.log2(length + 1) * 2)
