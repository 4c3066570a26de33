import { chatIngress } from '../../src/dialects/chat/index.ts'
import { chatBody } from '../../src/dialects/chat/schema.ts'
import { testRequests } from './requests.ts'
import { range } from './samples.ts'

const call = (i: number) => ({ id: `id_${i}`, type: 'function', function: { name: 'look', arguments: '{}' } })
const assistant = (calls: unknown) => ({ role: 'assistant', content: null, tool_calls: calls })
const result = (i: number) => ({ role: 'tool', tool_call_id: `id_${i}`, content: 'text' })
const user = { role: 'user', content: 'Hi' }

testRequests('chat', chatIngress, chatBody, { messages: [user] }, [
  {
    name: 'results of parallel calls',
    body: (n) => ({ messages: [user, assistant(range(n, call)), ...range(n, result)] }),
  },
  {
    name: 'calls and results in turn',
    body: (n) => ({
      messages: [user, ...range(n, (i) => (i % 2 === 0 ? assistant([call(i)]) : result(i - 1)))],
    }),
  },
])
