import type { KeyRecord, Snapshot } from '../core/snapshot.ts'
import type { IsGone } from './store.ts'

/** Paid calls of tools have the name of the tool as their model, and an engine as their provider. */
const TOOL = 'openrouter:'

/** Names of things that exist, by the label that names them. Things of labels without an entry never go. */
export function createIsGone(
  { workspacesById, providersBySlug, withByok, models }: Snapshot,
  keyNames: ReadonlySet<string>,
): IsGone {
  const slugs = new Set<string>()
  for (const { slug } of workspacesById.values()) slugs.add(slug)
  const hasModel = (id: string): boolean => (models.find(id) ?? withByok?.models.find(id)) !== undefined
  const hasProvider = (slug: string): boolean =>
    providersBySlug.has(slug) || withByok?.providersBySlug.has(slug) === true
  const exists: Readonly<Record<string, (name: string) => boolean>> = {
    workspace: (slug) => slugs.has(slug),
    model: hasModel,
    gen_ai_request_model: hasModel,
    provider: hasProvider,
    // `<provider slug>/<model id>`
    endpoint: (id) => hasModel(id.slice(id.indexOf('/') + 1)),
    key: (name) => keyNames.has(name),
  }
  return (labels, values) => {
    const isTool = values.some((value) => value.startsWith(TOOL))
    return labels.some((label, index) => {
      const value = values[index] ?? ''
      if (value === '' || value === 'other' || (isTool && label !== 'workspace')) return false
      return exists[label]?.(value) === false
    })
  }
}

/** The names of all keys. */
export function keyNamesOf(keys: Iterable<KeyRecord>): Set<string> {
  const names = new Set<string>()
  for (const { name } of keys) names.add(name)
  return names
}
