import type { ExportParameters } from '../core/export-note.ts'

/** The parameters of a request with the names of OpenAI's API, for vendors that show them as one object. */
export function parametersOf(parameters: ExportParameters): Record<string, unknown> {
  const named = {
    temperature: parameters.temperature,
    top_p: parameters.topP,
    top_k: parameters.topK,
    max_tokens: parameters.maxTokens,
    frequency_penalty: parameters.frequencyPenalty,
    presence_penalty: parameters.presencePenalty,
    seed: parameters.seed,
    stop: parameters.stop,
    n: parameters.choices,
    reasoning_effort: parameters.reasoningEffort,
  }
  return Object.fromEntries(Object.entries(named).filter(([, value]) => value !== undefined))
}
