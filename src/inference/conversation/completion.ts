import { Type as t } from '@sinclair/typebox'
import { completionBody } from '../../dialects/chat/completions.ts'
import {
  CACHE_HEADERS,
  CACHE_REPLY_HEADERS,
  operation,
  SERVICE_METADATA_HEADER,
} from '../../http/operation.ts'
import { nullable } from '../../http/schemas.ts'
import { chatUsage } from './chat.ts'

const choice = t.Object({
  text: t.String(),
  index: t.Integer({ minimum: 0 }),
  finish_reason: t.Union(
    ['stop', 'length', 'tool_calls', 'content_filter', 'error'].map((reason) => t.Literal(reason)),
  ),
  native_finish_reason: nullable(t.String({ description: "The provider's own word." })),
  logprobs: nullable(t.Object({})),
  reasoning: t.Optional(t.String()),
})

const reply = t.Object({
  id: t.String({ description: 'The generation id.' }),
  object: t.Literal('text_completion'),
  created: t.Integer({ description: 'Unix seconds.' }),
  model: t.String(),
  provider: t.String(),
  system_fingerprint: nullable(t.String()),
  service_tier: nullable(t.String()),
  choices: t.Array(choice),
  usage: chatUsage,
  service_metadata: t.Optional(t.Object({}, { description: 'How it was routed, when asked for by header.' })),
})

/** POST /completions, as the API document shows it. */
export const completionOperation = operation({
  id: 'createCompletion',
  tag: 'Inference',
  summary: "Create a completion (OpenAI's older API)",
  description:
    'Carried as a chat completion with the prompt as the one message of the user, whatever the provider. For clients ' +
    'that know nothing newer. Token ids, several prompts and a suffix are refused.',
  asksProvider: true,
  body: completionBody,
  reply,
  streams: true,
  replyHeaders: CACHE_REPLY_HEADERS,
  headers: [SERVICE_METADATA_HEADER, ...CACHE_HEADERS],
})
