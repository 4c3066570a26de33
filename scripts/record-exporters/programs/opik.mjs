import { Opik } from 'opik'
import { record, recorder } from './generation.mjs'

const client = new Opik({
  apiKey: 'ak',
  apiUrl: `${recorder}/api`,
  workspaceName: 'team',
  projectName: 'my-project',
})
const { usage, content, cost } = record
const input = { messages: content.input.messages }
const output = { choices: [content.output.completion] }
const metadata = { release: '1.4', team: 'blue' }
const trace = client.trace({
  name: record.trace.traceName,
  input,
  output,
  metadata,
  threadId: record.sessionId,
  startTime: new Date(record.startedAt),
  endTime: new Date(record.endedAt),
})
trace.span({
  name: 'chat',
  type: 'llm',
  input,
  output,
  metadata,
  model: record.model,
  provider: 'azure',
  usage: {
    prompt_tokens: usage.promptTokens,
    completion_tokens: usage.completionTokens,
    total_tokens: usage.promptTokens + usage.completionTokens,
  },
  totalEstimatedCost: cost.totalNanoUsd / 1e9,
  startTime: new Date(record.startedAt),
  endTime: new Date(record.endedAt),
})
await client.flush()
