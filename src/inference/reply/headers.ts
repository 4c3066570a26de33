import { replyHeaders } from '../../http/reply-headers.ts'
import type { Generation, Opening } from '../generation.ts'
import { responseTrace } from '../trace-headers.ts'

/** What the headers of a reply name. */
interface Headed extends Pick<Generation, 'id' | 'cached'> {
  readonly request: Pick<Generation['request'], 'apiType'>
  readonly opening: Pick<Opening, 'incoming' | 'caller'>
}

/** The headers of any reply. Anthropic's clients read the request's id from `request-id`. */
export function generationHeaders(
  { id, request, opening, cached }: Headed,
  contentType: string,
): Record<string, string> {
  const headers = replyHeaders(opening.incoming, contentType)
  headers['x-generation-id'] = id
  headers['traceresponse'] = responseTrace(opening, id)
  if (request.apiType === 'messages') headers['request-id'] = opening.incoming.id
  return cached ? Object.assign(headers, cached.headers) : headers
}

/** The headers of a JSON reply. */
export const jsonHeaders = (generation: Generation): Record<string, string> =>
  generationHeaders(generation, 'application/json')

/** The headers of a stream, which proxies must not buffer. */
export function streamHeaders(generation: Headed, mediaType: string): Record<string, string> {
  const headers = generationHeaders(generation, mediaType)
  headers['cache-control'] = 'no-cache, no-transform'
  headers['x-accel-buffering'] = 'no'
  return headers
}
