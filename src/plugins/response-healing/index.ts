import type { PluginOptions } from '../../core/plugin-options.ts'
import type { InferenceRequest } from '../../core/request.ts'
import type { Plugin, PluginContext } from '../plugin.ts'
import { healedFrames } from './frames.ts'
import { schemaOf } from './heal.ts'

interface HealingOptions extends PluginOptions {
  /** 1: an answer that cannot be repaired is asked for once more. */
  readonly retry?: number | null
}

const ID = 'response-healing'

/** Makes answers the JSON that `response_format` asks for; see `frames.ts`. */
export const responseHealing: Plugin<HealingOptions> = {
  id: ID,
  frames(frames, { retry }, context) {
    const { request, report } = context
    const schema = schemaOf(request.responseFormat)
    if (schema === undefined) return frames
    return healedFrames(frames, {
      schema,
      isStream: request.stream,
      again: retry === 1 ? (answer, reason) => askAgain(answer, reason, context) : undefined,
      report: (data) => report({ type: 'response_healing', name: ID, data }),
    })
  },
}

/** The same conversation with the answer and what is wrong with it. */
async function askAgain(answer: string, reason: string, { request, ask }: PluginContext): Promise<string> {
  const again: InferenceRequest = {
    ...request,
    stream: false,
    messages: [
      ...request.messages,
      { role: 'assistant', content: answer.trim() === '' ? '(no answer)' : answer },
      {
        role: 'user',
        content: `Your answer ${reason}. Answer again with the JSON alone: no other words, no code fence.`,
      },
    ],
    rewritten: true,
    choiceCount: 1,
    echoUpstreamBody: false,
  }
  const { result } = await ask(again, { kind: ID })
  return result.choices[0]?.text ?? ''
}
