import { notFound } from '../../core/errors.ts'
import { nameInPath } from '../../http/path-name.ts'

/** The operations of Google's API. */
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
 * Parses the part of `models/<model>:<verb>` after `models/`, plain or percent-encoded. Models contain slashes and variants
 * (`author/slug:free:generateContent`), so the verb follows the last colon. Null without a verb.
 */
export function readPath(path: string): { model: string; verb: Verb } | null {
  const plain = nameInPath(path)
  const colon = plain.lastIndexOf(':')
  const verb = VERBS.find((each) => each === plain.slice(colon + 1))
  const model = plain.slice(0, colon)
  if (colon < 0 || verb === undefined) return null
  if (model === '' || model.length > MOST_CHARACTERS) {
    throw notFound('The path must name a model: models/<model>:generateContent')
  }
  return { model, verb }
}
