import type { FactModel } from './document.ts'

/** Models that the facts lack and the API's own examples name. By provider. */
export const supplement: Readonly<Record<string, readonly FactModel[]>> = {
  cohere: [
    {
      id: 'rerank-v3.5',
      name: 'Rerank 3.5',
      baseModel: null,
      releaseDate: '2024-12-02',
      updated: null,
      knowledge: null,
      reasoning: false,
      efforts: [],
      takesReasoningBudget: false,
      mayStopReasoning: false,
      takesTemperature: false,
      callsTools: false,
      structuredOutput: null,
      openWeights: false,
      input: ['text'],
      output: ['rerank'],
      context: 4096,
      maxOutput: null,
      // USD 2 per thousand searches.
      cost: { input: 0, output: 0, request: 2 },
      deprecated: false,
      override: null,
    },
  ],
}
