/** `/openapi.json` and the page that shows it at `/docs`. All of it is in the program: nothing comes from a network. */
import { Elysia } from 'elysia'
import swaggerUiStyle from 'swagger-ui-dist/swagger-ui.css' with { type: 'file' }
import swaggerUiScript from 'swagger-ui-dist/swagger-ui-bundle.js' with { type: 'file' }
import type { JsonObject } from '../core/events.ts'
import { version } from '../version.ts'
import { apiDocument, type DocumentedRoute } from './openapi-document.ts'

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

const DOCUMENT_PATH = '/openapi.json'

/** Public: it says what the program can do, and nothing about who uses it. Shows the routes of the whole server. */
export function documentRoutes() {
  const hidden = { detail: { hide: true } }
  const app = new Elysia()
  // The routes of the whole server, and what stands before this one in the server's addresses.
  const routes = (): readonly DocumentedRoute[] => app['getGlobalRoutes']()
  const basePath = (): string =>
    routes()
      .find(({ path }) => path.endsWith(DOCUMENT_PATH))
      ?.path.slice(0, -DOCUMENT_PATH.length) ?? ''
  let document: Promise<JsonObject> | undefined
  return app
    .get(
      DOCUMENT_PATH,
      async () => {
        document ??= apiDocument({ routes: routes(), basePath: basePath(), version })
        return Response.json(await document)
      },
      hidden,
    )
    .get('/docs', () => pageReply(pageOf(basePath()), 'text/html; charset=utf-8'), hidden)
    .get('/docs/start.js', () => pageReply(startOf(basePath()), SCRIPT), hidden)
    .get('/docs/swagger-ui.js', () => pageReply(Bun.file(swaggerUiScript), SCRIPT), hidden)
    .get('/docs/swagger-ui.css', () => pageReply(Bun.file(swaggerUiStyle), STYLE), hidden)
}

const SCRIPT = 'text/javascript; charset=utf-8'
const STYLE = 'text/css; charset=utf-8'

const pageReply = (body: string | Blob, type: string): Response =>
  new Response(body, {
    headers: {
      'content-type': type,
      'content-security-policy': CONTENT_SECURITY_POLICY,
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-cache',
    },
  })

const pageOf = (basePath: string): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Sluice API</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${basePath}/docs/swagger-ui.css">
</head>
<body>
<div id="swagger-ui"></div>
<noscript>This page needs JavaScript. The document itself: <a href="${basePath}/openapi.json">openapi.json</a></noscript>
<script src="${basePath}/docs/swagger-ui.js"></script>
<script src="${basePath}/docs/start.js"></script>
</body>
</html>
`

const startOf = (basePath: string): string => `SwaggerUIBundle({
  url: ${JSON.stringify(`${basePath}/openapi.json`)},
  dom_id: '#swagger-ui',
  deepLinking: true,
  displayRequestDuration: true,
  persistAuthorization: false,
  validatorUrl: null,
})
`
