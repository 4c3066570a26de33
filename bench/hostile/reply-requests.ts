import { replies } from './replies.ts'
import { API, type Shape } from './shape.ts'

const CALLERS = ['chat', 'responses', 'messages'] as const

const bodies = {
  chat: { path: '/chat/completions', rest: '"messages":[{"role":"user","content":"hi"}]' },
  responses: { path: '/responses', rest: '"input":"hi"' },
  messages: { path: '/messages', rest: '"max_tokens":100,"messages":[{"role":"user","content":"hi"}]' },
}

/** A harmless request for each hostile reply, in each dialect of callers, streamed and not. */
const models = [...replies.keys()].filter((model) => !model.endsWith('-plain'))

const answered: readonly Shape[] = models.flatMap((model) =>
  CALLERS.flatMap((dialect) =>
    [true, false].map((stream) => ({
      name: `${model} → ${dialect}${stream ? ', streamed' : ''}`,
      path: API + bodies[dialect].path,
      body: () => `{"model":"${model}","stream":${stream},${bodies[dialect].rest}}`,
    })),
  ),
)

/** Responses that are kept as a whole; the events of a background response are kept, too. */
const kept: readonly Shape[] = models
  .filter((model) => model.startsWith('chat-') || model.startsWith('responses-'))
  .flatMap((model) =>
    (
      [
        ['stored', '"store":true'],
        ['stored, streamed', '"store":true,"stream":true'],
        ['in the background, streamed', '"store":true,"background":true,"stream":true'],
      ] as const
    ).map(([name, fields]) => ({
      name: `${model} → responses, ${name}`,
      path: API + bodies.responses.path,
      body: () => `{"model":"${model}",${fields},${bodies.responses.rest}}`,
    })),
  )

export const replyRequests: readonly Shape[] = [...answered, ...kept]
