import type { MadeKeys } from './first-run.ts'

/**
 * Prints a summary of the start to stderr, as plain text and never through the log: new keys are shown only here. A
 * later start prints no keys.
 */
export function welcome(address: string, made: MadeKeys | null, providers: readonly string[]): void {
  const lines = [
    '',
    `  Sluice is listening on ${address}`,
    `  API ${address}/api/v1    Docs ${address}/docs`,
    `  Providers: ${providers.length > 0 ? shortened(providers) : 'the built-in demo only. Set a key such as OPENAI_API_KEY to add one'}`,
  ]
  if (made !== null) lines.push(...keyLines(made), ...curlLines(address, made))
  process.stderr.write(`${lines.join('\n')}\n\n`)
}

const MOST_PROVIDERS = 8

function shortened(names: readonly string[]): string {
  const more = names.length - MOST_PROVIDERS
  return names.slice(0, MOST_PROVIDERS).join(', ') + (more > 0 ? ` and ${more} more` : '')
}

function keyLines({ apiKey, managementKey }: MadeKeys): string[] {
  const lines = ['', '  Two keys were created. They are shown only this once: store them safely.']
  if (managementKey === null || apiKey === null)
    lines[1] = '  A key was created. It is shown only this once: store it safely.'
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
