import { messagesIngress } from '../../src/dialects/messages/index.ts'
import { messagesBody } from '../../src/dialects/messages/schema.ts'
import { testRequests } from './requests.ts'
import { range } from './samples.ts'

const call = (i: number) => ({ type: 'tool_use', id: `id_${i}`, name: 'look', input: {} })
const result = (i: number) => ({ type: 'tool_result', tool_use_id: `id_${i}`, content: 'text' })
const assistant = (content: unknown) => ({ role: 'assistant', content })
const user = (content: unknown) => ({ role: 'user', content })

const BASE = {
  max_tokens: 2_000,
  tools: [{ name: 'look', input_schema: {} }],
  messages: [user('Hi'), assistant([call(0)])],
}

testRequests('Messages', messagesIngress, messagesBody, BASE, [
  {
    name: 'results of parallel calls',
    body: (n) => ({ ...BASE, messages: [user('Hi'), assistant(range(n, call)), user(range(n, result))] }),
  },
  {
    name: 'calls and results in turn',
    body: (n) => ({
      ...BASE,
      messages: range(n, (i) => (i % 2 === 0 ? assistant([call(i)]) : user([result(i - 1)]))),
    }),
  },
])
