import type { Caller } from '../../core/caller.ts'
import { badRequest } from '../../core/errors.ts'
import type { Snapshot } from '../../core/snapshot.ts'
import type { ToolAccess } from '../../core/tool-access.ts'
import { findVariant } from '../../core/variant.ts'
import type { RunDeps } from '../generation.ts'
import { dialectsOf } from '../routing/endpoint-dialects.ts'
import { canOutput } from '../routing/kinds.ts'
import { resolve } from '../routing/resolve.ts'

/** What the tools of this caller reach. */
export const toolAccessOf = (
  caller: Caller,
  snapshot: Snapshot,
  { web, filesOf, fileModels }: Pick<RunDeps, 'web' | 'filesOf' | 'fileModels'>,
): ToolAccess => ({
  web,
  searchesItself: (models) => searchesItself(models, snapshot),
  files: filesOf(caller.workspace.id),
  embeddingModel: fileModels.embedding,
  imageModel: (name, place) => imageModel(name, place, caller, snapshot),
})

/** A provider of the same dialect may have the search although that is not known of it. */
const searchesItself = (models: readonly string[], snapshot: Snapshot): boolean =>
  models
    .flatMap((name) => findVariant(name, snapshot.models)?.model.endpoints ?? [])
    .some((endpoint) => {
      const provider = snapshot.providersBySlug.get(endpoint.providerSlug)
      if (provider === undefined) return false
      return provider.quirks.searches === true || dialectsOf(provider, endpoint).includes('messages')
    })

function imageModel(name: string | undefined, place: string, caller: Caller, snapshot: Snapshot): string {
  const id = name ?? caller.workspace.defaultImageModel
  const at = `${place}.model`
  if (!id) throw badRequest('is required: this workspace has no default image model', at)
  const found = resolve(id, { caller, snapshot })
  const shown = JSON.stringify(id.slice(0, 120))
  if (found === undefined) throw badRequest(`${shown} is not a model of this gateway`, at)
  if (!found.routes.some(({ endpoint }) => canOutput(endpoint.outputModalities, 'image')))
    throw badRequest(`${shown} makes no images`, at)
  return id
}
