/** A strict reader of the two formats of a scrape: it throws at the first line that breaks a rule of its format. */

interface Sample {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
  /** As it is written. */
  readonly text: string
  readonly exemplar: { readonly labels: Readonly<Record<string, string>>; readonly value: number } | null
}

export interface Family {
  readonly name: string
  readonly type: string
  readonly samples: Sample[]
}

type Format = 'prometheus' | 'openmetrics'

const NAME = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/
const TYPES = ['counter', 'gauge', 'histogram', 'unknown']
/** Endings of sample names, by type. */
const ENDINGS: Readonly<Record<Format, Readonly<Record<string, readonly string[]>>>> = {
  prometheus: { counter: [''], gauge: [''], histogram: ['_bucket', '_sum', '_count'] },
  openmetrics: {
    counter: ['_total', '_created'],
    gauge: [''],
    unknown: [''],
    histogram: ['_bucket', '_sum', '_count', '_created'],
  },
}

export function readExposition(text: string, format: Format): Map<string, Family> {
  if (!text.endsWith('\n')) throw new Error('the last line has no end')
  const lines = text.slice(0, -1).split('\n')
  if (format === 'openmetrics' && lines.pop() !== '# EOF') throw new Error('the last line is not # EOF')
  const families = new Map<string, Family>()
  const taken = new Set<string>()
  let family: Family | null = null
  for (const line of lines) {
    if (line === '# EOF' || line === '') throw new Error('an empty line, or an early # EOF')
    const [, keyword, name = '', rest = ''] = /^# (HELP|TYPE|UNIT) (\S+) (.+)$/.exec(line) ?? []
    if (keyword === undefined && line.startsWith('#')) throw new Error(`not a comment: ${line}`)
    if (keyword === undefined) {
      if (family === null) throw new Error(`a sample before its metric: ${line}`)
      family.samples.push(readSample(line, family, format))
      continue
    }
    if (!NAME.test(name)) throw new Error(`not a name: ${name}`)
    if (keyword === 'UNIT' && !name.endsWith(`_${rest}`)) throw new Error(`${name} lacks its unit ${rest}`)
    if (keyword !== 'TYPE') continue
    if (!TYPES.includes(rest)) throw new Error(`no type: ${rest}`)
    for (const ending of ENDINGS[format][rest] ?? []) {
      if (taken.has(name + ending)) throw new Error(`${name}${ending} is a name of two metrics`)
      taken.add(name + ending)
    }
    family = { name, type: rest, samples: [] }
    if (families.has(name)) throw new Error(`${name} is there twice`)
    families.set(name, family)
  }
  for (const one of families.values()) checkFamily(one)
  return families
}

const SAMPLE = /^([a-zA-Z_:][\w:]*)(?:\{(.*?)\})? (\S+)(?: # \{(.*)\} (\S+) (\d+(?:\.\d+)?))?$/
const LABEL = /([a-zA-Z_]\w*)="((?:[^"\\\n]|\\["\\n])*)"(,|$)/y
const MOST_EXEMPLAR_CHARACTERS = 128

function readSample(line: string, { name: family, type }: Family, format: Format): Sample {
  const [, name = '', labels = '', text = '', ofExemplar, exemplarValue] = SAMPLE.exec(line) ?? []
  const ending = name.startsWith(family) ? name.slice(family.length) : null
  if (ending === null || !(ENDINGS[format][type] ?? []).includes(ending))
    throw new Error(`${line} is not a sample of the ${type} ${family}`)
  if (!/^(?:[+-]?\d+(?:\.\d+)?(?:e[+-]?\d+)?|[+]Inf|NaN)$/.test(text))
    throw new Error(`not a number: ${line}`)
  if (ofExemplar !== undefined && (format === 'prometheus' || !['_bucket', '_total'].includes(ending)))
    throw new Error(`an exemplar where none may be: ${line}`)
  const exemplar =
    ofExemplar === undefined ? null : { labels: readLabels(ofExemplar), value: Number(exemplarValue) }
  const length = Object.entries(exemplar?.labels ?? {}).join('').length
  if (length > MOST_EXEMPLAR_CHARACTERS) throw new Error(`an exemplar of ${length} characters`)
  return { name, labels: readLabels(labels), value: Number(text.replace('Inf', 'Infinity')), text, exemplar }
}

function readLabels(text: string): Record<string, string> {
  const labels: Record<string, string> = {}
  LABEL.lastIndex = 0
  while (LABEL.lastIndex < text.length) {
    const at = LABEL.lastIndex
    const [, name = '', value = ''] = LABEL.exec(text) ?? []
    if (name === '') throw new Error(`no label at ${at} of ${text}`)
    if (name in labels) throw new Error(`${name} is there twice in ${text}`)
    labels[name] = value.replace(/\\(["\\n])/g, (_, escaped) => (escaped === 'n' ? '\n' : escaped))
  }
  return labels
}

/** No label set is there twice, buckets grow, and the last one is the count. */
function checkFamily({ name, type, samples }: Family): void {
  const seen = new Set<string>()
  const last = new Map<string, Sample>()
  for (const sample of samples) {
    const key = `${sample.name} ${JSON.stringify(Object.entries(sample.labels).sort())}`
    if (seen.has(key)) throw new Error(`twice: ${key}`)
    seen.add(key)
    if (type === 'counter' && sample.value < 0) throw new Error(`negative: ${key}`)
    if (type !== 'histogram') continue
    const { le, ...labels } = sample.labels
    const set = JSON.stringify(labels)
    const before = last.get(set)
    if (sample.name.endsWith('_bucket')) {
      if (le === undefined || !/^(?:\d+\.\d+|\+Inf)$/.test(le)) throw new Error(`${name} has a bucket ${le}`)
      if (before !== undefined && before.value > sample.value) throw new Error(`${key} shrinks`)
      last.set(set, sample)
    } else if (sample.name.endsWith('_count')) {
      if (before?.labels['le'] !== '+Inf' || before.value !== sample.value)
        throw new Error(`the count of ${key} is not that of its last bucket`)
    }
  }
}

/** The values of the samples with this name, by their labels without those of `le`. */
export function sampleText(
  families: ReadonlyMap<string, Family>,
  name: string,
  labels: Readonly<Record<string, string>> = {},
): string | undefined {
  for (const { samples } of families.values()) {
    const found = samples.find(
      (sample) =>
        sample.name === name &&
        Object.entries(labels).every(([label, value]) => sample.labels[label] === value),
    )
    if (found !== undefined) return found.text
  }
  return undefined
}
