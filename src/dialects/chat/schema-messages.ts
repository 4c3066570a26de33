import { type Static, Type as t } from '@sinclair/typebox'
import { anyObject, OPEN, oneOf, optional } from '../fields.ts'

/** The messages of POST /chat/completions. Parts and tools of unknown types pass: only their `type` is required. */

const cacheControl = optional(
  anyObject('Prompt caching mark, such as {"type": "ephemeral", "ttl": "5m"}; forwarded to providers'),
)

const textPart = t.Object({ type: t.Literal('text'), text: t.String(), cache_control: cacheControl }, OPEN)
const imagePart = t.Object(
  {
    type: t.Literal('image_url'),
    image_url: t.Union([
      t.Object(
        {
          url: t.String({ minLength: 1, description: 'An https URL or a data URL' }),
          detail: optional(t.String({ description: 'auto, low, high or original' })),
        },
        OPEN,
      ),
      t.String({ minLength: 1, description: "Mistral's short form: the URL alone" }),
    ]),
    cache_control: cacheControl,
  },
  OPEN,
)
const audioPart = t.Object(
  {
    type: t.Literal('input_audio'),
    input_audio: t.Object(
      { data: t.String({ description: 'Base64' }), format: t.String({ description: 'wav, mp3 …' }) },
      OPEN,
    ),
  },
  OPEN,
)
const filePart = t.Object(
  {
    type: t.Literal('file'),
    file: t.Object(
      {
        file_data: optional(t.String({ description: 'A data URL or an https URL' })),
        file_id: optional(t.String()),
        filename: optional(t.String()),
      },
      OPEN,
    ),
  },
  OPEN,
)
const videoPart = t.Object(
  {
    type: oneOf(['video_url', 'input_video']),
    video_url: t.Object({ url: t.String({ minLength: 1 }) }, OPEN),
  },
  OPEN,
)
const otherPart = t.Object(
  {
    type: t.String({
      pattern: '^(?!(text|image_url|input_audio|file|video_url|input_video)$)',
      description: 'Any other type is forwarded as it came',
    }),
  },
  OPEN,
)

const contentPart = t.Union([textPart, imagePart, audioPart, filePart, videoPart, otherPart])
const content = t.Union([t.String(), t.Array(contentPart)])
const name = optional(t.String())

const toolCall = t.Object(
  {
    id: t.String(),
    type: optional(
      t.String({ description: 'function (the default), custom, or a type that the provider knows' }),
    ),
    function: optional(
      t.Object(
        { name: t.String(), arguments: t.String({ description: 'JSON text, as the model wrote it' }) },
        OPEN,
      ),
    ),
    custom: optional(t.Object({ name: t.String(), input: t.String({ description: 'Free text' }) }, OPEN)),
  },
  OPEN,
)

const instructions = (role: 'system' | 'developer') =>
  t.Object({ role: t.Literal(role), content, name, configuration_update: optional(t.Object({}, OPEN)) }, OPEN)

const assistantMessage = t.Object(
  {
    role: t.Literal('assistant'),
    content: optional(content),
    name,
    tool_calls: optional(t.Array(toolCall)),
    reasoning: optional(t.String()),
    reasoning_details: optional(
      t.Array(t.Object({ type: t.String() }, OPEN), {
        description: 'Replay what a former reply carried, unchanged',
      }),
    ),
    refusal: optional(t.String()),
    audio: optional(anyObject('The audio of a former reply, by its id')),
    images: optional(t.Array(t.Object({}, OPEN))),
    model: optional(t.String()),
  },
  OPEN,
)

export const message = t.Union([
  instructions('system'),
  instructions('developer'),
  t.Object({ role: t.Literal('user'), content, name }, OPEN),
  assistantMessage,
  t.Object(
    {
      role: t.Literal('tool'),
      content,
      tool_call_id: t.String({ minLength: 1, description: 'The id of the tool call that this answers' }),
      name,
    },
    OPEN,
  ),
])

export type ChatMessage = Static<typeof message>
export type ChatContent = Static<typeof content>
export type ChatToolCall = Static<typeof toolCall>
