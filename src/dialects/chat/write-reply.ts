import type { JsonObject } from '../../core/events.ts'
import type { Closing, InferenceResult, ReplyContext, ResultChoice } from '../../core/result.ts'
import { openaiTier } from '../finish.ts'
import { viewMetadata } from '../usage.ts'
import { toolEventsOf } from './tool-events.ts'
import { viewUsage } from './usage.ts'
import {
  type ChatNative,
  foreignFields,
  foreignMessage,
  isChatNative,
  reasoningTextDetail,
  viewAnnotation,
  viewImage,
  viewToolCall,
} from './write-message.ts'

/**
 * A complete reply as a chat completion. Unknown fields of a unary upstream reply keep their places;
 * of a stream that was collected, those of its chunks and choices do (the last wins), those of its deltas do not.
 */
export function writeChatReply(result: InferenceResult, reply: ReplyContext, closing: Closing): JsonObject {
  const natives = chatNatives(result)
  const top = natives.length === 0 ? NOTHING : merge(natives.map((native) => foreignFields(native.chunk)))
  const foreign = natives.length === 0 ? undefined : foreignChoices(natives)
  const choices: JsonObject[] = []
  for (const choice of result.choices)
    choices.push(viewChoice(choice, foreign?.get(choice.index) ?? NONE, natives.length === 1, reply))
  return {
    id: reply.generationId,
    object: 'chat.completion',
    created: reply.created,
    model: reply.model,
    provider: reply.providerName,
    system_fingerprint: null,
    ...top,
    choices,
    usage: viewUsage(closing),
    service_tier: openaiTier(closing.serviceTier ?? top.service_tier),
    ...viewToolEvents(result, reply),
    ...viewMetadata(closing.serviceMetadata),
  }
}

/** Frames are there if the gateway's own tools were called. */
const viewToolEvents = ({ frames }: InferenceResult, { request }: ReplyContext): JsonObject =>
  request.showsToolEvents && frames
    ? { tool_events: frames.flatMap(({ events }) => toolEventsOf(events)) }
    : NOTHING

const NOTHING: JsonObject = {}
const NONE: readonly ForeignChoice[] = []

function chatNatives({ natives }: InferenceResult): ChatNative[] {
  const own: ChatNative[] = []
  for (const { dialect, data } of natives) if (dialect === 'chat' && isChatNative(data)) own.push(data)
  return own
}

type ForeignChoice = NonNullable<ChatNative['choices']>[number]

/** By choice; of a chunk the first of each. */
function foreignChoices(natives: readonly ChatNative[]): Map<number, ForeignChoice[]> {
  const byIndex = new Map<number, ForeignChoice[]>()
  for (const { choices = [] } of natives) {
    const seen = new Set<number>()
    for (const choice of choices) {
      if (seen.has(choice.index)) continue
      seen.add(choice.index)
      const others = byIndex.get(choice.index)
      if (others) others.push(choice)
      else byIndex.set(choice.index, [choice])
    }
  }
  return byIndex
}

function viewChoice(
  choice: ResultChoice,
  foreign: readonly ForeignChoice[],
  isComplete: boolean,
  reply: ReplyContext,
): JsonObject {
  const message = isComplete ? foreignMessage(foreign[0]?.message, reply.hideReasoning) : undefined
  const viewed = viewMessage(choice, reply.hideReasoning)
  const view: JsonObject = foreign.length === 0 ? {} : merge(foreign.map((each) => each.choice))
  view.index = choice.index
  view.message = message ? { ...message, ...viewed } : viewed
  view.finish_reason = choice.finish.reason
  view.native_finish_reason = choice.finish.native
  view.logprobs = choice.logprobs && { refusal: null, ...choice.logprobs }
  return view
}

function viewMessage(choice: ResultChoice, hideReasoning: boolean): JsonObject {
  const { text, toolCalls, refusal, annotations, images, audio } = choice
  const isTextless = toolCalls.length > 0 || refusal !== '' || audio !== null
  const view: JsonObject = {
    role: 'assistant',
    content: text === '' && isTextless ? null : text,
    refusal: refusal === '' ? null : refusal,
  }
  if (!hideReasoning) addReasoning(view, choice)
  if (toolCalls.length > 0) view.tool_calls = toolCalls.map(viewToolCall)
  if (annotations.length > 0) view.annotations = annotations.map(viewAnnotation)
  if (images.length > 0) view.images = images.map(viewImage)
  if (audio !== null) view.audio = audio
  return view
}

function addReasoning(view: JsonObject, { reasoning, reasoningDetails }: ResultChoice): void {
  if (reasoning !== '') view.reasoning = reasoning
  if (reasoningDetails.length > 0) view.reasoning_details = reasoningDetails
  else if (reasoning !== '') view.reasoning_details = [reasoningTextDetail(reasoning)]
}

/** The last wins. */
const merge = (objects: readonly (JsonObject | undefined)[]): JsonObject =>
  objects.length === 1
    ? { ...objects[0] }
    : Object.fromEntries(objects.flatMap((object) => Object.entries(object ?? {})))
