import type { ModelDirectory, ProviderRecord } from '../core/snapshot.ts'

/** Reads lists of names that people wrote: null: no restriction. */
export interface Named {
  /** With the id of each model that a name leads to, under every name that requests may use. */
  models(list: Iterable<string> | null): ReadonlySet<string> | null
  /** With the slugs of the providers that a word means: their slug in any case, or their name as it is written. */
  providers(list: Iterable<string> | null): ReadonlySet<string> | null
}

/**
 * Resolves names of models and providers. An unknown name stays as written: a list may name a model that comes later.
 * Without resolving, a list that forbids `gpt-5` would not forbid `openai/gpt-5`.
 */
export function namedBy(directories: readonly ModelDirectory[], providers: Iterable<ProviderRecord>): Named {
  const all = [...providers]
  const slugsOf = (word: string): string[] => {
    const bySlug = all.filter(({ slug }) => slug.toLowerCase() === word.toLowerCase())
    // Whose slug it is goes first: another one that calls itself so is not meant.
    const meant = bySlug.length > 0 ? bySlug : all.filter(({ name }) => name === word)
    return meant.map(({ slug }) => slug)
  }
  const idsOf = (name: string): string[] => {
    for (const directory of directories) {
      const found = directory.find(name)
      if (found !== undefined) return [found.id]
    }
    return []
  }
  return {
    models: (list) => list && new Set([...list].flatMap((name) => [name, ...idsOf(name)])),
    providers: (list) => list && new Set([...list].flatMap((name) => [name, ...slugsOf(name)])),
  }
}
