import { isDeepStrictEqual } from 'node:util'
import { SEEDS, type Seed } from './healing-seeds.ts'
import { cutAt, isPartOf, type Style, written } from './healing-writing.ts'

/** One broken answer, and what its repair must be. */
export interface Broken {
  readonly kind: string
  readonly seed: Seed
  readonly answer: string
  isRight(value: unknown): boolean
}

type Make = (seed: Seed, whole: string) => string

const style =
  (change: Partial<Style>): Make =>
  ({ value }) =>
    written(value, change)
const pretty = ({ value }: Seed): string => JSON.stringify(value, null, 2)

/** What models really do to JSON, by kind. */
const KINDS: Readonly<Record<string, Make>> = {
  'code fence': (seed) => `\`\`\`json\n${pretty(seed)}\n\`\`\``,
  'code fence without a language': (_, whole) => `\`\`\`\n${whole}\n\`\`\`\n`,
  'code fence that is not closed': (seed) => `\`\`\`json\n${pretty(seed)}\n`,
  'prose before': (seed) => `Sure! Here is the JSON you asked for:\n\n${pretty(seed)}`,
  'prose after': (_, whole) => `${whole}\n\nLet me know if you need anything else!`,
  'prose and a fence': (seed) =>
    `Here's the result:\n\n\`\`\`json\n${pretty(seed)}\n\`\`\`\n\nI hope this helps (see note [1]).`,
  'prose with brackets': (_, whole) => `According to [1] and {as discussed}, the answer is: ${whole}`,
  'the word json before': (_, whole) => `json\n${whole}`,
  'tags around': (_, whole) => `<json>\n${whole}\n</json>`,
  'thinking before': (_, whole) =>
    `<think>\nThe user wants {"x": 1}? No, by the schema: [a, b].\n</think>\n\n${whole}`,
  'special token after': (_, whole) => `${whole}<|im_end|>`,
  'byte order mark': (_, whole) => `\ufeff${whole}`,
  'trailing commas': style({ trailingComma: true, indent: 2 }),
  'trailing commas on one line': style({ trailingComma: true }),
  'single quotes': style({ quote: "'" }),
  'unquoted keys': style({ keyQuote: '', indent: 2 }),
  'JavaScript object': style({ keyQuote: '', quote: "'", trailingComma: true, indent: 2 }),
  backticks: style({ quote: '`', keyQuote: '"' }),
  'Python literals': style({ literals: 'python', quote: "'" }),
  'line comments': style({ comment: '// the value', indent: 2 }),
  'block comments': style({ comment: '/* see above */', indent: 2 }),
  'hash comments': style({ comment: '# as asked', indent: 2 }),
  'smart quotes': style({ quote: '“' }),
  'unescaped newlines': style({ escapes: 'no newlines', longText: true }),
  'unescaped quotes': style({ escapes: 'no quotes', quotedText: true }),
  'wrong escapes': style({ escapes: 'wrong', wrongText: true }),
  'missing commas': style({ comma: '', indent: 2 }),
  semicolons: style({ comma: ';', indent: 2 }),
  'double commas': style({ comma: ',,' }),
  'equals signs': style({ colon: ' = ', indent: 2 }),
  'missing brackets at the end': (_, whole) => whole.replace(/[\]}]+$/, ''),
  'one bracket too few': (_, whole) => whole.slice(0, -1),
  'brackets too many': (_, whole) => `${whole}}]}`,
  ellipsis: style({ ellipsis: true }),
  'blanks of Unicode': style({ colon: ':\u00a0', comma: ',\u2003' }),
  'calls of constructors': style({ calls: true }),
  'answer given twice': (_, whole) => `${whole}\n${whole}`,
  'answer corrected': (seed, whole) =>
    `${JSON.stringify(SEEDS[(SEEDS.indexOf(seed) + 1) % SEEDS.length]?.value)}\n\nWait, that does not match the schema. Corrected:\n\n${whole}`,
  'escaped as a string': (_, whole) => JSON.stringify(whole),
  'escaped without quotes': (seed) => JSON.stringify(pretty(seed)).slice(1, -1),
  'everything at once': (seed) =>
    `Sure:\n\`\`\`json\n${written(seed.value, { keyQuote: '', quote: "'", literals: 'python', trailingComma: true, comment: '// ok', indent: 2 })}\n\`\`\`\nDone.`,
}

