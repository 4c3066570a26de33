import type { TextFormat } from './text.ts'

/** A longer header is not read further. */
const MOST_CHARACTERS = 2_048

/** The format that an `Accept` header prefers; Prometheus text if it names neither, or both alike. */
export function formatOf(accept: string | null): TextFormat {
  let open = 0
  let plain = 0
  for (const range of (accept ?? '').slice(0, MOST_CHARACTERS).split(',')) {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase())
    const weight = weightOf(parameters)
    if (type === 'application/openmetrics-text') open = Math.max(open, weight)
    else if (type === 'text/plain' || type === 'text/*') plain = Math.max(plain, weight)
  }
  return open > plain ? 'openmetrics' : 'prometheus'
}

function weightOf(parameters: readonly string[]): number {
  const named = parameters.find((parameter) => parameter.startsWith('q='))
  const weight = named === undefined ? 1 : Number(named.slice(2))
  return weight >= 0 && weight <= 1 ? weight : 0
}
