import { type Static, Type } from '@sinclair/typebox'
import { badRequest, GatewayError, UpstreamError } from '../../../core/errors.ts'
import { testCall } from '../../../exporters/test-event.ts'
import { nullable } from '../../../http/schemas.ts'
import { guardedFetch } from '../../../net/guarded.ts'
import { configOf, type DestinationDeps, findDestination, typeOf } from './service.ts'

export const testResult = Type.Object({
  success: Type.Boolean({ description: 'It replied with a 2xx.' }),
  status: nullable(Type.Number({ documented: { type: 'integer' }, description: 'The status of its reply.' })),
  message: Type.String({ description: 'The outcome, as a sentence.' }),
})
type TestResult = Static<typeof testResult>

const TIMEOUT_MS = 10_000
const LIMIT_BYTES = 64 * 1024

/**
 * Sends one small trace and reports the status of the reply, whose text may come from a third party. Throws
 * a `GatewayError`: 400 for a type that nothing is delivered to yet, and for an address that is not allowed.
 */
export async function tryDestination(deps: DestinationDeps, id: string): Promise<TestResult> {
  const row = await findDestination(deps, id)
  const type = typeOf(row.type)
  const call = testCall(type, configOf(deps, row), deps.now())
  if (call === null) {
    throw badRequest(
      `Nothing was sent: delivery to destinations of the type ${type} is not built into this version. Types that can be tried are webhook, otel-collector, langfuse and grafana`,
    )
  }
  const { host } = new URL(call.url)
  const { method, headers, body } = call
  try {
    const { status } = await guardedFetch(call.url, {
      method,
      headers,
      body,
      limitBytes: LIMIT_BYTES,
      timeoutMs: TIMEOUT_MS,
      maxRedirects: 0,
      allow: deps.outboundAllow,
    })
    return { success: status >= 200 && status < 300, status, message: `${host} ${meaningOf(status)}` }
  } catch (error) {
    if (error instanceof GatewayError) throw error
    return { success: false, status: null, message: `${host} ${failureOf(error)}` }
  }
}

function meaningOf(status: number): string {
  if (status >= 200 && status < 300) return `answered ${status}: it took the test event`
  if (status === 401 || status === 403) return `answered ${status}: it refuses the credential`
  if (status === 404) return `answered 404: there is nothing at this address`
  if (status >= 300 && status < 400) return `answered ${status}: it redirects, which is not followed`
  return `answered ${status}: it did not take the test event`
}

function failureOf(error: unknown): string {
  if (!(error instanceof UpstreamError)) return 'could not be called'
  if (error.kind === 'timeout') return `did not answer within ${TIMEOUT_MS / 1000} seconds`
  if (error.kind === 'malformed') return 'answered with something that is too large or compressed, unasked'
  return error.code === 'ENOTFOUND' ? 'has no address: the name does not resolve' : 'could not be reached'
}
