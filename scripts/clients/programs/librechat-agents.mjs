import { HumanMessage } from '@langchain/core/messages'
import { tool } from '@langchain/core/tools'
import { GraphEvents, Providers, Run } from '@librechat/agents'
import { image, key, linger, model, PROMPT, piece, report, TOOL, temperatureIn, url } from './report.mjs'

const temperature = tool(async ({ city }) => temperatureIn(city), {
  name: TOOL.name,
  description: TOOL.description,
  schema: TOOL.parameters,
})

const surface = (llmConfig) => {
  const start = async ({ content = PROMPT, onText = () => undefined, tools = [], signal } = {}) => {
    const run = await Run.create({
      runId: crypto.randomUUID(),
      graphConfig: { type: 'standard', instructions: 'Help.', llmConfig: { model, ...llmConfig }, tools },
      customHandlers: {
        [GraphEvents.ON_MESSAGE_DELTA]: {
          handle: (_, { delta }) => {
            for (const { text } of delta.content ?? []) onText(text)
          },
        },
      },
      returnContent: true,
      skipCleanup: true,
    })
    const config = { configurable: { thread_id: 'one' }, streamMode: 'values', version: 'v2', signal }
    return run.processStream({ messages: [new HumanMessage({ content })] }, config)
  }
  const textOf = (parts) => parts.filter(({ type }) => type === 'text').at(-1)?.text
  return {
    async answer(out) {
      piece(out, textOf(await start()))
    },
    async image(out) {
      const url = { type: 'image_url', image_url: { url: `data:image/png;base64,${image}` } }
      piece(out, textOf(await start({ content: [{ type: 'text', text: PROMPT }, url] })))
    },
    async stream(out) {
      await start({ onText: (text) => piece(out, text) })
    },
    async tools(out) {
      piece(out, textOf(await start({ tools: [temperature] })))
    },
    async cancel() {
      const stop = new AbortController()
      await start({ onText: () => stop.abort(), signal: stop.signal }).catch(() => undefined)
      await linger()
    },
  }
}

const configuration = { baseURL: `${url}/api/v1` }
await report({
  openai: surface({ provider: Providers.OPENAI, apiKey: key, configuration }),
  openrouter: surface({ provider: Providers.OPENROUTER, apiKey: key, configuration }),
  anthropic: surface({ provider: Providers.ANTHROPIC, apiKey: key, clientOptions: { baseURL: url } }),
})
