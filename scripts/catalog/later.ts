import type { JsonObject } from '../../src/core/events.ts'
import { isObject } from '../../src/core/json.ts'

/** The shape of models.dev's api.json, as far as it is read here. */
export type Document = Record<string, JsonObject & { models?: Record<string, JsonObject> }>

/** Metadata of one model that is newer than the document. */
export interface Line {
  readonly provider: string
  readonly id: string
  readonly facts: JsonObject
}

export const modelsOf = (document: Document, provider: string): Record<string, JsonObject> | undefined =>
  document[provider]?.models

/** The document with later metadata, which takes precedence field by field, and in a price kind by kind. */
export function joined(document: Document, lines: readonly Line[]): Document {
  const changed: Document = { ...document }
  for (const { provider, id, facts } of lines) {
    const before = changed[provider]
    if (before === undefined) continue
    const models = before === document[provider] ? { ...before.models } : (before.models ?? {})
    const known = models[id]
    const cost =
      isObject(known?.['cost']) && isObject(facts['cost'])
        ? laterCost(known['cost'], facts['cost'])
        : facts['cost']
    models[id] = { id, ...known, ...facts, ...(cost === undefined ? {} : { cost }) }
    changed[provider] = { ...before, models }
  }
  return changed
}

/** Prices by context are all of one look: those of an earlier one do not stay beside new ones. */
function laterCost(
  { tiers: _, context_over_200k: __, ...before }: JsonObject,
  later: JsonObject,
): JsonObject {
  return { ...before, ...later }
}

export const readLines = (text: string): Line[] =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line): Line => JSON.parse(line))
