/** The text of a scrape: Prometheus 0.0.4, or OpenMetrics 1.0. */
import { turnOfLoop } from '../core/turn.ts'
import type { Exemplar, Reading, Series } from './series.ts'

export type TextFormat = 'prometheus' | 'openmetrics'

export const CONTENT_TYPES: Readonly<Record<TextFormat, string>> = {
  prometheus: 'text/plain; version=0.0.4; charset=utf-8',
  openmetrics: 'application/openmetrics-text; version=1.0.0; charset=utf-8',
}

/** Label sets that are written without looking at the clock: a fraction of a millisecond. */
const SETS_AT_ONCE = 64
/** Other requests run after as long. */
const STEP_MS = 4

/** Writes in steps of a few milliseconds, between which other requests run. Each label set is written in one step. */
export async function writeText(
  metrics: Iterable<readonly [name: string, series: Series]>,
  format: TextFormat,
): Promise<string> {
  const steps: string[] = []
  let pieces: string[] = []
  let startedAt = performance.now()
  for (const [name, series] of metrics) {
    pieces.push(headText(name, series, format))
    const write = writerOf(name, series, format)
    for (let place = 0; place < series.size(); place++) {
      const reading = series.at(place)
      if (reading !== null) pieces.push(write(reading))
      if (place % SETS_AT_ONCE !== SETS_AT_ONCE - 1 || performance.now() - startedAt < STEP_MS) continue
      // Joined here, and not all at the end, which would be one long step.
      steps.push(pieces.join(''))
      pieces = []
      await turnOfLoop()
      startedAt = performance.now()
    }
  }
  if (format === 'openmetrics') pieces.push('# EOF\n')
  return steps.join('') + pieces.join('')
}

const TOTAL = '_total'
const UNITS = ['seconds', 'bytes', 'usd']

/**
 * The name in OpenMetrics, where a counter's lacks `_total`. `gen_ai_client_token_usage` is the name of a histogram already:
 * that counter keeps its suffix and has an unknown type.
 */
const CLASHING = 'gen_ai_client_token_usage_total'
const familyOf = (name: string): string =>
  name.endsWith(TOTAL) && name !== CLASHING ? name.slice(0, -TOTAL.length) : name

function headText(name: string, { definition: { kind, help } }: Series, format: TextFormat): string {
  if (format === 'prometheus') return `# HELP ${name} ${help}\n# TYPE ${name} ${kind}\n`
  const family = familyOf(name)
  const unit = UNITS.find((one) => family.endsWith(`_${one}`))
  const unitLine = unit === undefined ? '' : `# UNIT ${family} ${unit}\n`
  return `# TYPE ${family} ${name === CLASHING ? 'unknown' : kind}\n${unitLine}# HELP ${family} ${help}\n`
}

type Write = (reading: Reading) => string

function writerOf(name: string, { definition: { kind, bounds } }: Series, format: TextFormat): Write {
  const isOpen = format === 'openmetrics'
  const family = isOpen ? familyOf(name) : name
  const createdOf = (reading: Reading): string =>
    isOpen && kind !== 'gauge' && name !== CLASHING && reading.createdAt !== null
      ? `${family}_created${braced(reading.labels)} ${reading.createdAt / 1000}\n`
      : ''
  if (bounds === undefined)
    return (reading) => `${name}${braced(reading.labels)} ${reading.value}\n${createdOf(reading)}`
  // `le` is a float in OpenMetrics; the same text in both formats keeps the series the same.
  const limits = [...bounds.map((bound) => (Number.isInteger(bound) ? `${bound}.0` : String(bound))), '+Inf']
  return (reading) => {
    const { labels, counts, exemplars } = reading
    const start = `${name}_bucket{${labels === '' ? '' : `${labels},`}le="`
    let text = ''
    let count = 0
    for (const [bucket, limit] of limits.entries()) {
      count += counts[bucket] ?? 0
      const exemplar = isOpen ? exemplars[bucket] : undefined
      text += `${start}${limit}"} ${count}${exemplar ? exemplarText(exemplar) : ''}\n`
    }
    const set = braced(labels)
    return `${text}${name}_count${set} ${count}\n${name}_sum${set} ${reading.value}\n${createdOf(reading)}`
  }
}

const braced = (labels: string): string => (labels === '' ? '' : `{${labels}}`)

const exemplarText = ({ generationId, traceId, value, at }: Exemplar): string =>
  ` # {trace_id="${traceId}",generation_id="${generationId}"} ${value} ${at / 1000}`
