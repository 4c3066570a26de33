import type { JsonObject } from '../../core/events.ts'
import { asObject, defined, isObject } from '../../core/json.ts'
import type {
  ContentPart,
  InferenceRequest,
  Message,
  Tool,
  ToolCall,
  ToolChoice,
} from '../../core/request.ts'
import { writeUser } from '../caller-fields.ts'
import { type Drop, leaveOut } from '../dropped.ts'

/** What a provider accepts beyond OpenAI's own fields; others reject such fields. */
export interface Taken {
  /** Former reasoning, in the fields of this API. */
  readonly takesReasoning: boolean
  /** Anthropic's `cache_control`, on texts, tools and the body (recorded of OpenRouter, 2026). */
  readonly takesMarks: boolean
  /** False: the model is known to see no images. */
  readonly takesImages: boolean
}

/**
 * The chat body of a request that came in another dialect. `extra` fields belong to that dialect and are not
 * sent; parts and tools that chat has no word for are left out and named in `dropped`, each name once.
 */
export function neutralBody(request: InferenceRequest, taken: Taken, drop: Drop): JsonObject {
  const { sampling, body } = request
  const tools = request.tools.flatMap((tool) => writeTool(tool, taken, drop))
  if (!taken.takesMarks && isObject(body.cache_control)) drop('cache_control')
  return defined({
    messages: writeMessages(request.messages, taken, drop),
    cache_control: taken.takesMarks ? asObject(body.cache_control) : undefined,
    tools: tools.length > 0 ? tools : undefined,
    tool_choice: tools.length > 0 ? writeToolChoice(request.toolChoice, drop) : undefined,
    parallel_tool_calls: tools.length > 0 ? request.parallelToolCalls : undefined,
    response_format: request.responseFormat,
    temperature: sampling.temperature,
    top_p: sampling.topP,
    top_k: sampling.topK,
    top_a: sampling.topA,
    min_p: sampling.minP,
    frequency_penalty: sampling.frequencyPenalty,
    presence_penalty: sampling.presencePenalty,
    repetition_penalty: sampling.repetitionPenalty,
    seed: sampling.seed,
    stop: sampling.stop,
    logit_bias: sampling.logitBias,
    logprobs: sampling.logprobs,
    top_logprobs: sampling.topLogprobs,
    n: request.choiceCount,
    modalities: request.modalities,
    service_tier: request.serviceTier,
    user: writeUser(request, drop),
    metadata: request.metadata,
  })
}

/**
 * Chat accepts only text as a tool's result: anything else goes into a user message behind
 * the results. An image that a tool gave is left out for a model that sees none, because it would have the rest of the
 * conversation refused; an image of the user's is sent, and the provider decides.
 */
function writeMessages(messages: readonly Message[], taken: Taken, drop: Drop): JsonObject[] {
  const written: JsonObject[] = []
  let shown: JsonObject[] = []
  const show = (): void => {
    if (shown.length > 0) written.push({ role: 'user', content: shown })
    shown = []
  }
  for (const message of messages) {
    if (message.role !== 'tool') show()
    nameMarks(message, taken, drop)
    const one = {
      ...writeMessage(message, taken, drop),
      ...writeReasoning(message, taken, drop),
    }
    if (message.role === 'tool' && Array.isArray(one.content)) {
      const parts: JsonObject[] = one.content
      const seen = parts.filter(({ type }) => taken.takesImages || type !== 'image_url')
      const texts = seen.filter(isText)
      shown.push(...seen.filter((part) => !isText(part)))
      const isHidden = seen.length < parts.length
      if (isHidden) leaveOut('content.image_url', drop)
      if (isHidden && texts.length > 0) texts.push({ type: 'text', text: UNSEEN })
      one.content = texts.length > 0 ? texts : isHidden ? UNSEEN : SHOWN
    }
    if (saysAnything(one)) written.push(one)
  }
  show()
  return written
}

const isText = ({ type }: JsonObject): boolean => type === 'text'
/** A tool result must not be empty. */
const SHOWN = 'The result is in the next message.'
const UNSEEN = '(An image, which this model cannot see.)'

