import { Type as t } from '@sinclair/typebox'
import { chatBody } from '../../dialects/chat/schema.ts'
import { nullable } from '../../http/schemas.ts'
import {
  cachedInference,
  choiceFields,
  completionFields,
  generationId,
  ORIGIN_HEADERS,
} from '../document-parts.ts'

const toolCall = t.Object({
  id: t.String(),
  type: t.String(),
  function: t.Optional(t.Object({ name: t.String(), arguments: t.String({ description: 'JSON text.' }) })),
})

const message = t.Object({
  role: t.Literal('assistant'),
  content: nullable(t.String()),
  refusal: nullable(t.String()),
  reasoning: t.Optional(t.String()),
  reasoning_details: t.Optional(t.Array(t.Object({ type: t.String() }))),
  tool_calls: t.Optional(t.Array(toolCall)),
  annotations: t.Optional(t.Array(t.Object({ type: t.String() }))),
  images: t.Optional(t.Array(t.Object({ type: t.String(), image_url: t.Object({ url: t.String() }) }))),
  audio: t.Optional(t.Object({})),
})

const choice = t.Object({ ...choiceFields, message })

const chatReply = t.Object({
  id: generationId,
  object: t.Literal('chat.completion'),
  choices: t.Array(choice),
  ...completionFields,
})

/** POST /chat/completions in the API document. */
export const chatOperation = cachedInference('createChatCompletion', 'Create a chat completion', {
  description:
    'Fields that are not listed are forwarded to the provider. With `stream: true` the reply is a stream of chunks ' +
    'that ends with a usage chunk and `[DONE]`; a truncated stream ends with an error chunk instead.',
  body: chatBody,
  reply: chatReply,
  streams: true,
  headers: ORIGIN_HEADERS,
})
