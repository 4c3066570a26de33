import type { MadeKeys } from './first-run.ts'

/**
 * Greets on stderr, as plain text and never through the log: the one time that new keys are shown. A later start
 * says only where it listens.
 */
export function welcome(address: string, made: MadeKeys | null): void {
  const lines = ['', `  Sluice is listening on ${address}`, `  API ${address}/api/v1    Docs ${address}/docs`]
  if (made !== null) lines.push(...keyLines(made), ...curlLines(address, made))
  process.stderr.write(`${lines.join('\n')}\n\n`)
}

function keyLines({ apiKey, managementKey }: MadeKeys): string[] {
  const lines = ['', '  Two keys were made. They are shown this once: keep them.']
  if (managementKey === null || apiKey === null)
    lines[1] = '  A key was made. It is shown this once: keep it.'
  if (apiKey !== null) lines.push(`    inference    ${apiKey}`)
  if (managementKey !== null) lines.push(`    management   ${managementKey}`)
  return lines
}

function curlLines(address: string, { apiKey }: MadeKeys): string[] {
  if (apiKey === null) return []
  return [
    '',
    '  A first answer, with no account:',
    '',
    `curl -N ${address}/api/v1/chat/completions \\`,
    `  -H "Authorization: Bearer ${apiKey}" -H "Content-Type: application/json" \\`,
    `  -d '{"model":"sluice/demo","stream":true,"messages":[{"role":"user","content":"Hello"}]}'`,
  ]
}