/** Where an answer is cut off, as a part of its length. */
const CUTS = [0.35, 0.6, 0.8, 0.95]

/** All broken answers: each kind of each seed, and each seed cut off. */
export function brokenAnswers(): Broken[] {
  const answers: Broken[] = []
  for (const seed of SEEDS) {
    const whole = JSON.stringify(seed.value)
    for (const [kind, make] of Object.entries(KINDS)) {
      const answer = make(seed, whole)
      if (isWhole(answer) && kind !== 'escaped as a string') continue
      const expected = expectedOf(kind, seed)
      answers.push({ kind, seed, answer, isRight: (value) => isDeepStrictEqual(value, expected) })
    }
    for (const cut of CUTS) {
      const isRight = (value: unknown): boolean => isPartOf(value, seed.value)
      answers.push({ kind: 'cut off', seed: withoutSchema(seed), answer: cutAt(whole, cut), isRight })
      answers.push({
        kind: 'cut off in a fence',
        seed: withoutSchema(seed),
        answer: `\`\`\`json\n${cutAt(pretty(seed), cut)}`,
        isRight,
      })
    }
  }
  const rows = SEEDS.map(({ value }) => value)
  const lines = { name: 'lines', value: rows, schema: {} }
  for (const [kind, answer] of [
    ['lines of JSON', rows.map((row) => JSON.stringify(row)).join('\n')],
    ['lines of JSON', rows.map((row) => JSON.stringify(row)).join(',\n')],
  ] as const) {
    answers.push({ kind, seed: lines, answer, isRight: (value) => isDeepStrictEqual(value, rows) })
  }
  return answers
}

/** Some seeds have nothing that a kind could break. */
function isWhole(answer: string): boolean {
  try {
    JSON.parse(answer)
    return true
  } catch {
    return false
  }
}

/** What is missing is missing: a schema with required fields would reject it. */
const withoutSchema = (seed: Seed): Seed => ({ ...seed, schema: {} })

const CHANGED: Readonly<Record<string, Partial<Style>>> = {
  'unescaped newlines': { longText: true },
  'unescaped quotes': { quotedText: true },
  'wrong escapes': { wrongText: true },
}

const expectedOf = (kind: string, { value }: Seed): unknown => JSON.parse(written(value, CHANGED[kind] ?? {}))

/** Answers that are whole, in the ways that models lay them out. */
export function wholeAnswers(): { seed: Seed; answer: string }[] {
  return SEEDS.flatMap((seed) => LAYOUTS.map((layout) => ({ seed, answer: layout(seed.value) })))
}

const compact = (value: unknown): string => JSON.stringify(value)
const LAYOUTS: readonly ((value: unknown) => string)[] = [
  compact,
  (value) => JSON.stringify(value, null, 2),
  (value) => JSON.stringify(value, null, 4),
  (value) => JSON.stringify(value, null, '\t'),
  (value) => `${compact(value)}\n`,
  (value) => `\n\n${JSON.stringify(value, null, 2)}\n`,
  (value) => JSON.stringify(value, null, 2).replaceAll('\n', '\r\n'),
  (value) => ` ${compact(value)} `,
  (value) => written(value, { comma: ' , ', colon: ' : ' }),
  (value) => written(value, { comma: ', ', colon: ': ' }),
  (value) =>
    compact(value).replace(
      /[\u0080-\uffff]/g,
      (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
    ),
  (value) => compact(value).replaceAll('/', '\\/'),
  (value) => written(value, { quotedText: true }),
  (value) => written(value, { longText: true, indent: 2 }),
  (value) => written(value, { wrongText: true }),
  ...[
    '// not a comment',
    '/* nor this */',
    '```json',
    "it's",
    '{"a": 1}',
    '[1, 2,]',
    'None, True',
    '“quoted”',
    '<think>x</think>',
    'a, "b": c',
    '... and so on',
    'C:\\path',
    '#1',
    '}]',
    '1,000',
  ].map((said) => (value: unknown) => written(value, { said })),
]
