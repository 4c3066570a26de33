import { replies } from './replies.ts'
import { API, type Shape } from './shape.ts'

const CALLERS = ['chat', 'responses', 'messages'] as const

const bodies = {
  chat: { path: '/chat/completions', rest: '"messages":[{"role":"user","content":"hi"}]' },
  responses: { path: '/responses', rest: '"input":"hi"' },
  messages: { path: '/messages', rest: '"max_tokens":100,"messages":[{"role":"user","content":"hi"}]' },
}

/** A harmless request for each hostile reply, in each dialect of callers, streamed and not. */
export const replyRequests: readonly Shape[] = [...replies.keys()]
  .filter((model) => !model.endsWith('-plain'))
  .flatMap((model) =>
    CALLERS.flatMap((dialect) =>
      [true, false].map((stream) => ({
        name: `${model} → ${dialect}${stream ? ', streamed' : ''}`,
        path: API + bodies[dialect].path,
        body: () => `{"model":"${model}","stream":${stream},${bodies[dialect].rest}}`,
      })),
    ),
  )