/** Drops markers of other dialects. Only texts can have one, at providers that accept them. */
function nameMarks({ content, extra, toolCalls }: Message, { takesMarks }: Taken, drop: Drop): void {
  if (extra?.is_error === true) leaveOut('messages.is_error', drop)
  const parts = Array.isArray(content) ? content : []
  const hasPlace = takesMarks && (Array.isArray(content) ? parts.some(isTextPart) : content !== null)
  const isLost =
    parts.some((part) => isMarked(part) && !(takesMarks && isTextPart(part))) ||
    toolCalls?.some(isMarked) === true ||
    (extra?.cache_control !== undefined && !hasPlace)
  if (isLost) leaveOut('cache_control', drop)
}

const isTextPart = ({ type }: ContentPart): boolean => type === 'text'

const isMarked = (marked: object): boolean =>
  'extra' in marked && isObject(marked.extra) && marked.extra.cache_control !== undefined

const markOf = (extra: JsonObject | undefined, { takesMarks }: Taken): JsonObject =>
  takesMarks && isObject(extra?.cache_control) ? { cache_control: extra.cache_control } : {}

/** A `cache_control` marker on the message moves to its last text. */
function marked(parts: JsonObject[] | string | null, mark: JsonObject): JsonObject[] | string | null {
  if (mark.cache_control === undefined || parts === null) return parts
  if (!Array.isArray(parts)) return [{ type: 'text', text: parts, ...mark }]
  const last = parts.findLastIndex(isText)
  return parts.map((part, i) => (i === last ? { ...mark, ...part } : part))
}

/** A turn of which chat can carry nothing is left out: providers refuse an empty one. */
const saysAnything = ({ role, content, ...rest }: JsonObject): boolean =>
  role !== 'assistant' || (content !== null && content !== undefined) || Object.keys(rest).length > 0

function writeMessage(message: Message, taken: Taken, drop: Drop): JsonObject {
  const { content, role } = message
  const parts = marked(
    Array.isArray(content) ? content.flatMap((part) => writePart(part, taken, drop)) : content,
    markOf(message.extra, taken),
  )
  return defined({
    role,
    content: role === 'assistant' && Array.isArray(parts) && parts.length === 0 ? null : parts,
    name: message.name,
    tool_calls: message.toolCalls?.map(writeToolCall),
    refusal: message.refusal,
    tool_call_id: message.toolCallId,
  })
}

function writeReasoning(
  { reasoning, reasoningDetails }: Message,
  { takesReasoning }: Taken,
  drop: Drop,
): JsonObject {
  if (reasoning === undefined && reasoningDetails === undefined) return {}
  if (takesReasoning) return defined({ reasoning, reasoning_details: reasoningDetails })
  leaveOut('messages.reasoning', drop)
  return {}
}

const writeToolCall = ({ id, name, arguments: json }: ToolCall): JsonObject => ({
  id,
  type: 'function',
  function: { name, arguments: json },
})

function writePart(part: ContentPart, taken: Taken, drop: Drop): JsonObject[] {
  switch (part.type) {
    case 'text':
      return [{ type: 'text', text: part.text, ...markOf(part.extra, taken) }]
    case 'image':
      return [{ type: 'image_url', image_url: defined({ url: part.url, detail: part.detail }) }]
    case 'audio':
      return [{ type: 'input_audio', input_audio: { data: part.data, format: part.format } }]
    case 'file':
      return [
        {
          type: 'file',
          file: defined({ file_data: part.data, file_id: part.fileId, filename: part.filename }),
        },
      ]
    case 'video':
      return [{ type: 'video_url', video_url: { url: part.url } }]
    case 'unknown':
      return leaveOut(`content.${String(part.data.type)}`, drop)
  }
}

function writeTool(tool: Tool, taken: Taken, drop: Drop): JsonObject[] {
  if (tool.type === 'other') return leaveOut(`tools.${String(tool.data.type)}`, drop)
  const { name, description, parameters, strict, extra } = tool
  const called = defined({ name, description, parameters, strict })
  return [{ type: 'function', function: called, ...markOf(extra, taken) }]
}

function writeToolChoice(choice: ToolChoice | undefined, drop: Drop): unknown {
  if (choice === undefined || typeof choice === 'string') return choice
  if (choice.type === 'function') return { type: 'function', function: { name: choice.name } }
  leaveOut('tool_choice', drop)
  return undefined
}
