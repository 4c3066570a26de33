import type { InferenceRequest } from '../core/request.ts'
import { checkUrl, type OutboundAllow } from '../net/address.ts'

/**
 * Refuses addresses of private networks in what a caller wants read: `readings.md`, user-given URLs. Whoever fetches
 * them, this gateway or a provider on the operator's own machine, must not be led where the caller could not go.
 * Throws a `GatewayError` 400 that names the field; `data:` URLs hold their content and lead nowhere.
 */
export function checkUserUrls({ messages }: InferenceRequest, allow: OutboundAllow): void {
  for (const [index, { content }] of messages.entries()) {
    if (content === null || typeof content === 'string') continue
    for (const [part, piece] of content.entries()) {
      const place = `messages[${index}].content[${part}]`
      if (piece.type === 'image') check(piece.url, `${place}.image_url.url`, allow)
      else if (piece.type === 'video') check(piece.url, `${place}.video_url.url`, allow)
      else if (piece.type === 'file' && piece.data !== undefined)
        check(piece.data, `${place}.file.file_data`, allow)
    }
  }
}

const SCHEME = /^[a-z][a-z0-9+.-]*:/i

function check(text: string, path: string, allow: OutboundAllow): void {
  // Bare base64 is content too.
  if (/^data:/i.test(text) || !SCHEME.test(text)) return
  checkUrl(text, allow, path)
}
