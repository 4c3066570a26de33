import type { JsonObject } from '../../core/events.ts'
import type {
  ContentPart,
  InferenceRequest,
  Message,
  Tool,
  ToolCall,
  ToolChoice,
} from '../../core/request.ts'
import { writeUser } from '../user.ts'
import { defined } from '../values.ts'

/**
 * The chat body of a request that came in another dialect. `extra` fields are the other dialect's and are not
 * sent; parts and tools that chat has no word for are left out and named in `dropped`, each name once. Former
 * reasoning is replayed only to a provider that `takesReasoning`: the others refuse the field.
 */
export function neutralBody(
  request: InferenceRequest,
  takesReasoning: boolean,
  dropped: string[],
): JsonObject {
  const { sampling } = request
  const tools = request.tools.flatMap((tool) => writeTool(tool, dropped))
  return defined({
    messages: writeMessages(request.messages, takesReasoning, dropped),
    tools: tools.length > 0 ? tools : undefined,
    tool_choice: tools.length > 0 ? writeToolChoice(request.toolChoice, dropped) : undefined,
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
    user: writeUser(request, (name) => leaveOut(dropped, name)),
    metadata: request.metadata,
  })
}

/**
 * Chat takes nothing but text for the result of a tool: what else a tool gave stands in a message of the user behind
 * the results.
 */
function writeMessages(
  messages: readonly Message[],
  takesReasoning: boolean,
  dropped: string[],
): JsonObject[] {
  const written: JsonObject[] = []
  let shown: JsonObject[] = []
  const show = (): void => {
    if (shown.length > 0) written.push({ role: 'user', content: shown })
    shown = []
  }
  for (const message of messages) {
    if (message.role !== 'tool') show()
    nameMarks(message, dropped)
    const one = {
      ...writeMessage(message, dropped),
      ...writeReasoning(message, takesReasoning, dropped),
    }
    if (message.role === 'tool' && Array.isArray(one.content)) {
      const parts: JsonObject[] = one.content
      const texts = parts.filter(isText)
      shown.push(...parts.filter((part) => !isText(part)))
      one.content = texts.length > 0 ? texts : SHOWN
    }
    if (saysAnything(one)) written.push(one)
  }
  show()
  return written
}

const isText = ({ type }: JsonObject): boolean => type === 'text'
/** A result must say something. */
const SHOWN = 'The result is in the next message.'

/** Marks of other dialects that this one has no word for. */
function nameMarks({ content, extra }: Message, dropped: string[]): void {
  if (extra?.is_error === true) leaveOut(dropped, 'messages.is_error')
  const parts = Array.isArray(content) ? content : []
  const isMarked = parts.some((part) => part.type !== 'unknown' && part.extra?.cache_control !== undefined)
  if (isMarked || extra?.cache_control !== undefined) leaveOut(dropped, 'cache_control')
}

/** A turn of which chat can carry nothing is left out: providers refuse an empty one. */
const saysAnything = ({ role, content, ...rest }: JsonObject): boolean =>
  role !== 'assistant' || (content !== null && content !== undefined) || Object.keys(rest).length > 0

function writeMessage(message: Message, dropped: string[]): JsonObject {
  const { content, role } = message
  const parts = Array.isArray(content) ? content.flatMap((part) => writePart(part, dropped)) : content
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
  takesReasoning: boolean,
  dropped: string[],
): JsonObject {
  if (reasoning === undefined && reasoningDetails === undefined) return {}
  if (takesReasoning) return defined({ reasoning, reasoning_details: reasoningDetails })
  leaveOut(dropped, 'messages.reasoning')
  return {}
}

const writeToolCall = ({ id, name, arguments: json }: ToolCall): JsonObject => ({
  id,
  type: 'function',
  function: { name, arguments: json },
})

function writePart(part: ContentPart, dropped: string[]): JsonObject[] {
  switch (part.type) {
    case 'text':
      return [{ type: 'text', text: part.text }]
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
      return leaveOut(dropped, `content.${String(part.data.type)}`)
  }
}

function writeTool(tool: Tool, dropped: string[]): JsonObject[] {
  if (tool.type === 'other') return leaveOut(dropped, `tools.${String(tool.data.type)}`)
  const { name, description, parameters, strict } = tool
  return [{ type: 'function', function: defined({ name, description, parameters, strict }) }]
}

function writeToolChoice(choice: ToolChoice | undefined, dropped: string[]): unknown {
  if (choice === undefined || typeof choice === 'string') return choice
  if (choice.type === 'function') return { type: 'function', function: { name: choice.name } }
  leaveOut(dropped, 'tool_choice')
  return undefined
}

function leaveOut(dropped: string[], name: string): [] {
  if (!dropped.includes(name)) dropped.push(name)
  return []
}
