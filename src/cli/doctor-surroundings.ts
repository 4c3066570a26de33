import { existsSync, statSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { isLoopback } from '../config/readers.ts'
import type { Config } from '../config.ts'
import type { ProviderRecord } from '../core/snapshot.ts'
import { DATABASE_FILE } from '../db/database.ts'
import { readEntries } from '../providers/entries.ts'
import { environmentProviders } from '../providers/environment.ts'
import { descriptorLimit, isLowLimit, requestsWith } from '../server/descriptors.ts'
import type { Finding } from './doctor-data.ts'
import { readStored } from './doctor-stored.ts'

const PATIENCE_MS = 5000
const MAX_SKEW_MS = 60_000

export async function checkPort({ host, port, basePath }: Config): Promise<Finding> {
  const check = 'port'
  if (port === 0) return { check, status: 'ok', detail: 'any free one' }
  const failure = await listenOnce(host, port)
  const place = `${host} ${port}`
  if (failure === null) return { check, status: 'ok', detail: `${place} is free` }
  if (failure === 'EADDRINUSE') {
    const isOurs = await answersAsSluice(host, port, basePath)
    if (isOurs) return { check, status: 'ok', detail: `a Sluice is running at ${place}` }
    return {
      check,
      status: 'problem',
      detail: `${place} is taken by another program: stop it, or set SLUICE_PORT`,
    }
  }
  const why = failure === 'EACCES' ? 'this user may not listen there' : failure
  return { check, status: 'problem', detail: `${place} cannot be used: ${why}` }
}

/** Null if the port could be opened (it is closed again); else the system's error code. */
const listenOnce = (host: string, port: number): Promise<string | null> =>
  new Promise((resolve) => {
    const server = createServer()
    server.once('error', (error) => resolve('code' in error ? String(error.code) : error.message))
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(null)))
  })

async function answersAsSluice(host: string, port: number, basePath: string): Promise<boolean> {
  const name = host === '0.0.0.0' || host === '::' ? 'localhost' : host.includes(':') ? `[${host}]` : host
  const url = `http://${name}:${port}${basePath}/health/live`
  const answer = await fetch(url, { redirect: 'manual', signal: AbortSignal.timeout(PATIENCE_MS) }).catch(
    () => null,
  )
  return answer?.status === 200
}

/** Checks from where the server can be reached, and whether it would start with these settings. */
export function checkReach({ host }: Config, exposed: string | null): Finding {
  const check = 'reach'
  if (exposed !== null) return { check, status: 'problem', detail: exposed }
  const detail = isLoopback(host) ? 'this machine alone' : `other machines too, at ${host}`
  return { check, status: 'ok', detail }
}

export function checkOpenFiles(
  { maxInFlight }: Pick<Config, 'maxInFlight'>,
  limit = descriptorLimit(),
): Finding {
  const check = 'open files'
  if (limit === null) return { check, status: 'ok', detail: 'no limit that this system reports' }
  const enough = `up to ${limit}, enough for ${requestsWith(limit, maxInFlight)} running requests`
  if (!isLowLimit(limit)) return { check, status: 'ok', detail: enough }
  return { check, status: 'warning', detail: `only ${enough}: raise it (ulimit -Hn, LimitNOFILE)` }
}

/** Compares the clock with those of providers and with the last write: a clock that was set back charges past windows. */
export function checkClock({ data }: Config, serverTimes: readonly number[]): Finding {
  const check = 'clock'
  const now = Date.now()
  const database = join(data, DATABASE_FILE)
  if (existsSync(database) && statSync(database).mtimeMs > now + MAX_SKEW_MS) {
    return { check, status: 'problem', detail: `it is behind: ${database} was written in the future` }
  }
  const median = [...serverTimes].sort((a, b) => a - b)[Math.floor(serverTimes.length / 2)]
  const time = new Date(now).toISOString()
  if (median === undefined) return { check, status: 'ok', detail: `${time}; no provider to compare with` }
  const skew = Math.round((now - median) / 1000)
  if (Math.abs(now - median) <= MAX_SKEW_MS)
    return { check, status: 'ok', detail: `${time}, as the providers'` }
  return {
    check,
    status: 'warning',
    detail: `${Math.abs(skew)} s ${skew > 0 ? 'ahead of' : 'behind'} the providers'`,
  }
}

