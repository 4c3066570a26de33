import { type Static, Type } from '@sinclair/typebox'
import { GatewayError, UpstreamError } from '../../../core/errors.ts'
import type { Destination } from '../../../delivery/destination.ts'
import type { BatchContext, DestinationCall, DestinationKind, Meaning } from '../../../exporters/kind.ts'
import { KINDS } from '../../../exporters/kinds/index.ts'
import { meaningOfStatus } from '../../../exporters/meaning.ts'
import type { ExportRecord } from '../../../exporters/record.ts'
import { sampleRecord } from '../../../exporters/sample.ts'
import { nullable } from '../../../http/schemas.ts'
import { guardedFetch } from '../../../net/guarded.ts'
import { version } from '../../../version.ts'
import { configOf, type DestinationDeps, findDestination, typeOf } from './service.ts'

export const testResult = Type.Object({
  success: Type.Boolean({ description: 'It accepted the event.' }),
  status: nullable(Type.Number({ documented: { type: 'integer' }, description: 'The status of its reply.' })),
  message: Type.String({ description: 'The outcome, as a sentence.' }),
})
type TestResult = Static<typeof testResult>
type TestDeps = Pick<DestinationDeps, 'now' | 'outboundAllow'>

const TIMEOUT_MS = 10_000
const LIMIT_BYTES = 64 * 1024

/**
 * Sends one event, as a generation would be sent, and reports what the reply means. The reply's text is not shown: it is
 * a third party's. Throws a `GatewayError`: 400 for an address that is not allowed.
 */
export async function tryDestination(deps: DestinationDeps, id: string): Promise<TestResult> {
  const row = await findDestination(deps, id)
  const name = deps.snapshot.current().workspacesById.get(row.workspace_id)?.name ?? ''
  const target = { id: row.id, type: typeOf(row.type), config: configOf(deps, row) }
  const result = await sendTestEvent(target, { id: row.workspace_id, name }, deps)
  // What made it pause is over.
  if (result.success) deps.delivery.resume(row.id)
  return result
}

/** The same for a destination that was read elsewhere. */
export async function sendTestEvent(
  { id, type, config }: Pick<Destination, 'id' | 'type' | 'config'>,
  workspace: ExportRecord['workspace'],
  deps: TestDeps,
): Promise<TestResult> {
  const kind = KINDS[type]
  const context: BatchContext = {
    destinationId: id,
    config,
    first: 0,
    last: 0,
    now: deps.now(),
    service: { version, instanceId: 'test' },
    isRepeat: false,
    isTest: true,
  }
  const record = sampleRecord(workspace, deps.now())
  return await send(await kind.batchOf([record], context), kind, context, deps)
}

/** The outcome of the last call; of the first that was not accepted. */
async function send(
  calls: readonly DestinationCall[],
  kind: DestinationKind,
  context: BatchContext,
  deps: TestDeps,
): Promise<TestResult> {
  const deadline = performance.now() + TIMEOUT_MS
  const waiting = [...calls]
  let result: TestResult = { success: true, status: null, message: 'it has nothing to receive' }
  for (let call = waiting.shift(); call !== undefined; call = waiting.shift()) {
    const { host } = new URL(call.url)
    try {
      const timeoutMs = Math.max(1, deadline - performance.now())
      const reply = await guardedFetch(call.url, { ...optionsOf(call, deps), timeoutMs })
      const headers = new Headers(reply.headers)
      const meaning = (kind.meaningOf ?? meaningOfStatus)({ ...reply, headers }, context)
      const success = meaning.outcome === 'accepted' || meaning.outcome === 'pending'
      result = { success, status: reply.status, message: `${host} ${sentenceOf(meaning, reply.status)}` }
      if (!success) return result
      if (meaning.outcome !== 'pending') continue
      await Bun.sleep(Math.min(meaning.afterMs, Math.max(0, deadline - performance.now())))
      waiting.unshift(meaning.next)
    } catch (error) {
      if (error instanceof GatewayError) throw error
      return { success: false, status: null, message: `${host} ${failureOf(error)}` }
    }
  }
  return result
}

const optionsOf = ({ method, headers, body }: DestinationCall, { outboundAllow }: TestDeps) => ({
  method,
  headers,
  ...(method === 'GET' ? {} : { body }),
  limitBytes: LIMIT_BYTES,
  maxRedirects: 0,
  allow: outboundAllow,
})

function sentenceOf(meaning: Meaning, status: number): string {
  if (meaning.outcome === 'pending') return `answered ${status}: it has not finished yet`
  return meaning.sentence ?? `answered ${status}: it accepted the test event`
}

function failureOf(error: unknown): string {
  if (!(error instanceof UpstreamError)) return 'could not be called'
  if (error.kind === 'timeout') return `did not answer within ${TIMEOUT_MS / 1000} seconds`
  if (error.kind === 'malformed') return 'answered with something that is too large or compressed, unasked'
  return error.code === 'ENOTFOUND' ? 'has no address: the name does not resolve' : 'could not be reached'
}
