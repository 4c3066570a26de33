import type { InferenceEvent, JsonObject } from '../../core/events.ts'
import type { ResultChoice } from '../../core/result.ts'
import { viewImage, viewToolCall } from '../../dialects/chat/write-message.ts'
import { truncationMark } from './limited.ts'

/** The length of an event's content; 0 for events without content. */
export function lengthOf(event: InferenceEvent): number {
  switch (event.type) {
    case 'text-delta':
    case 'reasoning-delta':
    case 'refusal-delta':
      return event.text.length
    case 'tool-call-start':
      return event.name.length + event.id.length
    case 'tool-call-delta':
      return event.json.length
    case 'image':
      return event.url.length
    case 'audio-delta':
      return textLength(event.audio['data']) + textLength(event.audio['transcript'])
    default:
      return 0
  }
}

const textLength = (value: unknown): number => (typeof value === 'string' ? value.length : 0)

/** The last event of a reply that is too long, with the truncation marker. */
export function truncatedEvent(event: InferenceEvent, remaining: number): InferenceEvent {
  const cut = (text: string): string =>
    Buffer.from(text.slice(0, remaining)).toString() + truncationMark('the rest')
  switch (event.type) {
    case 'text-delta':
    case 'reasoning-delta':
    case 'refusal-delta':
      return { ...event, text: cut(event.text) }
    case 'tool-call-delta':
      return { ...event, json: cut(event.json) }
    case 'image':
      return { ...event, url: cut(event.url) }
    default:
      return {
        type: 'text-delta',
        choice: 'choice' in event ? event.choice : 0,
        text: truncationMark('the rest'),
      }
  }
}

/**
 * The logged reply: its text, if it is one text; else a message of the chat dialect with everything beside it (tool calls,
 * images, audio, a refusal); a list if several choices were requested. Null: the reply is empty.
 */
export function completionOf(choices: readonly ResultChoice[]): string | JsonObject | JsonObject[] | null {
  const [first] = choices
  if (first === undefined) return null
  if (choices.length > 1) return choices.map((choice) => ({ index: choice.index, ...messageOf(choice) }))
  const message = messageOf(first)
  return Object.keys(message).length > 1 ? message : first.text || null
}

function messageOf({ text, refusal, toolCalls, images, audio }: ResultChoice): JsonObject {
  const calls = toolCalls.filter((call) => call !== undefined)
  return {
    content: text === '' ? null : text,
    ...(refusal === '' ? {} : { refusal }),
    ...(calls.length === 0 ? {} : { tool_calls: calls.map(viewToolCall) }),
    ...(images.length === 0 ? {} : { images: images.map(viewImage) }),
    ...(audio === null ? {} : { audio }),
  }
}

export function reasoningOf(choices: readonly ResultChoice[]): string | null {
  const thoughts = choices.map(({ reasoning }) => reasoning).filter((text) => text !== '')
  return thoughts.length === 0 ? null : thoughts.join('\n\n')
}
