import { badRequest } from '../core/errors.ts'
import { quoted } from './values.ts'

/** Reading and checking of fields that the bodies of several dialects share. */

/** `model` first, then the fallbacks, each once; empty when the caller named none. */
export const modelsOf = ({
  model,
  models,
}: {
  model?: string | null
  models?: readonly string[] | null
}): string[] => {
  if (!models) return model ? [model] : []
  return [...new Set(model ? [model, ...models] : models)]
}

const MAX_SESSION_ID = 256

/** The body wins over the header x-session-id, which is then not looked at. */
export function sessionOf(sessionId: string | null | undefined, headers: Headers): string | undefined {
  if (sessionId) return sessionId
  const fromHeader = headers.get('x-session-id')
  if (fromHeader !== null && fromHeader.length > MAX_SESSION_ID) {
    throw badRequest(
      `The header x-session-id must have at most ${MAX_SESSION_ID} characters, not ${fromHeader.length}`,
    )
  }
  return fromHeader || undefined
}

const MAX_METADATA_PAIRS = 16
const MAX_METADATA_KEY = 64

/** What the schema of `metadata` cannot say: the bounds of its keys. */
export function checkMetadata(metadata: Readonly<Record<string, unknown>> | null | undefined): void {
  if (!metadata) return
  const pairs = Object.entries(metadata)
  if (pairs.length > MAX_METADATA_PAIRS) {
    throw badRequest(`must have at most ${MAX_METADATA_PAIRS} pairs, not ${pairs.length}`, 'metadata')
  }
  for (const [key, value] of pairs) {
    if (key.length > MAX_METADATA_KEY) {
      throw badRequest(
        `keys must have at most ${MAX_METADATA_KEY} characters; one has ${key.length}`,
        'metadata',
      )
    }
    if (/[[\]]/.test(key)) {
      throw badRequest(`keys must not have square brackets; ${quoted(key)} has`, 'metadata')
    }
    if (typeof value !== 'string') throw badRequest('values must be strings', `metadata.${key}`)
  }
}
