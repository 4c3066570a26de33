import { join } from 'node:path'
import { isObject } from '../src/core/json.ts'
import { aligned, markdown } from './print.ts'
import { spawn } from './process.ts'
import type { Settings } from './settings.ts'
import { startSluice } from './sluice.ts'
import { percentile } from './statistics.ts'

/** The built-in catalogue, and lists of 1,000 models, one request after the other, until the last byte of each answer is there. */

const MODELS = 1_000
const GOAL_MS = 5
const WARMUP = 30

/** What is asked; each of them answers with many models. */
const QUERIES = [
  '/models?limit=1000',
  '/models?limit=1000&output_modalities=all',
  '/models?limit=1000&supported_parameters=tools&sort=pricing-low-to-high',
  '/models?limit=1000&providers=first&sort=context-high-to-low',
  '/models?limit=1000&q=model&min_price=0&max_price=100',
  '/models?limit=1000&sort=throughput-high-to-low',
  '/models?limit=1000&sort=top-weekly',
  '/models?limit=1000&use_rss=true',
  '/models/user?limit=1000',
  '/models/count',
  '/endpoints/zdr',
]

/** Prices, limits and parameters differ, as those of a real catalogue do. */
const modelOf = (index: number) => ({
  id: `author-${index % 40}/model-${index}`,
  name: `Author ${index % 40}: Model ${index}`,
  context_length: 8_000 * ((index % 125) + 1),
  max_completion_tokens: 4_000,
  architecture: {
    input_modalities: index % 3 === 0 ? ['text', 'image'] : ['text'],
    output_modalities: ['text'],
  },
  supported_parameters: [
    'max_tokens',
    'temperature',
    'top_p',
    ...(index % 2 === 0 ? ['tools', 'tool_choice'] : []),
  ],
  pricing: { prompt: `0.00000${(index % 900) + 100}`, completion: `0.0000${(index % 900) + 100}` },
})

export async function benchCatalog(settings: Settings, folder: string): Promise<boolean> {
  const isLoadGood = await benchLoad(settings)
  return (await benchLists(settings, folder)) && isLoadGood
}

const STARTS = 9
const LOAD_GOAL_MS = 30
const MEMORY_GOAL_BYTES = 25_000_000
const MEASURES = [
  'loadMs',
  'readyMs',
  'heapBytes',
  'residentBytes',
  'packedBytes',
  'models',
  'endpoints',
] as const

/** What the built-in catalogue costs a process that has just started: medians of several. */
async function benchLoad(settings: Settings): Promise<boolean> {
  const script = join(import.meta.dir, 'catalog-load.ts')
  const starts: unknown[] = []
  for (let count = 0; count < STARTS; count++) {
    const child = spawn({ place: 'gateway', command: [process.execPath, script] })
    starts.push(await child.firstLine())
    await child.exited
  }
  const medianOf = (name: (typeof MEASURES)[number]): number => {
    const values = starts.map((start) => Number(isObject(start) ? start[name] : Number.NaN))
    return percentile(
      values.sort((left, right) => left - right),
      0.5,
    )
  }
  const [loadMs, readyMs, heap, resident, packed, models, endpoints] = MEASURES.map(medianOf)
  const ms = (value = Number.NaN) => `${value.toFixed(1)} ms`
  const mb = (value = Number.NaN) => `${(value / 1_000_000).toFixed(1)} MB`
  const isGood = Number(loadMs) <= LOAD_GOAL_MS && Number(resident) <= MEMORY_GOAL_BYTES
  const rows = [
    ['the built-in catalogue', 'goal', 'median'],
    ['unpacked and read', ms(LOAD_GOAL_MS), ms(loadMs)],
    ['and all names and all endpoints made', '', ms(readyMs)],
    ['memory on the heap', '', mb(heap)],
    ['memory of the process', mb(MEMORY_GOAL_BYTES), mb(resident)],
    ['in the binary', '', mb(packed)],
  ]
  const print = settings.isMarkdown ? markdown : aligned
  console.log(`${print(rows)}\n\n${models} models, ${endpoints} endpoints, ${STARTS} starts.\n`)
  return isGood
}

async function benchLists(settings: Settings, folder: string): Promise<boolean> {
  const models = Array.from({ length: MODELS }, (_, index) => modelOf(index))
  const entry = (slug: string, of: readonly object[]) => ({
    slug,
    base_url: 'http://127.0.0.1:9/v1',
    models: of,
  })
  const target = await startSluice({
    upstreamPort: 9,
    folder: join(folder, 'sluice'),
    fromSource: settings.fromSource,
    bunFlags: [],
    // Every other model is offered twice.
    providers: [
      entry('first', models),
      entry(
        'second',
        models.filter((_, index) => index % 2 === 0),
      ),
    ],
  })
  try {
    const [key = ''] = target.keys
    const rows: string[][] = []
    let isGood = true
    for (const query of QUERIES) {
      const { times, bytes } = await ask(`http://127.0.0.1:${target.port}/api/v1${query}`, key, settings)
      const p50 = percentile(times, 0.5)
      isGood &&= p50 <= GOAL_MS
      const cells = [p50, percentile(times, 0.99)].map((ms) => `${ms.toFixed(2)} ms`)
      rows.push([query, String(times.length), ...cells, `${Math.round(bytes / 1000)} kB`])
    }
    const print = settings.isMarkdown ? markdown : aligned
    console.log(`${print([['list', 'answers', 'p50', 'p99', 'size'], ...rows])}\n`)
    console.log(`${MODELS} models, ${MODELS * 1.5} endpoints; the goal is a p50 of at most ${GOAL_MS} ms.`)
    return isGood
  } finally {
    await target.stop()
  }
}

/** Ascending times, in milliseconds, and the size of one answer. */
async function ask(
  url: string,
  key: string,
  settings: Settings,
): Promise<{ times: number[]; bytes: number }> {
  const times: number[] = []
  let bytes = 0
  const end = performance.now() + settings.turnMs * settings.rounds
  for (let count = 0; count < WARMUP || performance.now() < end; count++) {
    const startedAt = performance.now()
    const response = await fetch(url, { headers: { authorization: `Bearer ${key}` } })
    bytes = (await response.arrayBuffer()).byteLength
    if (response.status !== 200) throw new Error(`${url} answers with ${response.status}`)
    if (count >= WARMUP) times.push(performance.now() - startedAt)
  }
  return { times: times.sort((left, right) => left - right), bytes }
}
