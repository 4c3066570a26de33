import { type Label, TAG_LABEL, USER_LABEL } from '../core/generation.ts'
import { isObject } from '../core/json.ts'
import type { RoutedRequest } from '../core/request.ts'

/** As the dialects that check `metadata` allow. */
const MOST_TAGS = 16
const MOST_NAME_CHARACTERS = 64
/** In Messages it is the request's user. */
const USER_FIELD = 'user_id'

/** What the caller labels its request with: its `user`, and each text of its `metadata`; undefined: nothing. */
export function labelsOf({ user, dialect, body }: RoutedRequest): readonly Label[] | undefined {
  const { metadata } = body
  if (user === undefined && !isObject(metadata)) return undefined
  const labels: Label[] = user === undefined ? [] : [[USER_LABEL, user]]
  for (const [name, value] of Object.entries(isObject(metadata) ? metadata : {})) {
    if (labels.length > MOST_TAGS) break
    if (typeof value !== 'string' || value === '' || name === '' || name.length > MOST_NAME_CHARACTERS)
      continue
    if (dialect === 'messages' && name === USER_FIELD) continue
    labels.push([`${TAG_LABEL}${name}`, value])
  }
  return labels.length === 0 ? undefined : labels
}
