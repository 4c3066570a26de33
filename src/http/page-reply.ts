/** Pages may load what this server has, and nothing else. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

export const HTML = 'text/html; charset=utf-8'
export const SCRIPT = 'text/javascript; charset=utf-8'
export const STYLE = 'text/css; charset=utf-8'

/** A page of this server, or a file that a page loads. */
export const pageReply = (body: string | Blob, type: string): Response =>
  new Response(body, {
    headers: {
      'content-type': type,
      'content-security-policy': CONTENT_SECURITY_POLICY,
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-cache',
    },
  })
