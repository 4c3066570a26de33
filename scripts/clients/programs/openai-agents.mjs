import {
  Agent,
  OpenAIChatCompletionsModel,
  OpenAIResponsesModel,
  run,
  setTracingDisabled,
  tool,
} from '@openai/agents'
import OpenAI from 'openai'
import { z } from 'zod'
import { key, model, PROMPT, piece, report, TOOL, temperatureIn, url } from './report.mjs'

setTracingDisabled(true)
const client = new OpenAI({ baseURL: `${url}/api/v1`, apiKey: key })
const temperature = tool({
  name: TOOL.name,
  description: TOOL.description,
  parameters: z.object({ city: z.string() }),
  execute: async ({ city }) => temperatureIn(city),
})

function surface(Model) {
  const agent = (tools = []) => new Agent({ name: 'Weather', model: new Model(client, model), tools })
  return {
    async answer(out) {
      piece(out, (await run(agent(), PROMPT)).finalOutput)
    },
    async stream(out) {
      const result = await run(agent(), PROMPT, { stream: true })
      for await (const text of result.toTextStream({ compatibleWithNodeStreams: true }))
        piece(out, String(text))
      await result.completed
    },
    async tools(out) {
      piece(out, (await run(agent([temperature]), PROMPT)).finalOutput)
    },
  }
}

await report({ responses: surface(OpenAIResponsesModel), chat: surface(OpenAIChatCompletionsModel) })
