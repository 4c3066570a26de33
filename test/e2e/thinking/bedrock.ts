import type { JsonObject } from '../../../src/core/events.ts'
import { isObject } from '../../../src/core/json.ts'
import { streamOf } from '../../dialects/converse/frames.ts'
import {
  ANSWER,
  CALLS,
  type Conversation,
  json,
  listOf,
  pieces,
  RESULTS,
  type Reply,
  SAID,
  SIGNATURES,
  THOUGHT,
} from './turn.ts'

/** Thoughts of Bedrock’s Converse API. */

const bedrockBlocks = (isFirst: boolean): JsonObject[] =>
  isFirst
    ? [
        { reasoningContent: { reasoningText: { text: THOUGHT, signature: SIGNATURES.bedrock } } },
        { reasoningContent: { redactedContent: btoa(SIGNATURES.bedrockRedacted) } },
        { text: SAID },
        ...CALLS.map(({ name, args }, i) => ({
          toolUse: { toolUseId: `tooluse_${i}`, name, input: args },
        })),
      ]
    : [{ text: ANSWER }]

function bedrockEvents(block: JsonObject, contentBlockIndex: number): JsonObject[] {
  const delta = (fields: JsonObject): JsonObject => ({
    contentBlockDelta: { contentBlockIndex, delta: fields, p: 'abc' },
  })
  const stop = { contentBlockStop: { contentBlockIndex, p: 'ab' } }
  const { toolUse, reasoningContent, text } = block
  if (isObject(toolUse)) {
    const { input, ...start } = toolUse
    const written = isObject(input) ? json(input) : ''
    return [
      { contentBlockStart: { contentBlockIndex, start: { toolUse: start } } },
      ...['', ...pieces(written)].map((each) => delta({ toolUse: { input: each } })),
      stop,
    ]
  }
  if (typeof text === 'string') return [...pieces(text).map((each) => delta({ text: each })), stop]
  const thought = isObject(reasoningContent) ? reasoningContent.reasoningText : undefined
  if (!isObject(thought)) return [delta({ reasoningContent }), stop]
  return [
    ...pieces(String(thought.text)).map((each) => delta({ reasoningContent: { text: each } })),
    delta({ reasoningContent: { signature: thought.signature } }),
    stop,
  ]
}

export const bedrock: Reply = (isFirst, isStream) => {
  const content = bedrockBlocks(isFirst)
  const stopReason = isFirst ? 'tool_use' : 'end_turn'
  const usage = { inputTokens: 30, outputTokens: 20, totalTokens: 50 }
  if (!isStream) {
    return Response.json({ output: { message: { role: 'assistant', content } }, stopReason, usage })
  }
  const events = [
    { messageStart: { role: 'assistant' } },
    ...content.flatMap(bedrockEvents),
    { messageStop: { stopReason } },
    { metadata: { usage, metrics: { latencyMs: 12 } } },
  ]
  return new Response(streamOf(events), {
    headers: { 'content-type': 'application/vnd.amazon.eventstream' },
  })
}

export const ofBedrock = ({ messages }: JsonObject): Conversation => listOf(messages).slice(1)
export const forBedrock: Conversation = [
  { role: 'assistant', content: bedrockBlocks(true) },
  {
    role: 'user',
    content: RESULTS.map((text, i) => ({
      toolResult: { toolUseId: `tooluse_${i}`, content: [{ text }] },
    })),
  },
]
