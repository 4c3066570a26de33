import { geminiIngress } from '../../src/dialects/gemini/index.ts'
import { geminiBody } from '../../src/dialects/gemini/schema.ts'
import { testRequests } from './requests.ts'
import { range } from './samples.ts'

const user = { role: 'user', parts: [{ text: 'Hi' }] }
const call = (i: number) => ({ functionCall: { id: `id_${i}`, name: 'look', args: {} } })
const result = (i: number) => ({ functionResponse: { id: `id_${i}`, name: 'look', response: {} } })
const model = (parts: unknown) => ({ role: 'model', parts })

testRequests('Gemini', geminiIngress, geminiBody, { contents: [user] }, [
  {
    name: 'results of parallel calls',
    body: (n) => ({ contents: [user, model(range(n, call)), { role: 'user', parts: range(n, result) }] }),
  },
  {
    name: 'results without an id, of parallel calls',
    body: (n) => ({
      contents: [
        user,
        model(range(n, () => ({ functionCall: { name: 'look', args: {} } }))),
        { role: 'user', parts: range(n, () => ({ functionResponse: { name: 'look', response: {} } })) },
      ],
    }),
  },
  {
    name: 'calls and results in turn',
    body: (n) => ({
      contents: [
        user,
        ...range(n, (i) => (i % 2 === 0 ? model([call(i)]) : { role: 'user', parts: [result(i - 1)] })),
      ],
    }),
  },
])
