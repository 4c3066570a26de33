import { faultOf, MODELS, requestBody, USAGE } from '../answers.ts'
import { ANSWER_NANO_USD, entry } from '../sluice.ts'
import { WIRE_NAMES, wires } from '../wires.ts'

/** One way to ask for something that costs money: the five that the ledger is tried with. */
export interface Ask {
  readonly name: string
  readonly path: string
  /** Models of this ending serve it. */
  readonly model: string
  body(model: string): string
  /** Null for a complete and correct answer, else the problem. */
  faultOf(status: number, body: string): string | null
  /** What one answer costs at the bench's prices for tokens. */
  readonly costNanoUsd: number
}

const SENTENCE = 'A benchmark of a ledger asks for vectors. '

const streamed = (name: string, wire: keyof typeof wires): Ask => ({
  name,
  path: `/api/v1${wires[wire].path}`,
  model: `${wire}-burst`,
  body: wires[wire].request,
  faultOf: wires[wire].faultOf,
  costNanoUsd: ANSWER_NANO_USD,
})

export const ASKS: readonly Ask[] = [
  {
    name: 'unary',
    path: '/api/v1/chat/completions',
    model: 'chat-burst',
    body: (model) => requestBody(model, 'unary'),
    faultOf: (status, body) => faultOf('unary', status, body),
    costNanoUsd: ANSWER_NANO_USD,
  },
  streamed('stream', 'chat'),
  streamed('responses', 'responses'),
  streamed('messages', 'messages'),
  {
    name: 'embeddings',
    path: '/api/v1/embeddings',
    model: 'chat-burst',
    // Long enough for what the mock counts: a hold rests on an estimate of the prompt, and its provider's count is law.
    body: (model) => JSON.stringify({ model, input: [SENTENCE.repeat(8), SENTENCE.repeat(4)] }),
    faultOf: embeddingsFault,
    costNanoUsd: USAGE.prompt_tokens * 1000,
  },
]

function embeddingsFault(status: number, body: string): string | null {
  if (status !== 200) return `status ${status}: ${body.slice(0, 300)}`
  return body.split('"embedding":[').length === 3 ? null : `not two vectors: ${body.slice(0, 300)}`
}

/** A cent for each request with any usage, so that a limit determines the exact number of answers. */
export const CENT = 10_000_000
const CENT_PRICES = { prompt: '0', completion: '0', request: '0.01' }
export const centModelOf = (ask: Ask): string => `cent-${ask.model}`

/** A provider of each wire, with a model priced by tokens and one priced by requests. */
export const ledgerProviders = (upstreamPort: number): object[] =>
  WIRE_NAMES.flatMap((wire) => {
    const models = [`${wire}-burst`, ...(wire === 'chat' ? Object.values(MODELS) : [])]
    const byRequest = { id: `cent-${wire}-burst`, max_completion_tokens: 8192, pricing: CENT_PRICES }
    return [
      entry(wire, wire, upstreamPort, models),
      { ...entry(`cent-${wire}`, wire, upstreamPort, []), models: [byRequest] },
    ]
  })
