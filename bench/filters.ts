import { GatewayError } from '../src/core/errors.ts'
import type { GuardrailRecord } from '../src/core/guardrail.ts'
import { type BuiltinEntry, compileFilters, type PatternEntry } from '../src/filters/compile.ts'
import { withFilters } from '../src/inference/filters/input/apply.ts'
import { guardrail } from '../test/inference/fixture.ts'
import { qualities } from './filter-samples.ts'
import { type Answered, answerRows } from './output-filters.ts'
import { aligned, markdown } from './print.ts'
import type { Settings } from './settings.ts'
import { percentile } from './statistics.ts'

/**
 * The time that content filters add to a request, how they end on hostile prompts, and what the built-in ones recognize.
 */

const PROMPT_BYTES = 100_000
const GOAL_MS = 10
/** Over a stream that takes minutes. */
const ANSWER_GOAL_MS = 100
const HOSTILE_BYTES = 1_000_000
/** The longest that any filters and prompt may hold the thread. */
const STOP_GOAL_MS = 100

const BUILTINS: BuiltinEntry[] = [
  'email',
  'phone',
  'ssn',
  'credit-card',
  'ip-address',
  'secrets',
  'address',
  'regex-prompt-injection',
].map((slug) => ({ slug, action: slug === 'regex-prompt-injection' ? 'flag' : 'redact' }))

const PATTERNS: PatternEntry[] = [
  String.raw`ACME-\d{6}`,
  String.raw`(?i)project\s+(?:titan|orion)`,
  String.raw`\b[A-Z]{2}\d{6}\b`,
  String.raw`(?i)\bconfidential\b`,
  String.raw`secret\w*\s*=\s*\S+`,
  '[0-9]{4}-[0-9]{4}',
  String.raw`(?i)(?:pass|pwd)\s*[:=]\s*\S{6,}`,
  String.raw`\bDE\d{2}(?: ?\d{4}){4} ?\d{2}\b`,
  '(?m)^BEGIN .*$',
  String.raw`\p{Greek}{3,}`,
  '.{0,50}internal only',
  String.raw`(?:\w+\s+){3}merger`,
].map((pattern) => ({ pattern, action: 'redact' }))

const guarded = (builtins: BuiltinEntry[], patterns: PatternEntry[]): GuardrailRecord =>
  guardrail({ name: 'Bench', filters: compileFilters(builtins, patterns) })

const bodyOf = (content: string) => ({ model: 'm', messages: [{ role: 'user', content }] })

/** Sentences with numbers, names and, once in a kilobyte, something that is found. */
function prompt(bytes: number): string {
  const words =
    'the quick brown Fox jumps over a lazy Dog and then writes some report about quarterly results for 35 customers in Berlin since 2024, with 4,711 items'.split(
      ' ',
    )
  const finds = ['ann@site.example', '+1 202 555 0147', '203.0.113.9', '4111 1111 1111 1111', 'ACME-123456']
  let seed = 7
  let text = ''
  for (let count = 0; text.length < bytes; count++) {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) & 0x7fffffff
    text += `${words[(seed >> 8) % words.length]}${count % 13 === 12 ? '.\n' : ' '}`
    if (count % 180 === 179) text += `${finds[(seed >> 8) % finds.length]} `
  }
  return text.slice(0, bytes)
}

const HOSTILE: readonly (readonly [name: string, pattern: (index: number) => string, text: string])[] = [
  ['many states', (index) => `(?:a|b)*a(?:a|b){${50 + index}}c`, 'abbabaab'],
  ['nested repetition', (index) => `(?:(?:x+x+)+y){${1 + (index % 20)}}`, 'xxxxxxxx xxxxx '],
  ['long windows', (index) => `.{0,${800 + index}}secret`, 'no such word here, but many others. '],
  ['overlapping words', (index) => `(?:[a-z]{1,40} ){1,15}q${index}z`, 'some words in a row '],
  ['repetition of repetition', (index) => `(?:(?:a{1,20}){1,20}b){${1 + (index % 2)}}`, 'aaaaaaaaaaaaaaaa'],
  ['many characters', (index) => `\\p{L}{${20 + (index % 80)}}\\d`, 'Ωмरক漢字éß한あ'],
]

