import type { JsonObject } from '../../core/events.ts'
import type { Closing, InferenceResult, ReplyContext, ResultChoice } from '../../core/result.ts'
import { openaiTier } from '../service-tier.ts'
import {
  foreignFields,
  foreignMessage,
  isChatNative,
  reasoningTextDetail,
  viewAnnotation,
  viewImage,
  viewToolCall,
} from './message-view.ts'
import type { ChatNative } from './native.ts'
import { viewMetadata, viewUsage } from './usage-view.ts'

/**
 * A whole reply as a chat completion. Fields of a unary upstream reply that we do not know stand where they stood;
 * of a stream that was collected, those of its chunks and choices do (the last wins), those of its deltas do not.
 */
export function writeChatReply(result: InferenceResult, reply: ReplyContext, closing: Closing): JsonObject {
  const natives = result.natives
    .filter(({ dialect }) => dialect === 'chat')
    .map(({ data }) => data)
    .filter(isChatNative)
  const top = merge(natives.map((native) => foreignFields(native.chunk)))
  const foreign = foreignChoices(natives)
  return {
    id: reply.generationId,
    object: 'chat.completion',
    created: reply.created,
    model: reply.model,
    provider: reply.providerName,
    system_fingerprint: null,
    ...top,
    choices: result.choices.map((choice) =>
      viewChoice(choice, foreign.get(choice.index) ?? [], natives.length === 1, reply),
    ),
    usage: viewUsage(closing),
    service_tier: openaiTier(closing.serviceTier ?? top.service_tier),
    ...viewMetadata(closing.serviceMetadata),
  }
}

type ForeignChoice = NonNullable<ChatNative['choices']>[number]

/** By choice; of a chunk the first of each. */
function foreignChoices(natives: readonly ChatNative[]): Map<number, ForeignChoice[]> {
  const byIndex = new Map<number, ForeignChoice[]>()
  for (const { choices = [] } of natives) {
    const told = new Set<number>()
    for (const choice of choices) {
      if (told.has(choice.index)) continue
      told.add(choice.index)
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
  isWhole: boolean,
  reply: ReplyContext,
): JsonObject {
  const message = isWhole ? foreignMessage(foreign[0]?.message, reply.hideReasoning) : undefined
  return {
    ...merge(foreign.map((each) => each.choice)),
    index: choice.index,
    message: { ...message, ...viewMessage(choice, reply.hideReasoning) },
    finish_reason: choice.finish.reason,
    native_finish_reason: choice.finish.native,
    logprobs: choice.logprobs && { refusal: null, ...choice.logprobs },
  }
}

function viewMessage(choice: ResultChoice, hideReasoning: boolean): JsonObject {
  const { text, toolCalls, refusal, annotations, images, audio } = choice
  const isTextless = toolCalls.length > 0 || refusal !== '' || audio !== null
  return {
    role: 'assistant',
    content: text === '' && isTextless ? null : text,
    refusal: refusal === '' ? null : refusal,
    ...(hideReasoning ? {} : viewReasoning(choice)),
    ...(toolCalls.length > 0 ? { tool_calls: toolCalls.map(viewToolCall) } : {}),
    ...(annotations.length > 0 ? { annotations: annotations.map(viewAnnotation) } : {}),
    ...(images.length > 0 ? { images: images.map(viewImage) } : {}),
    ...(audio === null ? {} : { audio }),
  }
}

function viewReasoning({ reasoning, reasoningDetails }: ResultChoice): JsonObject {
  const made = reasoning === '' ? [] : [reasoningTextDetail(reasoning)]
  const details = reasoningDetails.length > 0 ? reasoningDetails : made
  return {
    ...(reasoning === '' ? {} : { reasoning }),
    ...(details.length > 0 ? { reasoning_details: details } : {}),
  }
}

/** The last wins. */
const merge = (objects: readonly (JsonObject | undefined)[]): JsonObject =>
  Object.fromEntries(objects.flatMap((object) => Object.entries(object ?? {})))
