import { code, note, table } from './markdown.ts'
import type { ApiOperation } from './served-api.ts'

/** docs/reference/api.md. */
export function apiPage(operations: readonly ApiOperation[]): string {
  const areas = [...Map.groupBy(operations, ({ area }) => area)]
  const sections = areas.map(([area, list]) => {
    const rows = list.map(({ id, method, path, summary, credential }) => [
      code(`${method} ${path}`),
      credential,
      `${summary}.`,
      `[fields](/docs/api#/${encodeURIComponent(area)}/${id})`,
    ])
    return `## ${area}\n\n${table(['Operation', 'Credential', 'What it does', 'Fields'], rows)}`
  })
  return `# API

After this page you can find the operation that you need, and the credential that it takes.

${note('the OpenAPI document')}

Paths begin with \`/api/v1\`; \`/v1\` has the same routes. The complete document with every field is \`/openapi.json\` of your server. The links to fields work on the pages that your server shows at \`/docs\`.

${table(['Credential', 'Meaning'], CREDENTIALS)}

${sections.join('\n\n')}
`
}

const CREDENTIALS = [
  ['inference', 'an inference key, as a bearer token'],
  ['management', 'a management key, as a bearer token, or the session of an administrator'],
  ['any key', 'an inference key or a management key'],
  ['session', 'the cookie of a person who has signed in'],
  ['none', 'no credential'],
]
