import { newRequestId } from '../core/ids.ts'

const ids = new WeakMap<Request, string>()

/** The id of this request: the same in its reply's `x-request-id`, in the log and in the generation record. */
export function requestIdOf(request: Request): string {
  const known = ids.get(request)
  if (known !== undefined) return known
  const id = newRequestId()
  ids.set(request, id)
  return id
}
