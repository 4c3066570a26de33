import { asList } from '../../core/json.ts'
import type { Plugin } from '../plugin.ts'

export const CONTEXT_COMPRESSION = 'context-compression'

/**
 * Shortens conversations to the context of the endpoint that answers, so that its work is part of each attempt
 * (`inference/upstream/shorten.ts`).
 */
export const contextCompression: Plugin = {
  id: CONTEXT_COMPRESSION,
  implied: ({ body }) =>
    asList(body['transforms']).includes('middle-out') ? { id: CONTEXT_COMPRESSION } : null,
}
