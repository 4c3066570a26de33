import { cancellationOf } from '../../core/cancellation.ts'
import { notFound, UpstreamError } from '../../core/errors.ts'
import { isObject } from '../../core/json.ts'
import type { CredentialRecord, ProviderRecord } from '../../core/snapshot.ts'
import { listingCall } from '../../providers/index.ts'
import { createTokens } from '../../providers/token.ts'
import type { ProviderDeps } from './deps.ts'
import type { ConnectionResult } from './schema.ts'

const TIMEOUT_MS = 10_000
const LIMIT_BYTES = 8 * 1024 * 1024

type Tried = ConnectionResult['data'][number]

/**
 * Requests the provider's list of models, once with each credential in use, which costs nothing. Reports the status and
 * the number of models only. Throws a 404 for a provider that is not in use.
 */
export async function tryProvider(deps: ProviderDeps, slug: string): Promise<ConnectionResult> {
  const provider = deps.snapshot.current().providersBySlug.get(slug)
  if (provider === undefined) {
    throw notFound('There is no provider in use with this slug: it may be disabled, or have no credential')
  }
  const data = await Promise.all(provider.credentials.map((each) => tryCredential(deps, provider, each)))
  return { success: data.length > 0 && data.every(({ success }) => success === true), data }
}

async function tryCredential(
  { run: { upstream }, now }: ProviderDeps,
  provider: ProviderRecord,
  credential: CredentialRecord,
): Promise<Tried> {
  const tried = (success: boolean | null, status: number | null, message: string): Tried => ({
    credential: credential.id,
    success,
    status,
    message: `${provider.name} ${message}`,
  })
  const signal = AbortSignal.timeout(TIMEOUT_MS)
  const cancellation = cancellationOf(signal)
  try {
    const call = await listingCall(provider, credential, {
      send: upstream.send,
      now,
      cancellation,
      tokens: createTokens(),
    })
    if (call === null) return tried(null, null, 'has no list of models that could be asked for without cost')
    const reply = await upstream.send(call, {
      group: provider.slug,
      maxInFlight: provider.maxInFlight,
      timeouts: { firstByteMs: TIMEOUT_MS, betweenBytesMs: TIMEOUT_MS, totalMs: TIMEOUT_MS },
      cancellation,
    })
    const text = await reply.text(LIMIT_BYTES)
    const isTaken = reply.status >= 200 && reply.status < 300
    return tried(isTaken, reply.status, isTaken ? listed(text) : refusal(reply.status))
  } catch (error) {
    return tried(false, error instanceof UpstreamError ? error.status : null, failure(error, signal))
  }
}

function listed(text: string): string {
  const count = countOf(text)
  return count === null
    ? 'answered, but not with a list of models: is the address the right one?'
    : `answered with a list of ${count} models`
}

function countOf(text: string): number | null {
  try {
    const body: unknown = JSON.parse(text)
    if (Array.isArray(body)) return body.length
    const list = isObject(body) ? (body['data'] ?? body['models']) : null
    return Array.isArray(list) ? list.length : null
  } catch {
    return null
  }
}

function refusal(status: number): string {
  if (status === 401 || status === 403) return `refuses the credential (${status})`
  if (status === 404) return 'has no list of models at this address (404): is the version segment in it?'
  return `answered ${status}`
}

function failure(error: unknown, signal: AbortSignal): string {
  if (signal.aborted) return `did not answer within ${TIMEOUT_MS / 1000} seconds`
  if (!(error instanceof UpstreamError)) return 'could not be called'
  if (error.kind === 'credential') return 'refuses the credential'
  if (error.kind === 'timeout') return `did not answer within ${TIMEOUT_MS / 1000} seconds`
  return error.kind === 'capacity' ? 'is busy: all its places are taken' : 'could not be reached'
}