export async function benchFilters(settings: Settings): Promise<boolean> {
  const print = settings.isMarkdown ? markdown : aligned
  const rows = (await qualities()).map((row) => [
    row.slug,
    String(row.wanted),
    String(row.wrong),
    row.precision.toFixed(2),
    row.recall.toFixed(2),
  ])
  console.log(
    `${print([['built-in filter', 'to be found', 'wrongly found', 'precision', 'recall'], ...rows])}\n`,
  )
  const [speed, isFast] = await speedRows(settings)
  console.log(`${print([['20 filters, 100 kB', 'p50', 'p99', 'of the goal'], ...speed])}\n`)
  const [streamed, isQuick] = await answerRows(answers(), ANSWER_GOAL_MS)
  const head = ['20 filters, an answer of 100 kB', 'p50', 'p99', 'for each token', 'held back at most']
  console.log(`${print([head, ...streamed])}\n`)
  const [large, areLargeBounded] = await largeRows()
  console.log(`${print([['large prompts', 'first', 'then', 'longest stop', 'answer'], ...large])}\n`)
  const [hostile, areHostileBounded] = await hostileRows()
  console.log(
    `${print([['200 hostile patterns, 1 MB', 'first', 'then', 'longest stop', 'answer'], ...hostile])}\n`,
  )
  console.log(
    `The goals are ${GOAL_MS} ms added (${ANSWER_GOAL_MS} ms over a complete stream), and the thread held for ${STOP_GOAL_MS} ms at most.`,
  )
  return isFast && isQuick && areLargeBounded && areHostileBounded
}

function answers(): Answered[] {
  const text = prompt(PROMPT_BYTES)
  const onOutput = <Entry>(entries: Entry[]) =>
    entries.map((entry) => ({ ...entry, appliesTo: 'output' as const }))
  const flags = <Entry>(entries: Entry[]) => entries.map((entry) => ({ ...entry, action: 'flag' as const }))
  const all = guarded(onOutput(BUILTINS), onOutput(PATTERNS))
  return [
    { name: 'with something found in each kB', text, guardrail: all },
    { name: 'with nothing found', text: text.replace(/\d|@/g, 'x'), guardrail: all },
    { name: 'the built-in ones alone', text, guardrail: guarded(onOutput(BUILTINS), []) },
    {
      name: 'all of them only record',
      text,
      guardrail: guarded(flags(onOutput(BUILTINS)), flags(onOutput(PATTERNS))),
    },
    { name: 'filters on prompts only', text, guardrail: guarded(BUILTINS, PATTERNS) },
  ]
}

async function speedRows(settings: Settings): Promise<[rows: string[][], isGood: boolean]> {
  const found = bodyOf(prompt(PROMPT_BYTES))
  const clean = bodyOf(prompt(PROMPT_BYTES).replace(/\d|@/g, 'x'))
  const key = { guardrails: [guarded(BUILTINS, PATTERNS)] }
  const startedAt = performance.now()
  await withFilters(found, { key }, false)
  const firstMs = performance.now() - startedAt
  let isGood = true
  const rows = [
    ['with something found in each kB', found, key],
    ['with nothing found', clean, key],
    ['a key without filters', found, {}],
  ] as const
  const cells: string[][] = []
  for (const [name, body, of] of rows) {
    const times = await timed(settings, async () => withFilters(body, { key: of }, false))
    const p50 = percentile(times, 0.5)
    isGood &&= p50 <= GOAL_MS
    cells.push([name, ms(p50), ms(percentile(times, 0.99)), `${Math.round((100 * p50) / GOAL_MS)} %`])
  }
  return [[['the first request of all', ms(firstMs), '', 'once'], ...cells], isGood]
}

const ms = (value: number): string => `${value.toFixed(3)} ms`

