import { type Static, Type as t } from '@sinclair/typebox'
import { cacheControl } from '../caller-schema.ts'
import { anyObject, oneOf, openObject, optional } from '../fields.ts'

/**
 * The messages of POST /messages: blocks of the types that the API accepts in each place (Anthropic's client
 * 1.11.0), open in their fields.
 */

const id = t.String({ minLength: 1 })
const citations = optional(openObject({ enabled: optional(t.Boolean()) }))
const fileSource = openObject({ type: t.Literal('file'), file_id: id })
const urlSource = openObject({
  type: t.Literal('url'),
  url: t.String({ minLength: 1, description: 'An https URL' }),
})
const base64 = t.String({ minLength: 1, description: 'Base64' })

export const textBlock = openObject({
  type: t.Literal('text'),
  text: t.String(),
  citations: optional(t.Array(openObject({ type: t.String() }))),
  cache_control: cacheControl,
})

const imageBlock = openObject({
  type: t.Literal('image'),
  source: t.Union([
    openObject({
      type: t.Literal('base64'),
      media_type: oneOf(['image/jpeg', 'image/png', 'image/gif', 'image/webp']),
      data: base64,
    }),
    urlSource,
    fileSource,
  ]),
  cache_control: cacheControl,
})

const documentBlock = openObject({
  type: t.Literal('document'),
  source: t.Union([
    openObject({ type: t.Literal('base64'), media_type: t.Literal('application/pdf'), data: base64 }),
    openObject({
      type: t.Literal('text'),
      media_type: t.Literal('text/plain'),
      data: t.String({ minLength: 1 }),
    }),
    openObject({
      type: t.Literal('content'),
      content: t.Union([t.String(), t.Array(t.Union([textBlock, imageBlock]))]),
    }),
    urlSource,
    fileSource,
  ]),
  title: optional(t.String()),
  context: optional(t.String()),
  citations,
  cache_control: cacheControl,
})

const searchResultBlock = openObject({
  type: t.Literal('search_result'),
  source: t.String(),
  title: t.String(),
  content: t.Array(textBlock),
  citations,
  cache_control: cacheControl,
})

const toolResultBlock = openObject({
  type: t.Literal('tool_result'),
  tool_use_id: t.String({ minLength: 1, description: 'The id of the tool_use block that this answers' }),
  content: optional(
    t.Union([
      t.String(),
      t.Array(
        t.Union([
          textBlock,
          imageBlock,
          documentBlock,
          searchResultBlock,
          openObject({ type: oneOf(['tool_reference', 'browser_state']) }),
        ]),
      ),
    ]),
  ),
  is_error: optional(t.Boolean()),
  cache_control: cacheControl,
})

const toolUseBlock = openObject({
  type: t.Literal('tool_use'),
  id,
  name: t.String({ minLength: 1 }),
  input: anyObject('The arguments'),
  cache_control: cacheControl,
})

const thinkingBlock = openObject({
  type: t.Literal('thinking'),
  thinking: t.String(),
  signature: optional(t.String({ description: 'Replay it unchanged' })),
})
const redactedBlock = openObject({
  type: t.Literal('redacted_thinking'),
  data: t.String({ description: 'Replay it unchanged' }),
})

/** What runs at the provider, and what belongs to its own clients. */
const nativeBlock = openObject({
  type: oneOf([
    'server_tool_use',
    'web_search_tool_result',
    'web_fetch_tool_result',
    'code_execution_tool_result',
    'bash_code_execution_tool_result',
    'text_editor_code_execution_tool_result',
    'tool_search_tool_result',
    'advisor_tool_result',
    'mcp_tool_use',
    'mcp_tool_result',
    'mcp_tool_listing',
    'container_upload',
    'compaction',
    'fallback',
    // Results of the gateway's own tools.
    'calculator_tool_result',
    'datetime_tool_result',
    'file_search_tool_result',
    'image_generation_tool_result',
  ]),
})
const toolChangeBlock = openObject({ type: oneOf(['tool_addition', 'tool_removal']) })

const userBlock = t.Union([
  textBlock,
  imageBlock,
  documentBlock,
  searchResultBlock,
  toolResultBlock,
  nativeBlock,
  toolChangeBlock,
])
const assistantBlock = t.Union([
  textBlock,
  imageBlock,
  thinkingBlock,
  redactedBlock,
  toolUseBlock,
  nativeBlock,
])

export const message = t.Union([
  openObject({ role: t.Literal('user'), content: t.Union([t.String(), t.Array(userBlock)]) }),
  openObject({ role: t.Literal('assistant'), content: t.Union([t.String(), t.Array(assistantBlock)]) }),
  openObject({
    role: t.Literal('system'),
    content: optional(t.Union([t.String(), t.Array(t.Union([textBlock, toolChangeBlock]))])),
  }),
])

export type TextBlock = Static<typeof textBlock>
export type ImageBlock = Static<typeof imageBlock>
export type DocumentBlock = Static<typeof documentBlock>
export type SearchResultBlock = Static<typeof searchResultBlock>
export type ToolResultBlock = Static<typeof toolResultBlock>
export type ToolUseBlock = Static<typeof toolUseBlock>
export type UserBlock = Static<typeof userBlock>
export type AssistantBlock = Static<typeof assistantBlock>
export type AnthropicMessage = Static<typeof message>
