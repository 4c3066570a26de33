import type { JsonObject } from '../../core/events.ts'
import type { Offered } from '../listing.ts'
import { anthropicModel, anthropicPage } from './anthropic.ts'
import { googleModel, googlePage } from './google.ts'

/** How another API writes models. */
export interface ModelForm {
  one(offered: Offered): JsonObject
  /** Throws a `GatewayError` 400 for a query that the API would refuse. */
  page(models: readonly Offered[], query: URLSearchParams): JsonObject
}

export const googleForm: ModelForm = { one: googleModel, page: googlePage }
const anthropicForm: ModelForm = { one: anthropicModel, page: anthropicPage }

/**
 * The form of `GET /models`, which has the same address in three APIs; null: the gateway's own. Google's clients send
 * their key in a header of their own, Anthropic's the version of the API.
 */
export function formOf({ headers, url }: Request): ModelForm | null {
  if (headers.has('anthropic-version')) return anthropicForm
  const isGoogles = headers.has('x-goog-api-key') || /[?&]key=/.test(url)
  return isGoogles ? googleForm : null
}
