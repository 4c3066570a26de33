import { badRequest } from '../../core/errors.ts'
import { defined } from '../../core/json.ts'
import type { PluginOptions } from '../../core/plugin-options.ts'
import type { InferenceRequest, Tool } from '../../core/request.ts'
import { findVariant } from '../../core/variant.ts'
import type { PluginContext } from '../plugin.ts'

/**
 * True if the provider's own search answers: the engine is `native`, or not set and every endpoint of the models has one.
 * Throws a 400 for `native` if none of them has.
 */
export function isNative(
  { models }: Pick<InferenceRequest, 'models'>,
  engine: unknown,
  { snapshot }: Pick<PluginContext, 'snapshot'>,
  place: string,
): boolean {
  if (engine !== undefined && engine !== null && engine !== 'auto' && engine !== 'native') return false
  const endpoints = models.flatMap((name) => findVariant(name, snapshot.models)?.model.endpoints ?? [])
  const searches = endpoints.filter(
    ({ providerSlug }) => snapshot.providersBySlug.get(providerSlug)?.quirks.searches === true,
  )
  if (engine !== 'native') return searches.length > 0 && searches.length === endpoints.length
  if (searches.length > 0 || endpoints.length === 0) return true
  throw badRequest(
    `"native" is the search of the provider, and no provider of ${models.join(', ')} has one`,
    `${place}.engine`,
  )
}

/** The provider's tool in the words of Anthropic, from which every dialect writes its own. */
export const nativeSearchOf = (options: PluginOptions): Tool => ({
  type: 'other',
  data: defined({
    type: 'web_search_20250305',
    name: 'web_search',
    max_uses: options['max_uses'] ?? undefined,
    allowed_domains: options['include_domains'] ?? undefined,
    blocked_domains: options['exclude_domains'] ?? undefined,
    user_location: options['user_location'] ?? undefined,
  }),
})
