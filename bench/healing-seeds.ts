/** Answers as models write them when they follow a schema, and the schemas. */
export interface Seed {
  readonly name: string
  readonly value: unknown
  readonly schema: Readonly<Record<string, unknown>>
}

const text = { type: 'string' } as const
const number = { type: 'number' } as const
const flag = { type: 'boolean' } as const
const list = (items: unknown) => ({ type: 'array', items })
const object = (properties: Readonly<Record<string, unknown>>, required = Object.keys(properties)) => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
})

export const SEEDS: readonly Seed[] = [
  {
    name: 'weather',
    value: { city: 'Berlin', celsius: 21.5, conditions: ['cloudy', 'windy'], rain: false, warning: null },
    schema: object({
      city: text,
      celsius: number,
      conditions: list(text),
      rain: flag,
      warning: { type: ['string', 'null'] },
    }),
  },
  {
    name: 'invoice',
    value: {
      number: 'INV-2026-0042',
      total: 1290.75,
      lines: [
        { item: 'Desk lamp, black', count: 2, price: 45.5 },
        { item: 'Chair "Nordic"', count: 4, price: 299.9375 },
      ],
      paid: true,
    },
    schema: object({
      number: text,
      total: number,
      lines: list(object({ item: text, count: { type: 'integer' }, price: number })),
      paid: flag,
    }),
  },
  {
    name: 'sentiment',
    value: { sentiment: 'positive', confidence: 0.93, reasons: ["It's fast", 'good value'] },
    schema: object({
      sentiment: { enum: ['positive', 'neutral', 'negative'] },
      confidence: { type: 'number', minimum: 0, maximum: 1 },
      reasons: list(text),
    }),
  },
  {
    name: 'person',
    value: {
      name: 'José Álvarez',
      age: 41,
      email: 'jose@site.example',
      address: { street: 'Calle Mayor 7', zip: '28013', country: 'ES' },
      tags: [],
    },
    schema: object({
      name: text,
      age: { type: 'integer' },
      email: text,
      address: object({ street: text, zip: { type: 'string', pattern: '^[0-9]{5}$' }, country: text }),
      tags: list(text),
    }),
  },
  {
    name: 'code review',
    value: {
      file: 'src/main.ts',
      findings: [
        { line: 12, severity: 'high', message: 'The loop never ends: i is not counted up' },
        { line: 40, severity: 'low', message: 'Use const instead of let' },
      ],
      approved: false,
    },
    schema: object({
      file: text,
      findings: list(
        object({ line: { type: 'integer' }, severity: { enum: ['low', 'medium', 'high'] }, message: text }),
      ),
      approved: flag,
    }),
  },
  {
    name: 'translation',
    value: { source: 'de', target: 'ja', text: 'こんにちは、世界', notes: 'Formal.\nUsed in the daytime.' },
    schema: object({ source: text, target: text, text, notes: text }),
  },
  {
    name: 'plan',
    value: {
      steps: [
        { id: 1, do: 'Search', after: [] },
        { id: 2, do: 'Summarize', after: [1] },
        { id: 3, do: 'Send', after: [1, 2] },
      ],
    },
    schema: object({
      steps: list(object({ id: { type: 'integer' }, do: text, after: list({ type: 'integer' }) })),
    }),
  },
  {
    name: 'table',
    value: {
      columns: ['a', 'b'],
      rows: [
        [1, 2],
        [3.5, -4],
        [0, 1e21],
      ],
    },
    schema: object({ columns: list(text), rows: list(list(number)) }),
  },
  {
    name: 'links',
    value: {
      links: [
        { title: 'Home', url: 'https://site.example/a?b=c#d' },
        { title: 'Docs', url: 'http://docs.example//x' },
      ],
    },
    schema: object({ links: list(object({ title: text, url: text })) }),
  },
  {
    name: 'nested',
    value: { a: { b: { c: { d: { e: [{ f: 'deep', g: true }] } } } }, z: 'end' },
    schema: object({ a: { type: 'object' }, z: text }),
  },
]
