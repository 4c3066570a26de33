import { type InferenceEvent, type JsonObject, nativeData } from '../../core/events.ts'
import { isObject, objectsIn, textOf } from '../../core/json.ts'
import type { ReplyContext } from '../../core/result.ts'
import { ENCRYPTED_REASONING, isResponsesNative } from './items.ts'
import { toolsByName } from './tool-names.ts'
import type { EventWriter } from './write-events.ts'
import { skeletonOf } from './write-native.ts'
import { createOutput, type Output } from './write-output.ts'
import type { ThoughtPart } from './write-reasoning.ts'

export const outputFor = (reply: ReplyContext, events: EventWriter): Output =>
  createOutput({
    events,
    unique: reply.generationId.replace(/^gen-/, ''),
    hideReasoning: reply.hideReasoning,
    reasoning: {
      withSpecEvents: reply.request.strictEvents !== true,
      carrier: reply.request.carrier,
      isAskedFor: includes(reply.request.body, ENCRYPTED_REASONING),
    },
    tools: toolsByName(reply.request.body),
    showsResults: includes(reply.request.body, 'file_search_call.results'),
  })

const includes = ({ include }: JsonObject, name: string): boolean =>
  Array.isArray(include) && include.includes(name)

/** The event of a provider of this dialect that an event holds. */
export const nativeEventOf = (event: InferenceEvent): JsonObject | undefined =>
  nativeData(event, 'responses', isResponsesNative)?.event

/** The response object of a Responses provider, if the event is one. */
export const nativeResponseOf = (event: InferenceEvent): JsonObject | undefined =>
  nativeData(event, 'responses', isResponsesNative)?.response

/** Writes the events of one chunk. This dialect has no place for choices other than the first. */
export function addEvents(output: Output, events: readonly InferenceEvent[]): string {
  const logprobs = events.flatMap(logprobsOf)
  const ordered = announced(output, thoughtsFirst(events))
  let text = ''
  let hasSentLogprobs = logprobs.length === 0
  for (const [at, event] of ordered.entries()) {
    if (event.type === 'text-delta' && event.choice === 0 && event.text !== '') {
      text += output.addText(event.text, hasSentLogprobs ? [] : logprobs)
      hasSentLogprobs = true
    } else if (event.type === 'reasoning-delta' && event.choice === 0 && event.text !== '') {
      text += output.addReasoning(event.text, thoughtAt(ordered, at))
    } else {
      text += addEvent(output, event)
    }
  }
  return text
}

function addEvent(output: Output, event: InferenceEvent): string {
  const native = nativeEventOf(event)
  if (native) return output.natives.write(native)
  if (event.type === 'server-tool') return output.addServerTool(event.call)
  if (event.type === 'own-piece') return output.addOwnItem(event.data)
  if (!('choice' in event) || event.choice !== 0) return ''
  switch (event.type) {
    case 'refusal-delta':
      return event.text === '' ? '' : output.addRefusal(event.text)
    case 'reasoning-detail':
      return output.addDetail(event.detail)
    case 'tool-call-start':
      return output.startCall(event)
    case 'tool-call-delta':
      return output.addToCall(event.index, event.json)
    case 'annotation':
      return output.addAnnotation(event.annotation)
    case 'image':
      return output.addImage(event.url)
    case 'audio-delta':
      return output.addAudio(event.audio)
    default:
      return ''
  }
}

/** The signature of a call precedes the call, as thoughts do. */
function thoughtsFirst(events: readonly InferenceEvent[]): readonly InferenceEvent[] {
  const start = events.findIndex(({ type }) => type === 'tool-call-start')
  if (start === -1 || events.some((event) => nativeEventOf(event))) return events
  const rest = events.slice(start)
  const isDetail = ({ type }: InferenceEvent): boolean => type === 'reasoning-detail'
  return [...events.slice(0, start), ...rest.filter(isDetail), ...rest.filter((event) => !isDetail(event))]
}

/** The detail of the same piece shows whether reasoning is a summary, and which part of it. */
function thoughtAt(events: readonly InferenceEvent[], at: number): Partial<ThoughtPart> {
  for (let next = at + 1; next < events.length && events[next]?.type !== 'reasoning-delta'; next++) {
    const part = partOf(events[next])
    if (part) return part
  }
  for (let former = at - 1; former >= 0 && events[former]?.type !== 'reasoning-delta'; former--) {
    const part = partOf(events[former])
    if (part) return part
  }
  return {}
}

function partOf(event: InferenceEvent | undefined): ThoughtPart | undefined {
  if (event?.type !== 'reasoning-detail') return undefined
  const { type, index } = event.detail
  if (type === 'reasoning.summary') return { kind: 'summary', key: index }
  return type === 'reasoning.text' ? { kind: 'text', key: index } : undefined
}

/**
 * A provider that did not stream sends an item once, complete, after its content: such an item is announced before
 * that, so that all of its events have its own id.
 */
function announced(output: Output, events: readonly InferenceEvent[]): readonly InferenceEvent[] {
  const known = new Set<unknown>()
  let ordered: InferenceEvent[] | undefined
  let start = 0
  for (const [at, event] of events.entries()) {
    const native = nativeEventOf(event)
    if (native === undefined || !isObject(native.item)) continue
    const isNew =
      native.type === DONE && !known.has(native.output_index) && !output.natives.isAnnounced(native)
    known.add(native.output_index)
    const segment = events.slice(start, at + 1)
    start = at + 1
    if (isNew) {
      ordered ??= [...events.slice(0, at + 1 - segment.length)]
      ordered.push({
        type: 'native',
        dialect: 'responses',
        data: { event: { ...native, type: 'response.output_item.added', item: skeletonOf(native.item) } },
      })
    }
    for (const each of ordered ? segment : []) ordered?.push(each)
  }
  return ordered?.concat(events.slice(start)) ?? events
}
const DONE = 'response.output_item.done'

/** Tokens in the form of the chat dialect → in this dialect's. */
function logprobsOf(event: InferenceEvent): JsonObject[] {
  if (event.type !== 'logprobs' || event.choice !== 0) return []
  const { content } = event.logprobs
  return Array.isArray(content) ? content.filter(isObject).map(viewToken) : []
}

/** One object and no list for each token without alternatives: there may be tens of thousands in one step. */
const viewToken = ({ token, logprob, bytes, top_logprobs: others }: JsonObject): JsonObject => ({
  token,
  logprob,
  bytes: bytesOf(token, bytes),
  top_logprobs: Array.isArray(others) && others.length > 0 ? objectsIn(others).map(viewAlternative) : NONE,
})

const NONE: readonly unknown[] = Object.freeze([])

const viewAlternative = ({ token, logprob, bytes }: JsonObject): JsonObject => ({
  token,
  logprob,
  bytes: bytesOf(token, bytes),
})

/** Clients parse the bytes as required. */
const bytesOf = (token: unknown, bytes: unknown): unknown =>
  Array.isArray(bytes) ? bytes : [...Buffer.from(textOf(token))]
