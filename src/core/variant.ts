import type { ModelDirectory, ModelRecord } from './provider.ts'

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

/**
 * `~author/family-latest`: the newest model of a family. The family of a model is its slug without versions, dates and
 * stages: `anthropic/claude-sonnet-4.5` is of the family `claude-sonnet`, `google/gemini-3-pro-preview` of `gemini-pro`.
 * Undefined: another form of name, or no callable model is of the family.
 */
function newestOf(name: string, models: ModelDirectory): ModelRecord | undefined {
  const slash = name.indexOf('/')
  if (!name.startsWith('~') || !name.endsWith(LATEST) || slash === -1) return undefined
  const author = name.slice(1, slash + 1)
  const family = familyOf(name.slice(slash + 1, -LATEST.length))
  let newest: ModelRecord | undefined
  for (const model of models.list()) {
    if (!model.id.startsWith(author) || familyOf(model.id.slice(author.length)) !== family) continue
    if (newest === undefined || model.created > newest.created) newest = model
  }
  return newest
}

const LATEST = '-latest'
const STAGES: ReadonlySet<string> = new Set(['preview', 'exp', 'experimental', 'beta', 'latest'])

const familyOf = (slug: string): string =>
  slug
    .split('-')
    .filter((word) => !STAGES.has(word) && !isVersion(word))
    .join('-')

const isVersion = (word: string): boolean => isDigit(word[0]) || (word[0] === 'v' && isDigit(word[1]))
const isDigit = (character: string | undefined): boolean =>
  character !== undefined && character >= '0' && character <= '9'
