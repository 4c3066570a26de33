import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { JsonObject } from '../../src/core/events.ts'
import { isObject } from '../../src/core/json.ts'

/** A reply, or an event of one, that must fit a type of an official package. */
export interface Sample {
  readonly type: SdkType
  /** Where it comes from, for the message. */
  readonly name: string
  readonly value: unknown
}

const MODULES = join(import.meta.dir, '../../node_modules')
const TYPES = {
  ChatCompletion: 'openai/resources/chat/completions/completions',
  ChatCompletionChunk: 'openai/resources/chat/completions/completions',
  Response: 'openai/resources/responses/responses',
  ResponseStreamEvent: 'openai/resources/responses/responses',
  CompactedResponse: 'openai/resources/responses/responses',
  CreateEmbeddingResponse: 'openai/resources/embeddings',
  ImagesResponse: 'openai/resources/images',
  Model: 'openai/resources/models',
  Message: '@anthropic-ai/sdk/resources/messages/messages',
  RawMessageStreamEvent: '@anthropic-ai/sdk/resources/messages/messages',
  MessageTokensCount: '@anthropic-ai/sdk/resources/messages/messages',
} as const
export type SdkType = keyof typeof TYPES

/** Fields that a type does not know may be there; those that it knows must fit it. */
const LOOSE = `
type Loose<T> = T extends string | number | boolean | null | undefined ? T
  : T extends readonly (infer U)[] ? Loose<U>[]
  : T extends object ? { [K in keyof T]: Loose<T[K]> } & { [name: string]: unknown } : T;
type Sparse<T> = T extends string | number | boolean | null | undefined ? T
  : T extends readonly (infer U)[] ? Sparse<U>[]
  : T extends object
    ? { [K in keyof T as null extends T[K] ? never : K extends 'caller' ? never : K]: Sparse<T[K]> }
      & { [K in keyof T as null extends T[K] ? K : K extends 'caller' ? K : never]?: Sparse<T[K]> }
      & { [name: string]: unknown }
  : T
`

/**
 * Anthropic's types require fields that may be null, and `caller`, which its API left out of every recorded answer;
 * clients of it refuse the null of some (`citations` in @ai-sdk/anthropic).
 */
const isSparse = (type: SdkType): boolean => TYPES[type].startsWith('@anthropic')

/**
 * Compiles the samples against the packages' own types and answers what does not fit: a null or a field that the type
 * does not have so, a required field that is missing, a value outside its enumeration. One of each shape is enough.
 */
export async function misfits(samples: readonly Sample[]): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-types-'))
  try {
    const shapes = new Map<string, Sample>()
    for (const sample of samples) {
      const key = `${sample.type} ${JSON.stringify(shapeOf(sample.value))}`
      if (!shapes.has(key)) shapes.set(key, sample)
    }
    const kept = [...shapes.values()]
    const types = [...new Set(kept.map(({ type }) => type))]
    const lines = [
      ...types.map((type) => `import type { ${type} } from ${JSON.stringify(join(MODULES, TYPES[type]))}`),
      LOOSE.replaceAll('\n', ' '),
      ...kept.map(
        ({ type, value }, index) =>
          `export const v${index}: ${isSparse(type) ? 'Sparse' : 'Loose'}<${type}> = ${JSON.stringify(shapeOf(value))}`,
      ),
    ]
    const first = types.length + 2
    writeFileSync(join(folder, 'samples.ts'), lines.join('\n'))
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(CONFIG))
    const tsc = Bun.spawn(
      [process.execPath, join(MODULES, 'typescript/lib/tsc.js'), '-p', folder, '--pretty', 'false'],
      {
        cwd: folder,
      },
    )
    const printed = await new Response(tsc.stdout).text()
    await tsc.exited
    return printed
      .split('\n')
      .filter((line) => line.includes('error TS'))
      .map((line) => {
        const [, row = '', column = ''] = /samples\.ts\((\d+),(\d+)\)/.exec(line) ?? []
        const sample = kept[Number(row) - first]
        const place = lines[Number(row) - 1]?.slice(Number(column) - 1).slice(0, 60)
        return sample
          ? `${sample.type} of ${sample.name}, ${place}: ${line.slice(line.indexOf('error'))}`.slice(0, 600)
          : line
      })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const CONFIG = {
  compilerOptions: {
    strict: true,
    exactOptionalPropertyTypes: true,
    noEmit: true,
    skipLibCheck: true,
    module: 'esnext',
    moduleResolution: 'bundler',
    target: 'esnext',
    lib: ['esnext', 'dom'],
    types: [],
    noErrorTruncation: false,
  },
  files: ['samples.ts'],
}

/** Long texts say nothing of the form, and a list of the same things is one of them. */
function shapeOf(value: unknown, name = ''): unknown {
  if (typeof value === 'string') return WORDS.has(name) ? value : 'x'
  if (typeof value === 'number') return 1
  if (Array.isArray(value)) {
    const shapes = new Map(
      value.slice(0, 200).map((each) => [JSON.stringify(shapeOf(each, name)), shapeOf(each, name)]),
    )
    return [...shapes.values()]
  }
  if (!isObject(value)) return value
  const shape: JsonObject = {}
  for (const key of Object.keys(value).toSorted()) shape[key] = shapeOf(value[key], key)
  return shape
}

/** Fields whose text is a word of an enumeration in some type. */
const WORDS = new Set([
  'type',
  'role',
  'object',
  'status',
  'finish_reason',
  'stop_reason',
  'service_tier',
  'reason',
  'code',
  'truncation',
  'tool_choice',
  'effort',
  'summary',
  'detail',
  'phase',
  'verbosity',
  'mode',
  'category',
  'caller',
  'output_format',
  'quality',
  'size',
  'prompt_cache_retention',
  'context',
  'background',
  'finishReason',
  'blockReason',
  'modality',
  'language',
  'outcome',
])
