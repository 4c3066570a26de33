import { describe, expect, test } from 'bun:test'
import { formatOf } from '../../src/metrics/routes.ts'
import { createMetrics } from '../../src/metrics/store.ts'
import { writeText } from '../../src/metrics/text.ts'
import { readExposition, sampleText } from './exposition.ts'

describe('Accept', () => {
  test.each([
    [null, 'prometheus'],
    ['*/*', 'prometheus'],
    ['text/html, */*;q=0.1', 'prometheus'],
    ['text/plain;version=0.0.4', 'prometheus'],
    ['application/openmetrics-text', 'openmetrics'],
    ['application/openmetrics-text;version=1.0.0;q=0.5,text/plain;q=0.9', 'prometheus'],
    // Prometheus 3 sends this one.
    [
      'application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,application/openmetrics-text;version=0.0.1;q=0.5,text/plain;version=1.0.0;escaping=allow-utf-8;q=0.4,text/plain;version=0.0.4;q=0.3,*/*;q=0.2',
      'openmetrics',
    ],
    ['application/openmetrics-text;q=0', 'prometheus'],
    ['application/openmetrics-text;q=x', 'prometheus'],
    [',;q='.repeat(100_000), 'prometheus'],
  ] as const)('the format of row %#', (accept, format) => expect(formatOf(accept)).toBe(format))
})

const storeOf = () => createMetrics({ mostSeries: 5_000, ofKeys: true, now: () => 1_700_000_000_500 })

test('names of people are escaped and cut', async () => {
  const store = storeOf()
  const keys = store.series('sluice_key_requests_total')
  const names = [
    'plain',
    'a "quoted" one',
    'back\\slash\nnew line',
    '\ud800 alone',
    `${'x'.repeat(127)}😀tail`,
  ]
  for (const name of names) keys.add(keys.place([name]), 1)
  const text = await writeText([['sluice_key_requests_total', keys]], 'prometheus')
  const [family] = readExposition(text, 'prometheus').values()
  expect(family?.samples.map(({ labels }) => labels['key'])).toEqual([
    'plain',
    'a "quoted" one',
    'back\\slash\nnew line',
    '\ufffd alone',
    `${'x'.repeat(127)}\ufffd`,
  ])
})

test('OpenMetrics has exemplars, times of creation and units', async () => {
  const store = storeOf()
  const series = store.series('gen_ai_client_operation_duration_seconds')
  const exemplar = { generationId: 'gen-01', traceId: 'ab'.repeat(16), value: 0.3, at: 1_700_000_001_250 }
  series.observe(series.place(['chat', 'openai', 'm', '']), 0.3, exemplar)
  const name = 'gen_ai_client_operation_duration_seconds'
  const text = await writeText([[name, series]], 'openmetrics')
  expect(text).toContain('# UNIT gen_ai_client_operation_duration_seconds seconds\n')
  const families = readExposition(text, 'openmetrics')
  expect(sampleText(families, `${name}_created`)).toBe('1700000000.5')
  const bucket = families.get(name)?.samples.find(({ labels }) => labels['le'] === '0.32')
  expect(bucket).toMatchObject({
    value: 1,
    exemplar: { labels: { trace_id: 'ab'.repeat(16), generation_id: 'gen-01' }, value: 0.3 },
  })
  expect(await writeText([[name, series]], 'prometheus')).not.toMatch(/# \{|_created/)
})
