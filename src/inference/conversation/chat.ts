import { Type as t } from '@sinclair/typebox'
import { chatBody } from '../../dialects/chat/schema.ts'
import { TOOL_EVENTS_HEADER } from '../../http/operation.ts'
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

const toolEvent = t.Object({
  type: t.Literal('server_tool_call'),
  status: t.Union(['in_progress', 'completed', 'failed'].map((status) => t.Literal(status))),
  tool_call_id: t.String(),
  tool_name: t.String(),
  server_label: t.Optional(t.String({ description: 'Of the MCP server that has the tool.' })),
  arguments: t.String({ description: 'JSON text.' }),
  result: t.Optional(t.String({ description: 'Once the call has ended; if it failed, why.' })),
})

const chatReply = t.Object({
  id: generationId,
  object: t.Literal('chat.completion'),
  choices: t.Array(choice),
  tool_events: t.Optional(t.Array(toolEvent, { description: 'With `X-Service-Tool-Events: enabled`.' })),
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
  headers: [TOOL_EVENTS_HEADER, ...ORIGIN_HEADERS],
})
