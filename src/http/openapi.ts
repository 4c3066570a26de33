/** `/openapi.json` and the page that shows it at `/docs/api`. All files are embedded in the program. */
import { Elysia } from 'elysia'
import swaggerUiStyle from 'swagger-ui-dist/swagger-ui.css' with { type: 'file' }
import swaggerUiScript from 'swagger-ui-dist/swagger-ui-bundle.js' with { type: 'file' }
import type { JsonObject } from '../core/events.ts'
import { version } from '../version.ts'
import { apiDocument, type DocumentedRoute } from './openapi-document.ts'
import { HTML, pageReply, SCRIPT, STYLE } from './page-reply.ts'

const DOCUMENT_PATH = '/openapi.json'

/** Public: the document describes the program, not its data. It contains the routes of the complete server. */
export function documentRoutes() {
  const hidden = { detail: { hide: true } }
  const app = new Elysia()
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
    .get('/docs/api', () => pageReply(pageOf(basePath()), HTML), hidden)
    .get('/docs/start.js', () => pageReply(startOf(basePath()), SCRIPT), hidden)
    .get('/docs/swagger-ui.js', () => pageReply(Bun.file(swaggerUiScript), SCRIPT), hidden)
    .get('/docs/swagger-ui.css', () => pageReply(Bun.file(swaggerUiStyle), STYLE), hidden)
}

const pageOf = (basePath: string): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Sluice API</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${basePath}/docs/swagger-ui.css">
<link rel="stylesheet" href="${basePath}/docs/style.css">
</head>
<body class="api">
<header><a class="name" href="${basePath}/docs">Sluice documentation</a><a href="${basePath}/docs/reference/api">API by area</a></header>
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
