import type { Offered } from './listing.ts'

/** A few providers by name, the rest as a number. */
const MOST_NAMED = 3

/** Sentences from the metadata: modalities, sizes and providers. */
export function descriptionOf(offered: Offered): string {
  const { model, inputModalities, outputModalities, contextLength, top } = offered
  const sentences = [`${model.name} takes ${listed(inputModalities)} and gives ${listed(outputModalities)}.`]
  if (contextLength > 0) sentences.push(`Its context is up to ${grouped(contextLength)} tokens.`)
  if (offered.reasoning) sentences.push('It can reason before it answers.')
  if (offered.supportedParameters.includes('tools')) sentences.push('It calls tools.')
  if (model.facts?.knowledgeCutoff) sentences.push(`Its knowledge ends in ${model.facts.knowledgeCutoff}.`)
  if (model.facts?.hasOpenWeights) sentences.push('Its weights are open.')
  sentences.push(`Offered by ${providersOf(offered)}.`)
  if (top.record.pricing === null) {
    sentences.push('Its price is unknown, so requests are rejected until the operator sets one.')
  }
  return sentences.join(' ')
}

function providersOf({ endpoints }: Offered): string {
  const names = [...new Set(endpoints.map(({ provider }) => provider.name))]
  const rest = names.length - MOST_NAMED
  if (rest <= 0) return listed(names)
  return listed([...names.slice(0, MOST_NAMED), `${rest} more`])
}

function listed(words: readonly string[]): string {
  const last = words.at(-1) ?? ''
  return words.length < 2 ? last : `${words.slice(0, -1).join(', ')} and ${last}`
}

const grouped = (count: number): string => count.toLocaleString('en-US')
