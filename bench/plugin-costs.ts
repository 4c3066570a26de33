import { createDocumentReader } from '../src/tools/documents/reader.ts'
import { calls, says } from '../test/e2e/server-tools/setup.ts'
import { type Gateway, startGateway } from '../test/gateway.ts'
import { pdfOf } from '../test/tools/documents/files.ts'
import { type FakeUpstream, startUpstream } from '../test/upstream.ts'

/** What plugins and tools cost requests that have none, and those that have some. */

const PLAIN_GOAL = 1.01
const STEP_GOAL_MS = 1
const PDF_GOAL_MS = 3_000
const HELD_GOAL_MS = 20
const ROUNDS = 24
const REQUESTS = 50

interface Measured {
  readonly rows: string[][]
  readonly isGood: boolean
}

export async function costRows(): Promise<Measured> {
  const upstream = startUpstream()
  const [gateway, without] = await Promise.all([gatewayAt(upstream), gatewayAt(upstream)])
  Object.assign(without.deps.run, { plugins: [] })
  try {
    const all = [
      await plainRow(gateway, without, upstream),
      await stepRow(gateway, upstream),
      ...(await pdfRows()),
    ]
    return {
      rows: [['cost', 'measured', 'goal'], ...all.map(({ row }) => row)],
      isGood: all.every(({ isGood }) => isGood),
    }
  } finally {
    await Promise.all([gateway.stop(), without.stop()])
    await upstream.stop()
  }
}

const gatewayAt = ({ baseUrl }: FakeUpstream): Promise<Gateway> =>
  startGateway({
    providers: [
      {
        slug: 'lab',
        dialect: 'chat',
        base_url: baseUrl,
        models: [{ id: 'tiny', pricing: { prompt: '0.000001', completion: '0.000002' } }],
      },
    ],
  })

const rowOf = (what: string, measured: string, goal: string, isGood: boolean) => ({
  row: [what, measured, goal],
  isGood,
})

/** Milliseconds of a request, by requests one after the other. */
async function msOf(gateway: Gateway, body: object): Promise<number> {
  const startedAt = performance.now()
  for (let i = 0; i < REQUESTS; i++) await (await gateway.call('/chat/completions', body)).text()
  return (performance.now() - startedAt) / REQUESTS
}

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0

const PLAIN = { model: 'tiny', messages: [{ role: 'user', content: 'Hello' }] }

/** The same requests in turn, so that what else the machine does affects both. */
async function plainRow(gateway: Gateway, without: Gateway, upstream: FakeUpstream) {
  upstream.on('tiny', says('Hello'))
  const ratios: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const isFirst = round % 2 === 0
    const first = await msOf(isFirst ? gateway : without, PLAIN)
    const second = await msOf(isFirst ? without : gateway, PLAIN)
    if (round >= 4) ratios.push(isFirst ? first / second : second / first)
  }
  const ratio = median(ratios)
  return rowOf(
    'a request without plugins, against a gateway that has none',
    ratio.toFixed(3),
    `≤ ${PLAIN_GOAL}`,
    ratio <= PLAIN_GOAL,
  )
}

/** A loop of two steps against two requests. */
async function stepRow(gateway: Gateway, upstream: FakeUpstream) {
  const sum = calls([{ name: 'calculator', args: { expression: '6 * 7' } }])
  const overheads: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    upstream.on('tiny', says('Hello'))
    const plain = await msOf(gateway, PLAIN)
    upstream.on('tiny', (seen, request) => {
      const { messages } = seen.body
      return Array.isArray(messages) && messages.length > 1 ? says('42')(seen, request) : sum(seen, request)
    })
    const loop = await msOf(gateway, { ...PLAIN, tools: [{ type: 'openrouter:calculator' }] })
    overheads.push((loop - 2 * plain) / 2)
  }
  const ms = median(overheads)
  return rowOf(
    'a step of a tool loop, beyond its request',
    `${ms.toFixed(2)} ms`,
    `≤ ${STEP_GOAL_MS} ms`,
    ms <= STEP_GOAL_MS,
  )
}

const PAGES = 300
const LINES = 45

/** The text of a long PDF, and the longest time that its reading holds the thread of requests. */
async function pdfRows() {
  const line = 'The quick brown fox jumps over the lazy dog, and the dog sleeps on.'
  const pages = Array.from({ length: PAGES }, (_, page) =>
    Array.from({ length: LINES }, (_, at) => `${page}.${at} ${line}`).join('\n'),
  )
  const reader = createDocumentReader()
  const bytes = pdfOf(pages)
  const held = watchThread()
  const startedAt = performance.now()
  const { text } = await reader.read(
    { name: 'long.pdf', mediaType: 'application/pdf', bytes },
    new AbortController().signal,
  )
  const ms = performance.now() - startedAt
  const heldMs = held.stop()
  reader.close()
  if (!text.includes(`${PAGES - 1}.${LINES - 1} `)) throw new Error('the PDF was not read to its end')
  return [
    rowOf(`a PDF of ${PAGES} pages`, `${ms.toFixed(0)} ms`, `≤ ${PDF_GOAL_MS} ms`, ms <= PDF_GOAL_MS),
    rowOf(
      '… the thread of requests is held for',
      `${heldMs.toFixed(1)} ms`,
      `≤ ${HELD_GOAL_MS} ms`,
      heldMs <= HELD_GOAL_MS,
    ),
  ]
}

/** Measures the longest time between two turns of the event loop. */
function watchThread() {
  let last = performance.now()
  let longest = 0
  const look = (): void => {
    const now = performance.now()
    longest = Math.max(longest, now - last)
    last = now
  }
  const timer = setInterval(look, 0)
  return {
    stop(): number {
      look()
      clearInterval(timer)
      return longest
    },
  }
}
