import { newGenerationId } from '../../../src/core/ids.ts'
import type { Message } from '../../../src/core/request.ts'
import { newConversation } from '../../../src/core/request.ts'
import { authenticate, originOf } from '../../../src/http/caller.ts'
import { beginConversation } from '../../../src/inference/conversation/run.ts'
import { facilitiesOf } from '../../../src/inference/steps/facilities.ts'
import { type Family, newStepTotals } from '../../../src/inference/steps/family.ts'
import type { Gateway } from '../../gateway.ts'
import { incomingOf } from '../../incoming.ts'

const hello: Message[] = [{ role: 'user', content: 'Hello' }]

export const conversation = (model: string, maxOutputTokens = 5) =>
  newConversation({ models: [model], messages: hello, maxOutputTokens })

/** A request of this key that runs in this gateway, and what can be done for it. */
export function familyOf({ deps }: Gateway, key: string, signal = new AbortController().signal) {
  const { run } = deps
  const incoming = incomingOf(
    new Request('http://localhost/api/v1/chat/completions', { headers: { authorization: `Bearer ${key}` } }),
  )
  const snapshot = deps.snapshot.current()
  const family: Family = {
    id: newGenerationId(),
    incoming,
    snapshot,
    caller: authenticate(incoming, snapshot, 'inference', run.now()),
    origin: originOf(incoming),
    request: { ...conversation('parent'), user: 'anna' },
    signal,
    steps: newStepTotals(),
  }
  return { family, ...facilitiesOf(family, run, beginConversation) }
}
