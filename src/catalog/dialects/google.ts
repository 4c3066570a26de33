import { badRequest } from '../../core/errors.ts'
import type { JsonObject } from '../../core/events.ts'
import { descriptionOf } from '../description.ts'
import type { Offered } from '../listing.ts'

/** Models in the form of Google's API, for its clients: those send the key as `x-goog-api-key`, or ask below `/v1beta`. */

const DEFAULT_SIZE = 50
const MOST = 1_000

const TALK = ['generateContent', 'streamGenerateContent', 'countTokens']
const EMBED = ['embedContent', 'batchEmbedContents']

/** The methods of Google's API that serve a model; empty: another route serves it. */
const methodsOf = ({ outputModalities }: Offered): string[] => [
  ...(outputModalities.some((name) => ['text', 'image', 'audio'].includes(name)) ? TALK : []),
  ...(outputModalities.includes('embeddings') ? EMBED : []),
]

export const googleModel = (offered: Offered): JsonObject => {
  const { model, contextLength, top, reasoning } = offered
  return {
    name: `models/${model.id}`,
    baseModelId: model.id,
    version: model.canonicalSlug,
    displayName: model.name,
    description: descriptionOf(offered),
    ...(contextLength === 0 ? {} : { inputTokenLimit: contextLength }),
    ...(top.record.maxCompletionTokens === null ? {} : { outputTokenLimit: top.record.maxCompletionTokens }),
    supportedGenerationMethods: methodsOf(offered),
    thinking: reasoning !== undefined,
  }
}

/** One page. Its token is where the next one begins. Throws a `GatewayError` 400. */
export function googlePage(models: readonly Offered[], query: URLSearchParams): JsonObject {
  const served = models.filter((offered) => methodsOf(offered).length > 0)
  const size = sizeIn(query.get('pageSize') ?? query.get('page_size'))
  const start = startIn(query.get('pageToken') ?? query.get('page_token'))
  const end = start + size
  return {
    models: served.slice(start, end).map(googleModel),
    ...(end < served.length ? { nextPageToken: Buffer.from(`from:${end}`).toString('base64url') } : {}),
  }
}

/** Google clamps larger values. */
function sizeIn(written: string | null): number {
  if (written === null || written === '' || written === '0') return DEFAULT_SIZE
  if (!/^\d{1,9}$/.test(written)) throw badRequest('The query parameter pageSize must be a whole number')
  return Math.min(MOST, Number(written))
}

function startIn(token: string | null): number {
  if (token === null || token === '') return 0
  const start = /^from:(\d{1,9})$/.exec(Buffer.from(token, 'base64url').toString())?.[1]
  if (start === undefined)
    throw badRequest('The query parameter pageToken must be the nextPageToken of an earlier page')
  return Number(start)
}
