import type { Caller } from '../../core/caller.ts'
import { badRequest } from '../../core/errors.ts'
import type { Snapshot } from '../../core/snapshot.ts'
import type { ToolAccess } from '../../core/tool-access.ts'
import type { RunDeps } from '../generation.ts'
import { canOutput } from '../routing/kinds.ts'
import { resolve } from '../routing/resolve.ts'

/** What the tools of this caller reach. */
export const toolAccessOf = (
  caller: Caller,
  snapshot: Snapshot,
  { web, filesOf }: Pick<RunDeps, 'web' | 'filesOf'>,
): ToolAccess => ({
  web,
  files: filesOf(caller.workspace.id),
  imageModel: (name, place) => imageModel(name, place, caller, snapshot),
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