/** Ascending, in milliseconds. */
async function timed({ turnMs, rounds }: Settings, work: () => Promise<unknown>): Promise<number[]> {
  const times: number[] = []
  const end = performance.now() + (turnMs * rounds) / 5
  for (let count = 0; count < 30 || performance.now() < end; count++) {
    const startedAt = performance.now()
    await work()
    times.push(performance.now() - startedAt)
  }
  return times.sort((a, b) => a - b)
}

/** 20 filters, and 200 with words of their own, on prompts that take longer than one slice. */
async function largeRows(): Promise<[rows: string[][], isGood: boolean]> {
  const many = Array.from({ length: 180 }, (_, index) => ({
    pattern: (PATTERNS[index % PATTERNS.length]?.pattern ?? '').replace(/[a-z]{5,}/, `$&${index}`),
    action: index % 2 === 0 ? ('redact' as const) : ('flag' as const),
  }))
  const flags: PatternEntry[] = [
    { pattern: String.raw`(?i)\b(fox|dog)\b.{0,100}\bunicorn\b`, action: 'flag' },
  ]
  const sets = [
    ['20 filters', guarded(BUILTINS, PATTERNS)],
    ['200 filters', guarded(BUILTINS, [...PATTERNS, ...many])],
    ['a long window', guarded([], flags)],
  ] as const
  let isGood = true
  const rows: string[][] = []
  for (const [name, own] of sets) {
    for (const megabytes of [0.2, 1, 20]) {
      const measured = await stopsOf(own, prompt(megabytes * 1e6), 2)
      isGood &&= measured.stopMs <= STOP_GOAL_MS
      rows.push(rowOf(`${name}, ${megabytes} MB`, measured))
    }
  }
  return [rows, isGood]
}

async function hostileRows(): Promise<[rows: string[][], isGood: boolean]> {
  let isGood = true
  const rows: string[][] = []
  for (const [name, pattern, unit] of HOSTILE) {
    const own = Array.from({ length: 200 }, (_, index) => ({
      pattern: pattern(index),
      action: 'block' as const,
    }))
    const text = unit.repeat(Math.ceil(HOSTILE_BYTES / unit.length)).slice(0, HOSTILE_BYTES)
    const measured = await stopsOf(guarded([], own), text, 3)
    isGood &&= measured.stopMs <= STOP_GOAL_MS
    rows.push(rowOf(name, measured))
  }
  return [rows, isGood]
}

const cpuMs = (): number => {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

interface Stops {
  times: number[]
  stopMs: number
  answer: string
}

const rowOf = (name: string, { times: [first = 0, ...then], stopMs, answer }: Stops): string[] => [
  name,
  ms(first),
  ms(Math.min(...then)),
  ms(stopMs),
  answer,
]

async function stopsOf(own: GuardrailRecord, text: string, rounds: number): Promise<Stops> {
  const times: number[] = []
  let answer = ''
  const stopMs = await longestStopMs(async () => {
    for (let count = 0; count < rounds; count++) {
      const startedAt = performance.now()
      answer = await answerOf(async () => withFilters(bodyOf(text), { key: { guardrails: [own] } }, false))
      times.push(performance.now() - startedAt)
    }
  })
  return { times, stopMs, answer }
}

/** The most that was done, in CPU time or by the clock, whichever is less, before a timer that is always due ran. */
async function longestStopMs(work: () => Promise<void>): Promise<number> {
  let longest = 0
  let last = { clock: performance.now(), cpu: cpuMs() }
  const timer = setInterval(() => {
    const now = { clock: performance.now(), cpu: cpuMs() }
    longest = Math.max(longest, Math.min(now.clock - last.clock, now.cpu - last.cpu))
    last = now
  }, 1)
  await Bun.sleep(5)
  longest = 0
  await work()
  await Bun.sleep(5)
  clearInterval(timer)
  return longest
}

async function answerOf(work: () => Promise<unknown>): Promise<string> {
  try {
    await work()
    return 'passes, scanned completely'
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error
    return `${error.status}, blocked`
  }
}
