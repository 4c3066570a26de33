import type { InferenceEvent } from '../../core/events.ts'
import { isObject, isString } from '../../core/json.ts'

/**
 * Reads `logprobs` in the form that every client parses: `content` is a list of tokens, each with `bytes` and
 * `top_logprobs`, or null. Fields of another form stay beside it. `{content: null, refusal: null}` says nothing.
 * A number is that of `text`, what the same chunk adds: Together's streams (together-py, `ChatCompletionChunk`, 2026).
 */
export function readLogprobs(
  logprobs: unknown,
  text: unknown,
  choice: number,
  events: InferenceEvent[],
): void {
  if (typeof logprobs === 'number' && isString(text) && text !== '') {
    const content = [completed({ token: text, logprob: logprobs })]
    events.push({ type: 'logprobs', choice, logprobs: { content } })
  }
  if (!isObject(logprobs)) return
  const says = Object.values(logprobs).some((value) =>
    Array.isArray(value) ? value.length > 0 : value !== null,
  )
  if (!says) return
  const { content, refusal, tokens, token_logprobs: values } = logprobs
  const read = {
    ...logprobs,
    content: Array.isArray(content) ? content.map(completed) : sideBySide(tokens, values),
    ...(Array.isArray(refusal) ? { refusal: refusal.map(completed) } : {}),
  }
  events.push({ type: 'logprobs', choice, logprobs: read })
}

/** Together's whole replies (together-py, `LogProbs`, 2026): tokens in one list, their values in another. */
function sideBySide(tokens: unknown, values: unknown): unknown[] | null {
  if (!Array.isArray(tokens) || !Array.isArray(values)) return null
  return tokens.flatMap((token: unknown, index) => {
    const logprob: unknown = values[index]
    return isString(token) && typeof logprob === 'number' ? [completed({ token, logprob })] : []
  })
}

/** With what clients take for granted on a token, and on each that was likely in its place. */
function completed(token: unknown): unknown {
  if (!isObject(token)) return token
  const { bytes = null, top_logprobs: others } = token
  // Most tokens are complete, and there may be hundreds of thousands.
  if (token.bytes !== undefined && Array.isArray(others) && others.every(hasBytes)) return token
  return { ...token, bytes, top_logprobs: Array.isArray(others) ? others.map(withBytes) : [] }
}

const hasBytes = (token: unknown): boolean => !isObject(token) || token.bytes !== undefined

const withBytes = (token: unknown): unknown => (isObject(token) ? { bytes: null, ...token } : token)
