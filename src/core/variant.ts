import { newestOf } from './latest.ts'
import type { ModelDirectory, ModelRecord } from './snapshot.ts'

/** Suffixes that ask for a way of serving a model: `author/slug:nitro`. */
const VARIANTS = ['free', 'nitro', 'floor', 'online', 'exacto', 'thinking', 'extended'] as const
export type Variant = (typeof VARIANTS)[number]

/** The model of the complete name, else of the name without its variant suffix. */
export function findVariant(
  name: string,
  models: ModelDirectory,
): { model: ModelRecord; variant: Variant | null } | undefined {
  const exact = findNamed(name, models)
  if (exact) return { model: exact, variant: null }
  const variant = VARIANTS.find((suffix) => name.endsWith(`:${suffix}`))
  const model = variant && findNamed(name.slice(0, -variant.length - 1), models)
  return model && { model, variant }
}

const findNamed = (name: string, models: ModelDirectory): ModelRecord | undefined =>
  models.find(name) ?? newestOf(name, models)
