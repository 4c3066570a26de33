import type { InferenceEvent, JsonObject } from '../../core/events.ts'
import { isObject, isString } from '../../core/json.ts'

/** `logprobsResult` → OpenAI's `logprobs.content`: the token that was chosen, and the likeliest in its place. */
export function readLogprobs(raw: unknown, choice: number, events: InferenceEvent[]): void {
  if (!isObject(raw) || !Array.isArray(raw['chosenCandidates'])) return
  const tops = Array.isArray(raw['topCandidates']) ? raw['topCandidates'] : []
  const content = raw['chosenCandidates'].flatMap((chosen, i) => {
    const entry = readToken(chosen)
    const top: unknown = tops[i]
    const candidates = isObject(top) && Array.isArray(top['candidates']) ? top['candidates'] : []
    return entry ? [{ ...entry, top_logprobs: candidates.flatMap((each) => readToken(each) ?? []) }] : []
  })
  if (content.length > 0) events.push({ type: 'logprobs', choice, logprobs: { content, refusal: null } })
}

function readToken(raw: unknown): JsonObject | undefined {
  if (!isObject(raw)) return undefined
  const { token, logProbability } = raw
  if (!isString(token) || typeof logProbability !== 'number') return undefined
  return { token, logprob: logProbability, bytes: [...Buffer.from(token)] }
}

/** The inverse: OpenAI's `logprobs` → `logprobsResult`; undefined where they hold none. */
export function writeLogprobs(logprobs: JsonObject): JsonObject | undefined {
  const content: unknown[] = Array.isArray(logprobs['content']) ? logprobs['content'] : []
  const entries = content.filter(isObject)
  if (entries.length === 0) return undefined
  return {
    chosenCandidates: entries.map(writeToken),
    topCandidates: entries.map(({ top_logprobs: top }) => ({
      candidates: Array.isArray(top) ? top.filter(isObject).map(writeToken) : [],
    })),
  }
}

const writeToken = ({ token, logprob }: JsonObject): JsonObject => ({ token, logProbability: logprob })
