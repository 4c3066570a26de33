/** The vocabularies of OpenAI's models, the only ones of which a tokenizer is here. */
export type Encoding = 'o200k_base' | 'cl100k_base'

const O200K = /(?:^|\/)(?:gpt-(?:4o|4\.1|4\.5|5|oss)|chatgpt-4o|o[134](?:-|$))/
const CL100K = /(?:^|\/)gpt-(?:4|3\.5)(?:-|$)/

/** The vocabulary of a model, by its id; null: unknown, so that its tokens are estimated. */
export function encodingOf(modelId: string): Encoding | null {
  if (O200K.test(modelId)) return 'o200k_base'
  return CL100K.test(modelId) ? 'cl100k_base' : null
}
