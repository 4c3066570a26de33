import type { ModelDirectory, ModelRecord } from './snapshot.ts'

/** Suffixes that ask for a way of serving a model: `author/slug:nitro`. */
const VARIANTS = ['free', 'nitro', 'floor', 'online', 'exacto', 'thinking', 'extended'] as const
export type Variant = (typeof VARIANTS)[number]

/** The model of the complete name, else of the name without its variant suffix. */
export function findVariant(
  name: string,
  models: ModelDirectory,
): { model: ModelRecord; variant: Variant | null } | undefined {
  const exact = models.find(name)
  if (exact) return { model: exact, variant: null }
  const variant = VARIANTS.find((suffix) => name.endsWith(`:${suffix}`))
  const model = variant && models.find(name.slice(0, -variant.length - 1))
  return model && { model, variant }
}
