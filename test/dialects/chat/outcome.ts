import {
  eachOf,
  type Finish,
  type InferenceEvent,
  type InferenceFrames,
  type JsonObject,
  type UrlCitation,
} from '../../../src/core/events.ts'
import type { Usage } from '../../../src/core/usage.ts'

/** The first choice of a reply, collected from its events. */
export interface Outcome {
  text: string
  reasoning: string
  refusal: string
  calls: { id: string; name: string; arguments: string }[]
  annotations: (UrlCitation | JsonObject)[]
  images: string[]
  usage: Usage | null
  finishes: Finish[]
  /** The error thrown instead of an end. */
  error: unknown
  events: InferenceEvent[]
}

/** Reads a reply to its end or to its failure. */
export async function outcomeOf(frames: InferenceFrames): Promise<Outcome> {
  const outcome: Outcome = {
    text: '',
    reasoning: '',
    refusal: '',
    calls: [],
    annotations: [],
    images: [],
    usage: null,
    finishes: [],
    error: undefined,
    events: [],
  }
  try {
    for await (const batch of frames) {
      if (batch.length === 0) throw new Error('a batch is empty')
      for (const frame of batch.flatMap((each) => [...eachOf(each)]))
        for (const event of frame.events) add(outcome, event)
    }
  } catch (error) {
    outcome.error = error
  }
  return outcome
}

function add(outcome: Outcome, event: InferenceEvent): void {
  outcome.events.push(event)
  if ('choice' in event && event.choice !== 0) return
  switch (event.type) {
    case 'text-delta':
      outcome.text += event.text
      return
    case 'reasoning-delta':
      outcome.reasoning += event.text
      return
    case 'refusal-delta':
      outcome.refusal += event.text
      return
    case 'tool-call-start':
      if (outcome.calls[event.index]) throw new Error(`call ${event.index} was started twice`)
      outcome.calls[event.index] = { id: event.id, name: event.name, arguments: '' }
      return
    case 'tool-call-delta': {
      const call = outcome.calls[event.index]
      if (!call) throw new Error(`arguments of call ${event.index} came before it`)
      call.arguments += event.json
      return
    }
    case 'annotation':
      outcome.annotations.push(event.annotation)
      return
    case 'image':
      outcome.images.push(event.url)
      return
    case 'usage':
      outcome.usage = event.usage
      return
    case 'response-end':
      outcome.finishes = event.finishes
  }
}

/** The events as text, without generated ids, which differ each time a reply is read. */
export const sameText = (events: readonly InferenceEvent[]): string =>
  JSON.stringify(events).replace(/"call_[0-9a-f]{32}"/g, '"call_made"')
