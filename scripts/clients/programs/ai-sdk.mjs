import { createAnthropic } from '@ai-sdk/anthropic'
import { createGoogle } from '@ai-sdk/google'
import { createOpenAI } from '@ai-sdk/openai'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { createOpenRouter } from '@openrouter/ai-sdk-provider'
import { generateText, isStepCount, streamText, tool } from 'ai'
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
  out.finish = await result.finishReason
}

const surface = (chosen) => ({
  async answer(out) {
    piece(out, (await generateText({ model: chosen(), prompt: PROMPT })).text)
  },
  async image(out) {
    const picture = { type: 'file', mediaType: 'image/png', data: `data:image/png;base64,${image}` }
    const messages = [{ role: 'user', content: [{ type: 'text', text: PROMPT }, picture] }]
    piece(out, (await generateText({ model: chosen(), messages })).text)
  },
  async cancel() {
    const stop = new AbortController()
    const result = streamText({ model: chosen(), prompt: PROMPT, abortSignal: stop.signal })
    for await (const _ of result.textStream) stop.abort()
    await linger()
  },
  stream: (out) => streamed(out, { model: chosen() }),
  tools: (out) => streamed(out, { model: chosen(), tools, stopWhen: isStepCount(4) }),
})

await report({
  responses: surface(() => createOpenAI(base)(model)),
  chat: surface(() => createOpenAI(base).chat(model)),
  anthropic: surface(() => createAnthropic(base)(model)),
  google: surface(() => createGoogle({ ...base, baseURL: `${url}/v1beta` })(model)),
  compatible: surface(() => createOpenAICompatible({ ...base, name: 'sluice' })(model)),
  openrouter: surface(() => createOpenRouter(base).chat(model)),
})
