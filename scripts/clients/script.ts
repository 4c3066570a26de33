import type { JsonObject } from '../../src/core/events.ts'

/** The wire formats of the scripted provider; each is a provider of its own with one model. */
export const DIALECTS = ['chat', 'responses', 'messages', 'gemini'] as const
export type Dialect = (typeof DIALECTS)[number]

/** One request that the gateway sent to the scripted provider. */
export interface Asked {
  readonly dialect: Dialect
  readonly isStreamed: boolean
  /** The names of the tools that the client offers, as the provider sees them. */
  readonly tools: readonly string[]
  readonly body: JsonObject
  /** The body as JSON text. */
  readonly json: string
  /** When the gateway ended the call before its reply was complete, in milliseconds since 1970. */
  cancelledAt?: number
}

export interface ToolCall {
  /** Set by the provider: clients drop a second call that has the id of the first. */
  readonly id?: string
  readonly name: string
  readonly arguments: JsonObject
}

/**
 * What the provider does with a request. `cut`: it sends this text and then ends the body in mid-answer, or, if it
 * `hangs`, sends nothing more.
 */
export type Turn =
  | { readonly text: string }
  | { readonly call: ToolCall }
  | { readonly cut: string; readonly hangs?: true }
export type Script = (asked: Asked) => Turn

export const ANSWER = 'The scripted provider answers in four pieces.'
export const FINISHED = 'It is 11 degrees in Oslo.'
export const BEGINNING = 'This answer has a beginning and'

export const UNKNOWN_MODEL = 'nobody/no-such-model'
/** A PNG of one pixel, in base64. */
export const IMAGE =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

/** Some clients encode the image anew. */
const IMAGE_START = IMAGE.slice(0, 34)

const TOOL_RESULT = '11 degrees'

export const answers: Script = () => ({ text: ANSWER })
export const cuts: Script = () => ({ cut: BEGINNING })
export const hangs: Script = () => ({ cut: BEGINNING, hangs: true })
/** Answers only a request that has the image. */
export const seesImage: Script = ({ json }) => ({
  text: json.includes(IMAGE_START) ? ANSWER : 'no image arrived',
})
/** Calls the one tool, and finishes only after the client has sent the result. */
export const callsTool: Script = ({ json, tools }) =>
  json.includes(TOOL_RESULT)
    ? { text: FINISHED }
    : { call: { name: toolAmong(tools), arguments: { city: 'Oslo' } } }

/** The tool of the programs, perhaps under a longer name; agents offer tools of their own beside it. */
const toolAmong = (tools: readonly string[]): string =>
  tools.find((name) => name.includes('temperature')) ?? tools[0] ?? 'no_tool_was_offered'

/** A text in four pieces: a client that reports one piece did not stream. */
export function piecesOf(text: string): string[] {
  const size = Math.ceil(text.length / 4)
  return Array.from({ length: 4 }, (_, index) => text.slice(index * size, (index + 1) * size)).filter(Boolean)
}

export const callId = ({ id }: ToolCall): string => id ?? 'call_scripted'
