import * as weave from 'weave'
import { record, recorder } from './generation.mjs'

process.env.WANDB_API_KEY = 'ak'
process.env.WANDB_BASE_URL = recorder
process.env.WF_TRACE_SERVER_URL = recorder
const client = await weave.init('team/my-project')
const { usage, content } = record
const chat = weave.op(
  async () => ({
    model: record.model,
    choices: [{ message: { role: 'assistant', content: content.output.completion } }],
    usage: {
      prompt_tokens: usage.promptTokens,
      completion_tokens: usage.completionTokens,
      total_tokens: usage.promptTokens + usage.completionTokens,
    },
  }),
  { name: 'chat', summarize: (result) => ({ usage: { [result.model]: result.usage } }) },
)
await chat({ model: record.model, messages: content.input.messages })
await client.waitForBatchProcessing()
