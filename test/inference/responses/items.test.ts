import { expect, test } from 'bun:test'
import { withoutLogprobs } from '../../../src/inference/responses/items.ts'

test('log probabilities are removed unread: a long list is parsed from its text when it is read', () => {
  let reads = 0
  const part = {
    type: 'output_text',
    text: 'Hi',
    annotations: [],
    get logprobs() {
      reads += 1
      return []
    },
  }
  const item = { type: 'message', id: 'msg_1', content: [part, { type: 'refusal', refusal: '' }] }
  expect(withoutLogprobs(item)).toEqual({
    type: 'message',
    id: 'msg_1',
    content: [
      { type: 'output_text', text: 'Hi', annotations: [] },
      { type: 'refusal', refusal: '' },
    ],
  })
  expect(reads).toBe(0)
})
