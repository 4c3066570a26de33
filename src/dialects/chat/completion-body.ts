import { type Static, Type as t } from '@sinclair/typebox'
import { type TypeCheck, TypeCompiler } from '@sinclair/typebox/compiler'
import { badRequest } from '../../core/errors.ts'
import type { JsonObject } from '../../core/events.ts'
import { bounded } from '../bounded.ts'
import { callerFields, model } from '../caller-schema.ts'
import { OPEN, optional } from '../fields.ts'
import { mismatch } from '../mismatch.ts'

/** The body of POST /completions, OpenAI's older API. Unknown fields are those of POST /chat/completions. */

const tokens = t.Array(t.Integer({ minimum: 0 }))
const { models, provider, plugins, route, session_id, user, trace } = callerFields

export const completionBody = bounded(
  t.Object(
    {
      model,
      prompt: t.Union([t.String({ minLength: 1 }), t.Array(t.String()), tokens, t.Array(tokens)], {
        description: 'One text, or a list of one text; token ids are refused',
      }),
      suffix: optional(t.String({ description: 'Refused: chat models cannot fill in a middle' })),
      echo: optional(t.Boolean({ description: 'Whether the text begins with the prompt' })),
      stream: optional(t.Boolean({ default: false })),
      logprobs: optional(t.Integer({ minimum: 0, maximum: 5 })),
      n: optional(t.Integer({ minimum: 1 })),
      best_of: optional(
        t.Integer({ minimum: 1, description: 'At most n: the gateway throws no answer away' }),
      ),
      max_tokens: optional(t.Integer({ minimum: 1 })),
      temperature: optional(t.Number({ minimum: 0, maximum: 2 })),
      top_p: optional(t.Number({ minimum: 0, maximum: 1 })),
      stop: optional(t.Union([t.String(), t.Array(t.String())])),
      seed: optional(t.Integer()),
      presence_penalty: optional(t.Number({ minimum: -2, maximum: 2 })),
      frequency_penalty: optional(t.Number({ minimum: -2, maximum: 2 })),
      models,
      provider,
      plugins,
      route,
      session_id,
      user,
      trace,
    },
    OPEN,
  ),
)
type CompletionBody = Static<typeof completionBody>

/** What of the request only its reply needs. */
export interface CompletionAsked {
  prompt: string
  echo: boolean
}

let compiled: TypeCheck<typeof completionBody> | undefined

/**
 * A completion as the chat request that asks the same: the prompt is the one message of the user. Throws a
 * `GatewayError` 400 for what no chat model can be asked: token ids, several prompts, a suffix.
 */
export function chatBodyOf(sent: JsonObject): { body: JsonObject; asked: CompletionAsked } {
  const foreign = OF_CHAT.find((name) => sent[name] !== undefined && sent[name] !== null)
  if (foreign !== undefined) throw badRequest('belongs to POST /chat/completions', foreign)
  compiled ??= TypeCompiler.Compile(completionBody)
  if (!compiled.Check(sent)) throw mismatch(compiled, sent)
  const prompt = promptOf(sent)
  if (sent.suffix) throw badRequest('must be absent: chat models cannot fill in a middle', 'suffix')
  const { n, best_of: bestOf, logprobs } = sent
  if (bestOf && bestOf > (n ?? 1)) {
    throw badRequest(`must be at most n, which is ${n ?? 1}: the gateway throws no answer away`, 'best_of')
  }
  const { prompt: _, suffix: _suffix, echo, best_of: _best, logprobs: _logprobs, ...rest } = sent
  const body: JsonObject = { ...rest, messages: [{ role: 'user', content: prompt }] }
  if (logprobs !== null && logprobs !== undefined) {
    body.logprobs = true
    if (logprobs > 0) body.top_logprobs = logprobs
  }
  return { body, asked: { prompt, echo: echo === true } }
}

const OF_CHAT = ['messages', 'tools', 'functions']

function promptOf({ prompt }: CompletionBody): string {
  if (typeof prompt === 'string') return prompt
  const [only, ...more] = prompt
  if (typeof only !== 'string') {
    throw badRequest('must be a text: token ids mean nothing to another model, so none are taken', 'prompt')
  }
  if (more.length > 0) throw badRequest('must be one text: send a request for each prompt', 'prompt')
  if (only === '') throw badRequest('must not be empty', 'prompt[0]')
  return only
}
