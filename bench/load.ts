import { type AnswerKind, faultOf } from './answers.ts'
import { type Connection, openConnection } from './connection.ts'
import { cpuMicros, residentBytes, THREADS, type ThreadKind, threadMicros } from './proc.ts'
import { percentile } from './statistics.ts'
import { type WireName, wires } from './wires.ts'

export interface LoadSpec {
  port: number
  path: string
  kind: AnswerKind
  /** What the answer is written in; absent: chat. */
  wire?: WireName
  body: string
  /** Whose answer is expected; absent: the one of 50 chunks. */
  model?: string
  /** Beside those of every request. */
  headers?: Record<string, string>
  /** Kept answers are expected, of which nothing is counted. */
  isAgain?: boolean
  /** Bearer keys, dealt to the connections in turn; none: no authorization header. */
  keys: string[]
  concurrency: number
  /** Answers that end in this time at the start are checked and not measured. */
  warmupMs: number
  /** The measured time; 0: every connection asks once. */
  durationMs: number
  /** In place of a time: how many answers to wait for. */
  requests?: number
  /** The process whose processor time and memory are read. */
  pid: number | null
}

export interface LoadResult {
  /** Complete and correct answers in the measured time, and in all. */
  measured: number
  completed: number
  errors: number
  /** The first few different faults. */
  faults: string[]
  seconds: number
  perSecond: number
  p50Ms: number
  p99Ms: number
  firstByteP50Ms: number
  /** Answers that had begun and not ended at one moment, at most. */
  peakOpen: number
  /** Processor time of the watched process for each measured answer, and its share of one core. */
  cpuMicros: number | null
  cpuShare: number | null
  /** The processor time by thread, for each measured answer; null where it is not known. */
  threadMicros: Record<ThreadKind, number> | null
  peakResidentBytes: number | null
}

/** An answer may take this long, also after the measured time is over. */
const PATIENCE_MS = 30_000
const SAMPLE_MS = 100

interface Run {
  spec: LoadSpec
  isMeasuring: boolean
  isOver: boolean
  open: number
  completed: number
  errors: number
  peakOpen: number
  faults: Set<string>
  latencies: number[]
  firstBytes: number[]
}

/** Asks on `concurrency` keep-alive connections until the time is over, then waits for the answers under way. */
export async function runLoad(spec: LoadSpec): Promise<LoadResult> {
  const run: Run = {
    spec,
    isMeasuring: spec.warmupMs === 0,
    isOver: false,
    open: 0,
    completed: 0,
    errors: 0,
    peakOpen: 0,
    faults: new Set(),
    latencies: [],
    firstBytes: [],
  }
  const cpu = () => (spec.pid === null ? null : cpuMicros(spec.pid))
  const threads = () => (spec.pid === null ? null : threadMicros(spec.pid))
  let peakResidentBytes: number | null = null
  const sampling = setInterval(() => {
    const bytes = spec.pid === null ? null : residentBytes(spec.pid)
    if (bytes !== null) peakResidentBytes = Math.max(bytes, peakResidentBytes ?? 0)
  }, SAMPLE_MS)

  const asking = Array.from({ length: spec.concurrency }, (_, index) => askRepeatedly(run, index))
  if (spec.warmupMs > 0) await Bun.sleep(spec.warmupMs)
  run.isMeasuring = true
  const startedAt = performance.now()
  const cpuBefore = cpu()
  const threadsBefore = threads()
  if (spec.durationMs > 0 && spec.requests === undefined) await Bun.sleep(spec.durationMs)
  else await Promise.all(asking)
  const seconds = (performance.now() - startedAt) / 1000
  const cpuAfter = cpu()
  const threadsAfter = threads()
  const measured = run.latencies.length
  run.isMeasuring = false
  run.isOver = true
  await Promise.all(asking)
  clearInterval(sampling)

  const spent = cpuBefore === null || cpuAfter === null ? null : cpuAfter - cpuBefore
  const latencies = run.latencies.sort((a, b) => a - b)
  return {
    measured,
    completed: run.completed,
    errors: run.errors,
    faults: [...run.faults],
    seconds,
    perSecond: measured / seconds,
    p50Ms: percentile(latencies, 0.5),
    p99Ms: percentile(latencies, 0.99),
    firstByteP50Ms: percentile(
      run.firstBytes.sort((a, b) => a - b),
      0.5,
    ),
    peakOpen: run.peakOpen,
    cpuMicros: spent === null || measured === 0 ? null : spent / measured,
    cpuShare: spent === null ? null : spent / 1e6 / seconds,
    threadMicros: threadsBefore && threadsAfter && perAnswer(threadsBefore, threadsAfter, measured),
    peakResidentBytes,
  }
}

