import { createOpenAI } from '@ai-sdk/openai'
import { createOpenRouter } from '@openrouter/ai-sdk-provider'
import { generateText, stepCountIs, streamText, tool } from 'ai'
import { z } from 'zod'
import { image, key, linger, model, PROMPT, piece, report, temperatureIn, url } from './report.mjs'

const base = { apiKey: key, baseURL: `${url}/api/v1` }
const tools = {
  temperature: tool({
    description: 'The temperature in a city.',
    inputSchema: z.object({ city: z.string() }),
    execute: async ({ city }) => temperatureIn(city),
  }),
}
const picture = { type: 'image', image: `data:image/png;base64,${image}` }

/** `onError` alone reports an error of a stream: the text simply ends. */
async function streamed(out, options) {
  let failure
  const result = streamText({
    prompt: PROMPT,
    ...options,
    onError: ({ error }) => {
      failure = error
    },
  })
  for await (const text of result.textStream) piece(out, text)
  if (failure !== undefined) throw failure
}

const surface = (chosen) => ({
  async answer(out) {
    piece(out, (await generateText({ model: chosen(), prompt: PROMPT })).text)
  },
  async image(out) {
    const messages = [{ role: 'user', content: [{ type: 'text', text: PROMPT }, picture] }]
    piece(out, (await generateText({ model: chosen(), messages })).text)
  },
  stream: (out) => streamed(out, { model: chosen() }),
  tools: (out) => streamed(out, { model: chosen(), tools, stopWhen: stepCountIs(4) }),
  async cancel() {
    const stop = new AbortController()
    const result = streamText({ model: chosen(), prompt: PROMPT, abortSignal: stop.signal })
    for await (const _ of result.textStream) stop.abort()
    await linger()
  },
})

await report({
  responses: surface(() => createOpenAI(base)(model)),
  openrouter: surface(() => createOpenRouter(base).chat(model)),
})