export interface ProviderFindings {
  readonly findings: readonly Finding[]
  /** Milliseconds since 1970, from the `date` header of remote providers. */
  readonly serverTimes: readonly number[]
}

/** Requests the models of each configured provider, with its credential. */
export async function checkProviders(config: Config): Promise<ProviderFindings> {
  const { firstByteTimeoutMs: firstByteMs, stallTimeoutMs: betweenBytesMs } = config
  const defaults = { timeouts: { firstByteMs, betweenBytesMs, totalMs: betweenBytesMs }, maxInFlight: 1 }
  const known = environmentProviders(config.environment, defaults)
  const stored = await readStored(config, defaults)
  const configured = [
    ...readEntries(config.providers, config.environment, defaults).providers,
    ...known.providers,
  ]
  // As in the server: settings and environment take precedence over stored credentials.
  const usedStored = stored.providers.filter(({ slug }) => !configured.some((one) => one.slug === slug))
  const providers = [...configured, ...usedStored.flatMap(eachCredential)]
  const refused = [
    ...known.problems.map(({ path, message }) => problem('provider', `${path} ${message}`)),
    ...stored.leftOut.map(({ provider, label, reason }) =>
      problem(`provider ${provider}`, `the stored ${label} is not used. ${reason}`),
    ),
  ]
  if (providers.length === 0 && refused.length === 0) {
    const detail = 'none is configured: only sluice/demo answers. Set OPENAI_API_KEY or another credential'
    return { findings: [{ check: 'providers', status: 'warning', detail }], serverTimes: [] }
  }
  const visits = await Promise.all(providers.map(visit))
  const remote = visits.filter((_, index) => providers[index]?.isLocal === false)
  return {
    findings: [...refused, ...visits.map(({ finding }) => finding)],
    serverTimes: remote.flatMap(({ time }) => (Number.isNaN(time) ? [] : [time])),
  }
}

const problem = (check: string, detail: string): Finding => ({ check, status: 'problem', detail })

/** One record per credential, so that each is checked. */
const eachCredential = (provider: ProviderRecord): ProviderRecord[] =>
  provider.credentials.map((credential) => ({ ...provider, credentials: [credential] }))

async function visit(provider: ProviderRecord): Promise<{ finding: Finding; time: number }> {
  const check = `provider ${provider.slug}`
  const [credential] = provider.credentials
  const { name, prefix } = provider.credentialHeader ?? { name: 'authorization', prefix: 'Bearer ' }
  const headers = new Headers({ ...provider.headers })
  // At a cloud, a call with the credential costs money or needs a token first, so only the address is checked.
  const isTried = provider.kind === 'compatible' || (provider.kind === 'azure' && credential?.secret !== null)
  if (credential?.secret && isTried) headers.set(name, `${prefix}${credential.secret}`)
  const started = performance.now()
  try {
    const signal = AbortSignal.timeout(PATIENCE_MS)
    const answer = await fetch(`${provider.baseUrl}${isTried ? '/models' : ''}`, {
      headers,
      redirect: 'manual',
      signal,
    })
    await answer.body?.cancel()
    const took = `${Math.round(performance.now() - started)} ms`
    const time = Date.parse(answer.headers.get('date') ?? '')
    const isRefused = isTried && (answer.status === 401 || answer.status === 403)
    if (isRefused)
      return {
        finding: {
          check,
          status: 'problem',
          detail: `answers, but refuses ${credential?.id ?? 'a call without credential'} (${answer.status})`,
        },
        time,
      }
    if (answer.status >= 500)
      return { finding: { check, status: 'warning', detail: `answers with ${answer.status}` }, time }
    // The credential is named by its variable, its entry or its label.
    const named = credential?.secret && isTried ? `, with ${credential.id}` : ''
    const untried = isTried ? '' : `; ${credential?.id} is not tried, since a call would cost`
    return {
      finding: { check, status: 'ok', detail: `${provider.baseUrl} answers in ${took}${named}${untried}` },
      time,
    }
  } catch (error) {
    const isLate = error instanceof Error && error.name === 'TimeoutError'
    const why = isLate ? `no answer within ${PATIENCE_MS / 1000} s` : 'cannot be reached'
    return { finding: { check, status: 'problem', detail: `${provider.baseUrl}: ${why}` }, time: Number.NaN }
  }
}
