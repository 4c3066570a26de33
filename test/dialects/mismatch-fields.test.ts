import { expect, test } from 'bun:test'
import type { JsonObject } from '../../src/core/events.ts'
import { chatIngress } from '../../src/dialects/chat/index.ts'
import { MOST_FIELDS } from '../../src/dialects/fields.ts'

const fields = Object.fromEntries(Array.from({ length: MOST_FIELDS + 50 }, (_, i) => [`unknown_${i}`, 1]))
const parse = (part: JsonObject) => () =>
  chatIngress.parse({ messages: [{ role: 'user', content: [part] }] }, new Headers())

test('the error in a part with too many fields names their number', () => {
  const refusal = `messages[0].content[0]: must have at most ${MOST_FIELDS} fields, not ${MOST_FIELDS + 52}`
  expect(parse({ type: 'text', text: 'x', ...fields })).toThrow(refusal)
  expect(parse({ ...fields, text: 'x', type: 'text' })).toThrow(refusal)
})

test('the fields of a part with too many of them are listed a few times, not once for each kind of part', () => {
  let listed = 0
  const part = new Proxy<JsonObject>(
    { type: 'text', text: 'x', ...fields },
    {
      ownKeys(target) {
        listed += 1
        return Reflect.ownKeys(target)
      },
    },
  )
  expect(parse(part)).toThrow('must have at most')
  expect(listed).toBeLessThanOrEqual(10)
})

test('an object that may have many fields does not hide another error', () => {
  const call = { id: 'c', type: 'function', function: { name: 'look', arguments: '{}' } }
  const body = { messages: [{ role: 'assistant', tool_calls: [{ ...call, more: fields }], content: 7 }] }
  expect(() => chatIngress.parse(body, new Headers())).toThrow('messages[0].content')
})
