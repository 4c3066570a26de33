import { Elysia } from 'elysia'
import type { Snapshot } from '../core/snapshot.ts'
import type { Ingress } from '../dialects/dialect.ts'
import { ingresses } from '../dialects/index.ts'
import { deferLine, note } from '../http/access-log.ts'
import { INFERENCE_BODY_LIMIT, readJsonBody } from '../http/body.ts'
import { authenticate, originOf } from '../http/caller.ts'
import type { OutboundAllow } from '../net/address.ts'
import { chatOperation } from './chat-operation.ts'
import { wantsRoutingMetadata } from './routing-metadata.ts'
import { type RunDeps, run } from './run.ts'
import { checkUserUrls } from './user-urls.ts'

export interface InferenceRouteDeps {
  snapshot: { current(): Snapshot }
  now(): number
  keepOpen(request: Request): void
  /** Private hosts that URLs of callers may name all the same. */
  outboundAllow: OutboundAllow
  run: RunDeps
}

/** The inference routes. Each reads its body itself, after the caller is known. */
export const inferenceRoutes = (deps: InferenceRouteDeps) =>
  new Elysia().post('/chat/completions', ({ request }) => infer(request, ingresses.chat, deps), {
    parse: 'none',
    detail: chatOperation,
  })

/** Authenticate, read, parse, run: the same for every dialect. */
async function infer(request: Request, ingress: Ingress, deps: InferenceRouteDeps): Promise<Response> {
  const startedAt = deps.now()
  const snapshot = deps.snapshot.current()
  const caller = authenticate(request, snapshot, 'inference', startedAt)
  note(request, { key: caller.key.label })
  const body = await readJsonBody(request, INFERENCE_BODY_LIMIT)
  const inference = ingress.parse(body, request.headers)
  checkUserUrls(inference, deps.outboundAllow)
  deps.keepOpen(request)
  const response = await run(
    {
      snapshot,
      caller,
      origin: originOf(request),
      request: inference,
      ingress,
      wantsMetadata: wantsRoutingMetadata(request.headers),
      signal: request.signal,
      startedAt,
    },
    deps.run,
  )
  deferLine(request)
  return response
}
