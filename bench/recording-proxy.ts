import { join } from 'node:path'
import type { Settlement } from '../src/core/generation.ts'
import { newGenerationId } from '../src/core/ids.ts'
import { NO_USAGE } from '../src/core/usage.ts'
import { DATABASE_FILE, type Database, openDatabase, transact } from '../src/db/database.ts'
import { prepareRows } from '../src/db/hot-rows.ts'
import { migrate } from '../src/db/migrations.ts'
import type { Waiting } from '../src/ledger/queue.ts'
import { rowOf } from '../src/ledger/row.ts'
import { ROW_COLUMNS } from '../src/ledger/row-values.ts'
import { createWriter, type Writer } from '../src/ledger/writer.ts'
import { MODELS, USAGE } from './answers.ts'
import { announce } from './child.ts'

/**
 * The least that any gateway here can cost that keeps what it answered: the bare proxy, and one row of the ledger for
 * each answer, committed durably and in groups before the answer ends. No keys, no limits, no counters, no sums, no
 * log, nothing is checked and nothing is tried again.
 */
export function startRecordingProxy(upstream: string, folder: string) {
  const database = openDatabase(join(folder, DATABASE_FILE))
  migrate(database)
  let running = 0
  const writer = rowsOf(database, () => running)

  function settle(streamed: boolean): Promise<void> {
    const at = Date.now()
    const row = rowOf(
      { ...ANSWER, generationId: newGenerationId(), streamed, startedAt: at, endedAt: at },
      null,
    )
    return new Promise<void>((resolve, reject) =>
      writer.settle({ row, resolve, reject, since: 0, isLate: false }),
    ).finally(() => running--)
  }

  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    idleTimeout: 60,
    async fetch(request) {
      const path = new URL(request.url).pathname
      if (request.method !== 'POST') return new Response('ok')
      const body = await request.json()
      running++
      const reply = await fetch(upstream + path, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      })
      if (body.stream !== true) {
        const answer = await reply.json()
        await settle(false)
        return Response.json(answer, { status: reply.status })
      }
      const type = reply.headers.get('content-type') ?? 'text/event-stream'
      const bytes = endedBy(reply.body ?? new ReadableStream(), () => settle(true))
      return new Response(bytes, { status: reply.status, headers: { 'content-type': type } })
    },
  })
  return {
    port: server.port,
    async stop() {
      await server.stop(true)
      await writer.close()
      database.close()
    },
  }
}

interface Settled extends Waiting {
  resolve(): void
  reject(error: unknown): void
}

/** The ledger's own writer, and of what it commits the rows alone. */
function rowsOf(database: Database, running: () => number): Writer<Settled> {
  const insert = prepareRows(database, 'generations', ROW_COLUMNS, '')
  return createWriter<Settled>({
    running,
    onWritten: ({ resolve }) => resolve(),
    onLate: () => undefined,
    onGivenUp: ({ reject }, error) => reject(error),
    commit({ settled }) {
      transact(database.file, () => {
        for (const row of settled) insert(row.values)
      })
    },
  })
}

/** The same bytes; their end comes once `settled` resolves. */
function endedBy(body: ReadableStream<Uint8Array>, settled: () => Promise<void>): ReadableStream<Uint8Array> {
  const reader = body.getReader()
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await reader.read()
      if (!done) return controller.enqueue(value)
      await settled()
      controller.close()
    },
    cancel: (reason) => reader.cancel(reason),
  })
}

/** What the mock's answers come to; each row has an id and times of its own besides. */
const ANSWER: Settlement = {
  generationId: '',
  keyHash: 'a'.repeat(64),
  workspaceId: 'workspace-of-the-bench',
  modelId: MODELS.burst,
  providerSlug: 'bench',
  providerName: 'Bench',
  endpointId: `bench/${MODELS.burst}`,
  apiType: 'completions',
  streamed: false,
  isByok: false,
  origin: '',
  httpReferer: '',
  title: '',
  userAgent: '',
  requestId: 'req_0123456789abcdefghij',
  sessionId: null,
  externalUser: null,
  startedAt: 0,
  promptTokensEstimate: USAGE.prompt_tokens,
  promptCostNanoUsd: 0,
  upstreamId: 'chatcmpl-bench0123456789abcdefghij',
  finishReason: 'stop',
  nativeFinishReason: 'stop',
  cancelled: false,
  usage: { ...NO_USAGE, inputTokens: USAGE.prompt_tokens, outputTokens: USAGE.completion_tokens },
  usageSource: 'provider',
  costNanoUsd: 220_000,
  cacheDiscountNanoUsd: null,
  latencyMs: 1,
  generationTimeMs: 1,
  endedAt: 0,
  serviceTier: 'default',
  router: 'direct',
  routing: '[2,0.31,0.02,98.4,1.27,200.05]',
  tries: [],
}

if (import.meta.main) announce(startRecordingProxy(process.argv[2] ?? '', process.argv[3] ?? '').port)
