import type { CallerTrace, ExportNote, ExportParameters } from '../core/export-note.ts'
import type { Settlement } from '../core/generation.ts'
import { isObject } from '../core/json.ts'
import type { InferenceRequest, RoutedRequest } from '../core/request.ts'
import { stateOf, type TraceContext } from '../core/trace-context.ts'
import type { Cost } from './admission/price.ts'
import type { Generation, Opening } from './generation.ts'
import type { Settled } from './reply/meter.ts'

type Noted = Pick<Generation, 'opening' | 'caller' | 'request' | 'current' | 'startedAt' | 'cached'>

/** The settlement with the note for destinations, if its workspace has any. `hasContent`: its content is stored for them. */
export function noted({ settlement, cost }: Settled, generation: Noted, hasContent = false): Settlement {
  if (generation.caller.workspace.exports === undefined) return settlement
  const note = { ...traceIn(settlement), ...noteOf(settlement, cost, generation) }
  return { ...settlement, exported: hasContent ? { ...note, content: true } : note }
}

/** Of a step that calls no model: nothing more is known than its row has. */
export const withoutNote = (settlement: Settlement, { caller }: Pick<Opening, 'caller'>): Settlement =>
  caller.workspace.exports === undefined ? settlement : { ...settlement, exported: traceIn(settlement) }

const traceIn = ({ callerTrace }: Settlement): Pick<ExportNote, 'trace'> =>
  callerTrace === undefined ? {} : { trace: callerTrace }

/** The caller's trace as rows have it; undefined: its request had no `traceparent`. */
export const callerTraceOf = ({ traceId, spanId, state }: TraceContext): CallerTrace | undefined =>
  spanId === null ? undefined : [traceId, spanId, stateOf(state, LONGEST_STATE)]

function noteOf(settlement: Settlement, cost: Cost, generation: Noted): ExportNote {
  const { opening, request, current, startedAt } = generation
  const note: Writable<ExportNote> = {
    parameters: parametersOf(request, generation.caller.workspace.exports?.content === true),
  }
  const route = opening.parent === undefined ? unusualRoute(opening.incoming.path) : undefined
  if (route !== undefined) note.route = route
  const requested = request.chosen?.requested ?? request.models[0]
  if (requested !== undefined && requested !== settlement.modelId)
    note.model = requested.slice(0, LONGEST_MODEL)
  const host = current === null ? '' : hostOf(current.provider.baseUrl)
  if (host !== '' && settlement.responseCacheSourceId === undefined) note.host = host
  if (settlement.tries.length > 0) note.attempts = settlement.tries.slice(0, MOST_ATTEMPTS).map(startOf)
  if (settlement.costNanoUsd > 0) note.promptNanoUsd = cost.promptNanoUsd
  const source = generation.cached?.hit?.answer.traceId
  if (source !== undefined) note.sourceTraceId = source
  return note

  function startOf(tried: Settlement['tries'][number]): number {
    return Math.max(0, (tried.startedAt ?? startedAt) - startedAt)
  }
}

type Writable<T> = { -readonly [Name in keyof T]: T[Name] }

const LONGEST_MODEL = 96
const MOST_ATTEMPTS = 16
const LONGEST_STATE = 128

/** A kind of inference with two routes has the second here. */
const unusualRoute = (path: string): string | undefined =>
  path.endsWith('/chat/completions') ? undefined : UNUSUAL.find((route) => path.endsWith(route))
const UNUSUAL = ['/completions', '/images/edits']

/** Cut out of the address, which was checked when the provider was read: parsing it takes ten times as long. */
function hostOf(baseUrl: string): string {
  const from = baseUrl.indexOf('//') + 2
  const to = baseUrl.indexOf('/', from)
  const host = baseUrl.slice(from, to === -1 ? undefined : to)
  return host.slice(host.lastIndexOf('@') + 1)
}

const MOST_STOPS = 4
const LONGEST_STOP = 32

/** Sequences that end an answer may be words of it: only for destinations with content. */
function parametersOf(request: RoutedRequest, withContent: boolean): ExportParameters {
  if (!isConversation(request)) return {}
  const { sampling, maxOutputTokens, choiceCount, reasoning, tools } = request
  const { stop } = sampling
  return {
    temperature: sampling.temperature,
    topP: sampling.topP,
    topK: sampling.topK,
    maxTokens: maxOutputTokens,
    frequencyPenalty: sampling.frequencyPenalty,
    presencePenalty: sampling.presencePenalty,
    seed: sampling.seed,
    stop: withContent ? stop?.slice(0, MOST_STOPS).map((one) => one.slice(0, LONGEST_STOP)) : undefined,
    choices: choiceCount,
    reasoningEffort: reasoning?.effort,
    outputType: outputTypeOf(request),
    tools: tools.length > 0 ? tools.length : undefined,
  }
}

const isConversation = (request: RoutedRequest): request is InferenceRequest => 'sampling' in request

function outputTypeOf({ modalities, responseFormat }: InferenceRequest): string | undefined {
  if (modalities?.includes('image')) return 'image'
  if (modalities?.includes('audio')) return 'speech'
  if (!isObject(responseFormat)) return undefined
  return responseFormat['type'] === 'text' ? 'text' : 'json'
}
