import { notFound } from '../../core/errors.ts'
import { nameInPath } from '../../http/path-name.ts'

/** What can be asked of a model by Google's paths. */
export const VERBS = [
  'generateContent',
  'streamGenerateContent',
  'countTokens',
  'embedContent',
  'batchEmbedContents',
] as const
export type Verb = (typeof VERBS)[number]

const MOST_CHARACTERS = 600

/**
 * The model and the verb of `models/<model>:<verb>`: the part behind `models/`, plain or percent-encoded. Models have
 * slashes and variants (`author/slug:free:generateContent`), so the verb follows the last colon. Null without
 * a verb.
 */
export function readPath(path: string): { model: string; verb: Verb } | null {
  const plain = nameInPath(path)
  const colon = plain.lastIndexOf(':')
  const verb = VERBS.find((each) => each === plain.slice(colon + 1))
  const model = plain.slice(0, colon)
  if (colon < 0 || verb === undefined) return null
  if (model === '' || model.length > MOST_CHARACTERS) {
    throw notFound('The path names no model: models/<model>:generateContent is expected')
  }
  return { model, verb }
}
