import type { Attempt } from '../../core/attempt.ts'
import { UpstreamError } from '../../core/errors.ts'
import type { DialectCall, Egress, MadeContext } from '../../dialects/dialect.ts'
import { ask, isGood, refusalOf } from '../attempts.ts'
import { TooShort } from './store.ts'

/** Has a provider keep what `making` says. Throws `UpstreamError`, or `TooShort`. Not under the signal of the request that wants it: others may wait for it too. */
export async function makeContext(
  making: DialectCall,
  attempt: Attempt,
  { contextCache, readError }: Egress,
  deps: Parameters<typeof ask>[2],
): Promise<MadeContext> {
  const reply = await ask(making, attempt, deps, new AbortController().signal)
  if (isGood(reply)) {
    const made = contextCache?.read(parsed(await reply.text(CONTEXT_LIMIT_BYTES)))
    if (!made) throw new UpstreamError('malformed', 'the reply tells of no cache')
    return made
  }
  const error = await refusalOf(reply, attempt, (_, ...said) => readError(...said))
  throw contextCache?.isTooShort(error) ? new TooShort(error.reason) : error
}

const CONTEXT_LIMIT_BYTES = 64 * 1024

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
