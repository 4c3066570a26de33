/** `GET /metrics`: for Prometheus and everything that reads its formats. */
import { type Incoming, routes } from '../http/incoming.ts'
import { plainError, plainReply } from '../http/plain-reply.ts'
import { CONTENT_TYPES, type TextFormat } from './text.ts'

export const METRICS_PATH = '/metrics'

export interface MetricsDeps {
  /** Throws a `GatewayError` 401 or 403 if the request may not read metrics. */
  checkReader(incoming: Incoming): void
  /** Null: metrics are off. */
  readonly scrape: ((format: TextFormat) => Promise<string>) | null
}

/** Public in the route table: it has rules of its own, and no rate limit. */
export const metricsRoutes = (deps: MetricsDeps) =>
  routes().get(METRICS_PATH, ({ incoming }) => answerScrape(incoming, deps), { detail: { hide: true } })

/** Errors are plain text: they are read in the page of a scraper's targets. */
export async function answerScrape(
  incoming: Incoming,
  { checkReader, scrape }: MetricsDeps,
): Promise<Response> {
  try {
    checkReader(incoming)
  } catch (error) {
    return plainError(error, incoming)
  }
  if (scrape === null) return plainReply('Metrics are off: SLUICE_METRICS_SERIES is 0\n', 404)
  const format = formatOf(incoming.request.headers.get('accept'))
  return plainReply(await scrape(format), 200, { 'content-type': CONTENT_TYPES[format] })
}

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
