import type { EmbeddingInput, EmbeddingsRequest, EmbeddingsResult } from '../../core/operation.ts'
import { NO_USAGE } from '../../core/usage.ts'
import { embeddingsIngress } from '../../dialects/operations/embeddings.ts'
import { embeddingsEgresses } from '../../dialects/operations.ts'
import { leastTokens, partTokens, textTokens } from '../admission/estimate.ts'
import { kindsOf } from '../admission/part-kinds.ts'
import { inputNeeds } from '../routing/needs.ts'
import type { Task } from './task.ts'

/** POST /embeddings: priced by input tokens. */
export const embeddings: Task<EmbeddingsRequest, EmbeddingsResult> = {
  ingress: embeddingsIngress,
  egresses: embeddingsEgresses,
  isRepeatable: true,
  // The metadata of models that embed images often has texts alone, so images are a wish.
  needs: ({ inputs }) => {
    const parts = inputs.flatMap((input) => (input.type === 'parts' ? input.parts : []))
    const texts = inputs.map((input) => (input.type === 'text' ? input.text.length : 0))
    return inputNeeds(kindsOf(parts, true), {
      promptTokens: Math.max(...inputs.map(tokensOf)),
      leastPromptTokens: leastTokens(Math.max(...texts)),
    })
  },
  bound: ({ inputs }) => ({
    ...NO_USAGE,
    inputTokens: inputs.reduce((sum, input) => sum + FRAME_TOKENS + tokensOf(input), 0),
  }),
  count: (request, _, reported, pricing) =>
    reported === null
      ? { usage: embeddings.bound(request, pricing), source: 'estimated' }
      : { usage: reported, source: 'provider' },
  logged: ({ embeddings }) => embeddings,
}

/** Some models add a token before and after each text. */
const FRAME_TOKENS = 2

function tokensOf(input: EmbeddingInput): number {
  switch (input.type) {
    case 'text':
      return textTokens(input.text)
    case 'tokens':
      return input.tokens.length
    case 'parts':
      return input.parts.reduce((sum, part) => sum + partTokens(part), 0)
  }
}
