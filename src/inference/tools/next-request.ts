import type { Attempt } from '../../core/attempt.ts'
import type { InferenceRequest, Message } from '../../core/request.ts'
import type { ResultChoice } from '../../core/result.ts'
import type { EndedCall, WrittenCall } from './calls.ts'

/** What one step said and called. */
interface Step {
  readonly said: ResultChoice | undefined
  readonly calls: readonly WrittenCall[]
  readonly results: readonly EndedCall[]
  /** The next step may call no tools. */
  readonly isLast: boolean
}

/** The conversation with the model's calls and their results. */
export function nextRequest(
  request: InferenceRequest,
  { model, provider }: Attempt,
  { said, calls, results, isLast }: Step,
): InferenceRequest {
  const { text = '', reasoning = '', reasoningDetails = [] } = said ?? {}
  const turn: Message = {
    role: 'assistant',
    content: text === '' ? null : text,
    toolCalls: calls.map(({ id, name, json, extra }) => ({
      id,
      name,
      arguments: json.trim() === '' ? '{}' : json,
      ...(extra && { extra }),
    })),
    ...(reasoning !== '' && { reasoning }),
    ...(reasoningDetails.length > 0 && { reasoningDetails }),
  }
  const answers = results.map(
    ({ call, message }): Message => ({ role: 'tool', toolCallId: call.id, content: message }),
  )
  const { toolChoice: asked, preferences, models } = request
  const isForced = asked === 'required' || typeof asked === 'object'
  const toolChoice = isLast ? 'none' : isForced ? 'auto' : asked
  return {
    ...request,
    messages: [...request.messages, turn, ...answers],
    ...(toolChoice && { toolChoice }),
    // The thoughts of the first step are signed by its provider.
    models: [...new Set([model.id, ...models])],
    preferences: { ...preferences, order: [...new Set([provider.slug, ...(preferences.order ?? [])])] },
  }
}
