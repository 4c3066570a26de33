import { badRequest } from '../core/errors.ts'
import type { Plugin } from './plugin-schema.ts'

const PERPLEXITY_MAX_RESULTS = 20

/** What the schema of a plugin cannot say: rules between two of its fields. They hold for disabled plugins too. */
export function checkPlugins(plugins: readonly Plugin[]): void {
  for (const [i, plugin] of plugins.entries()) {
    if (plugin.id !== 'web') continue
    const { engine, max_results, x_search } = plugin
    if (engine === 'perplexity' && max_results && max_results > PERPLEXITY_MAX_RESULTS) {
      throw badRequest(
        `must be a whole number from 1 to ${PERPLEXITY_MAX_RESULTS} with the engine "perplexity", not ${max_results}`,
        `plugins[${i}].max_results`,
      )
    }
    if (x_search?.allowed_x_handles?.length && x_search.excluded_x_handles?.length) {
      throw badRequest(
        'allowed_x_handles and excluded_x_handles exclude each other: send one of them',
        `plugins[${i}].x_search`,
      )
    }
  }
}
