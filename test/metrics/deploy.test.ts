import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { parse } from 'yaml'
import { objectsIn, textOf } from '../../src/core/json.ts'
import { METRICS } from '../../src/metrics/list.ts'
import { METRIC_NAMES } from '../../src/metrics/store.ts'

/** The files for Grafana and Prometheus name only metrics and labels that exist. */

const deploy = join(import.meta.dir, '../../deploy')
const read = (path: string): Promise<string> => Bun.file(join(deploy, path)).text()

/** The names of a histogram's samples. */
const samples = new Map<string, readonly string[]>(
  METRIC_NAMES.flatMap((name) => {
    const { kind, labels } = METRICS[name]
    const names = kind === 'histogram' ? ['_bucket', '_count', '_sum'].map((end) => name + end) : [name]
    return names.map((sample) => [sample, [...labels, 'le', 'instance', 'job']] as const)
  }),
)

const IDENTIFIER = /[a-z_][a-z0-9_]*/g
const WORDS = new Set(
  'sum min max by rate increase topk histogram_quantile changes label_values instance le up job model'.split(
    ' ',
  ),
)

/** What is wrong with an expression. */
function problemsOf(expression: string): string[] {
  const problems: string[] = []
  for (const [, metric = '', matchers = ''] of expression.matchAll(/([a-z_]+)\{([^}]*)\}/g)) {
    const labels = samples.get(metric) ?? (metric === 'up' ? ['job'] : [])
    for (const [, label = ''] of matchers.matchAll(/([a-z_]+)\s*[=!]/g))
      if (!labels.includes(label)) problems.push(`${metric} has no label ${label}`)
  }
  const bare = expression
    .replace(/\{[^}]*\}/g, ' ')
    .replace(/\[[^\]]*\]/g, ' ')
    .replace(/by \([^)]*\)/g, ' ')
  for (const [word] of bare.matchAll(IDENTIFIER))
    if (!WORDS.has(word) && !samples.has(word)) problems.push(`there is no ${word}`)
  return problems
}

test('a wrong metric and a wrong label are found', () => {
  expect(problemsOf('sum(rate(sluice_requests_totals[5m]))')).toEqual(['there is no sluice_requests_totals'])
  expect(problemsOf('sluice_refusals_total{cause="x"}')).toEqual(['sluice_refusals_total has no label cause'])
})

describe('alert rules', async () => {
  const document = parse(await read('prometheus/alerts.yaml'))
  const rules = objectsIn(document.groups).flatMap((group) => objectsIn(group['rules']))

  test.each(rules.map((rule) => [textOf(rule['alert']), textOf(rule['expr'])]))('%s', (name, expression) => {
    expect(name).toMatch(/^Sluice\w+$/)
    expect(expression).not.toBe('')
    expect(problemsOf(expression)).toEqual([])
  })

  test('there is one for each thing that an operator must act on', () => {
    const needed = ['budget_used', 'truncated', 'endpoint_state', 'export_lag', 'ledger_writable', 'loop_lag']
    for (const part of needed) expect(rules.some(({ expr }) => textOf(expr).includes(part))).toBe(true)
  })

  test('the example of Prometheus loads them', async () => {
    expect(parse(await read('prometheus/prometheus.yaml'))).toMatchObject({
      rule_files: ['alerts.yaml'],
      scrape_configs: [{ job_name: 'sluice' }],
    })
  })
})

describe('the dashboard of Grafana', async () => {
  const dashboard = JSON.parse(await read('grafana/sluice.json'))
  const panels = objectsIn(dashboard.panels)
  const expressions = [
    ...panels.flatMap((panel) => objectsIn(panel['targets']).map(({ expr }) => textOf(expr))),
    ...objectsIn(dashboard.annotations.list).map(({ expr }) => textOf(expr)),
  ]

  test('names only what exists', () => {
    expect(expressions.length).toBeGreaterThan(30)
    expect(expressions.flatMap(problemsOf)).toEqual([])
  })

  test('shows nearly every metric', () => {
    const unseen = METRIC_NAMES.filter((name) => !expressions.some((expression) => expression.includes(name)))
    expect(unseen).toEqual([
      'sluice_key_requests_total',
      'sluice_ledger_waiting',
      'sluice_pruned_rows_total',
      'sluice_series_overflow_total',
      'sluice_build_info',
      'process_open_fds',
    ])
  })

  test('its panels have ids of their own, and do not overlap', () => {
    const ids = panels.map(({ id }) => id)
    expect(new Set(ids).size).toBe(ids.length)
    const taken = new Set<string>()
    for (const { gridPos } of panels) {
      const { x, y, w, h } = JSON.parse(JSON.stringify(gridPos))
      expect(x + w).toBeLessThanOrEqual(24)
      for (let column = x; column < x + w; column++)
        for (let row = y; row < y + h; row++) {
          expect(taken.has(`${column} ${row}`)).toBe(false)
          taken.add(`${column} ${row}`)
        }
    }
  })
})

test('the page of metrics names every metric and every alert', async () => {
  const page = await read('../docs/metrics.md')
  expect(METRIC_NAMES.filter((name) => !page.includes(`\`${name}\``))).toEqual([])
  const alerts = [...(await read('prometheus/alerts.yaml')).matchAll(/alert: (\w+)/g)].map(([, name]) => name)
  expect(alerts.filter((name) => !page.includes(`\`${name}\``))).toEqual([])
})
