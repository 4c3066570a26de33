import { dataLines } from './upstream.ts'

interface Delta {
  content?: string
  reasoning?: string
  reasoning_details?: Record<string, unknown>[]
  tool_calls?: { index: number; id?: string; type?: string; function: { name?: string; arguments: string } }[]
}

/** The message that a client puts together from a stream. */
export async function assemble(response: Response) {
  const lines = await dataLines(response)
  const chunks = lines.slice(0, -1).map((line) => JSON.parse(line))
  const deltas: Delta[] = chunks.flatMap(({ choices }) => choices.map(({ delta }: { delta: Delta }) => delta))
  const calls: { id: string; type: string; function: { name: string; arguments: string } }[] = []
  for (const { index, id, function: called } of deltas.flatMap(({ tool_calls }) => tool_calls ?? [])) {
    if (id) calls[index] = { id, type: 'function', function: { name: called.name ?? '', arguments: '' } }
    const call = calls[index]
    if (call) call.function.arguments += called.arguments
  }
  return {
    isDone: lines.at(-1) === '[DONE]',
    last: chunks.at(-1),
    finish: chunks.flatMap(({ choices }) => choices).findLast(({ finish_reason }) => finish_reason),
    message: {
      role: 'assistant',
      content: deltas.map(({ content }) => content ?? '').join(''),
      reasoning: deltas.map(({ reasoning }) => reasoning ?? '').join(''),
      reasoning_details: deltas.flatMap(({ reasoning_details }) => reasoning_details ?? []),
      tool_calls: calls,
    },
  }
}
