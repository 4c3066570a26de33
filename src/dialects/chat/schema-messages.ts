import { type Static, Type as t } from '@sinclair/typebox'
import { audioPart, cacheMark } from '../caller-schema.ts'
import { anyObject, oneOf, openObject, optional } from '../fields.ts'

/** The messages of POST /chat/completions. Parts and tools of unknown types pass: only their `type` is required. */

const textPart = openObject({ type: t.Literal('text'), text: t.String(), cache_control: cacheMark })
const imagePart = openObject({
  type: t.Literal('image_url'),
  image_url: t.Union([
    openObject({
      url: t.String({ minLength: 1, description: 'An https URL or a data URL' }),
      detail: optional(t.String({ description: 'auto, low, high or original' })),
    }),
    t.String({ minLength: 1, description: "Mistral's short form: the URL alone" }),
  ]),
  cache_control: cacheMark,
})
const filePart = openObject({
  type: t.Literal('file'),
  file: openObject({
    file_data: optional(t.String({ description: 'A data URL or an https URL' })),
    file_id: optional(t.String()),
    filename: optional(t.String()),
  }),
})
const videoPart = openObject({
  type: oneOf(['video_url', 'input_video']),
  video_url: openObject({ url: t.String({ minLength: 1 }) }),
})
const otherPart = openObject({
  type: t.String({
    pattern: '^(?!(text|image_url|input_audio|file|video_url|input_video)$)',
    description: 'Any other type is forwarded as it came',
  }),
})

const contentPart = t.Union([textPart, imagePart, audioPart, filePart, videoPart, otherPart])
const content = t.Union([t.String(), t.Array(contentPart)])
const name = optional(t.String())

const toolCall = openObject({
  id: t.String(),
  type: optional(
    t.String({ description: 'function (the default), custom, or a type that the provider knows' }),
  ),
  function: optional(
    openObject({
      name: t.String(),
      arguments: t.String({ description: 'JSON text, as the model wrote it' }),
    }),
  ),
  custom: optional(openObject({ name: t.String(), input: t.String({ description: 'Free text' }) })),
})

const instructions = (role: 'system' | 'developer') =>
  openObject({ role: t.Literal(role), content, name, configuration_update: optional(openObject({})) })

const assistantMessage = openObject({
  role: t.Literal('assistant'),
  content: optional(content),
  name,
  tool_calls: optional(t.Array(toolCall)),
  reasoning: optional(t.String()),
  reasoning_details: optional(
    t.Array(openObject({ type: t.String() }), {
      description: 'From a former reply, unchanged',
    }),
  ),
  refusal: optional(t.String()),
  audio: optional(anyObject('The audio of a former reply, by its id')),
  images: optional(t.Array(openObject({}))),
  model: optional(t.String()),
})

export const message = t.Union([
  instructions('system'),
  instructions('developer'),
  openObject({ role: t.Literal('user'), content, name }),
  assistantMessage,
  openObject({
    role: t.Literal('tool'),
    content,
    tool_call_id: t.String({ minLength: 1, description: 'The id of the tool call that this answers' }),
    name,
  }),
])

export type ChatMessage = Static<typeof message>
export type ChatContent = Static<typeof content>
export type ChatToolCall = Static<typeof toolCall>