function perAnswer(
  before: Record<ThreadKind, number>,
  after: Record<ThreadKind, number>,
  answers: number,
): Record<ThreadKind, number> {
  const micros = { main: 0, http: 0, jit: 0, other: 0 }
  for (const kind of THREADS) micros[kind] = (after[kind] - before[kind]) / Math.max(1, answers)
  return micros
}

function requestBytes(spec: LoadSpec, index: number): Buffer {
  const key = spec.keys[index % spec.keys.length]
  return Buffer.from(
    `POST ${spec.path} HTTP/1.1\r\nhost: 127.0.0.1:${spec.port}\r\ncontent-type: application/json\r\n` +
      (key === undefined ? '' : `authorization: Bearer ${key}\r\n`) +
      Object.entries(spec.headers ?? {})
        .map(([name, value]) => `${name}: ${value}\r\n`)
        .join('') +
      `content-length: ${Buffer.byteLength(spec.body)}\r\n\r\n${spec.body}`,
  )
}

async function askRepeatedly(run: Run, index: number): Promise<void> {
  const { spec } = run
  const request = requestBytes(spec, index)
  let connection: Connection | null = null
  do {
    try {
      connection ??= await openConnection(spec.port)
      const isUsable = await askOnce(run, connection, request)
      if (!isUsable) connection = null
    } catch (error) {
      fault(run, error instanceof Error ? error.message : String(error))
      connection?.close()
      connection = null
      await Bun.sleep(5)
    }
  } while (mayAsk(run))
  connection?.close()
}

/** Counts running and complete requests, so that at most `requests` are sent. */
function mayAsk({ spec, isOver, completed, errors }: Run): boolean {
  if (isOver) return false
  if (spec.requests !== undefined) return completed + errors < spec.requests
  return spec.durationMs > 0
}

/** Answers whether the connection may carry another request. */
async function askOnce(run: Run, connection: Connection, request: Buffer): Promise<boolean> {
  let firstByteMs = 0
  const startedAt = performance.now()
  let reply: Awaited<ReturnType<Connection['ask']>>
  try {
    reply = await connection.ask(request, PATIENCE_MS, () => {
      firstByteMs = performance.now() - startedAt
      run.open += 1
      if (run.open > run.peakOpen) run.peakOpen = run.open
    })
  } finally {
    if (firstByteMs > 0) run.open -= 1
  }
  const tookMs = performance.now() - startedAt
  const { kind, wire, isAgain, model } = run.spec
  const wrong =
    wire === undefined
      ? faultOf(kind, reply.status, reply.body, isAgain, model)
      : wires[wire].faultOf(reply.status, reply.body)
  if (wrong !== null) {
    fault(run, wrong)
  } else {
    run.completed += 1
    if (run.isMeasuring) {
      run.latencies.push(tookMs)
      run.firstBytes.push(firstByteMs)
    }
  }
  if (reply.closes) connection.close()
  return !reply.closes
}

function fault(run: Run, message: string) {
  run.errors += 1
  if (run.faults.size < 5) run.faults.add(message)
}

if (import.meta.main) {
  const spec: LoadSpec = JSON.parse(await Bun.stdin.text())
  process.stdout.write(`${JSON.stringify(await runLoad(spec))}\n`)
}
