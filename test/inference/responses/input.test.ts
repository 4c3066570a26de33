import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { badRequest } from '../../../src/core/errors.ts'
import type { JsonObject } from '../../../src/core/events.ts'
import { resolveInput, withCallerPlaces } from '../../../src/inference/responses/input.ts'
import { inputItems, isReference, shownItem } from '../../../src/inference/responses/items.ts'
import { type StateOptions, stateOptionsOf } from '../../../src/inference/responses/state.ts'
import { response, type Store, startStore } from '../../bodies/fixture.ts'

const user = (text: string): JsonObject => ({ role: 'user', content: text })
const answered = (id: string, text: string): JsonObject => ({
  id,
  type: 'message',
  role: 'assistant',
  content: [{ type: 'output_text', text }],
})

const inputs: [input: unknown, items: JsonObject[] | null][] = [
  ['Hi', [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hi' }] }]],
  [[user('Hi')], [user('Hi')]],
  [[], []],
  [undefined, []],
  [null, []],
  [3, null],
  [['Hi'], null],
  [{ role: 'user' }, null],
]
test.each(inputs)('the items of %p', (input, items) => {
  expect(inputItems(input)).toEqual(items)
})

const references: [item: JsonObject, is: boolean][] = [
  [{ type: 'item_reference', id: 'msg_1' }, true],
  [{ id: 'msg_1' }, true],
  [{ id: 'msg_1', type: null }, true],
  [{ id: 'msg_1', role: 'user', content: 'Hi' }, false],
  [{ id: 'msg_1', type: 'message', role: 'user' }, false],
  [{ type: 'item_reference' }, false],
  [{ id: 7 }, false],
]
test.each(references)('%o is a reference: %p', (item, is) => {
  expect(isReference(item)).toBe(is)
})

const shown: [item: JsonObject, as: JsonObject & { id: string }][] = [
  [
    user('Hi'),
    { id: 'msg_00ff0011', type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hi' }] },
  ],
  [
    { role: 'assistant', content: 'Yes', id: 'own' },
    {
      id: 'own',
      type: 'message',
      role: 'assistant',
      content: [{ type: 'output_text', text: 'Yes', annotations: [] }],
    },
  ],
  [
    { type: 'function_call_output', call_id: 'call_1', output: '2' },
    { id: 'fco_00ff0011', type: 'function_call_output', call_id: 'call_1', output: '2' },
  ],
  [{ type: 'shell_call' }, { id: 'item_00ff0011', type: 'shell_call' }],
]
test.each(shown)('%o is shown with a type and an id', (item, as) => {
  expect(shownItem(item, 'resp_00ff', 17)).toEqual(as)
})

const asked: [body: JsonObject, state: Partial<StateOptions>][] = [
  [{}, { store: false, background: false, stream: false, previousResponseId: null }],
  [
    { store: null, background: null, previous_response_id: '' },
    { store: false, background: false, previousResponseId: null },
  ],
  [{ background: true }, { store: true, background: true }],
  [
    { background: true, store: null, stream: true },
    { store: true, background: true, stream: true },
  ],
  [
    { store: true, previous_response_id: 'resp_1' },
    { store: true, previousResponseId: 'resp_1' },
  ],
  [
    { store: 'yes', background: 1, previous_response_id: 3 },
    { store: false, background: false, previousResponseId: null },
  ],
]
test.each(asked)('%o asks for %o', (body, state) => {
  expect(stateOptionsOf(body)).toMatchObject(state)
})

test('background without being stored is refused', () => {
  expect(() => stateOptionsOf({ background: true, store: false })).toThrow('store: must not be false')
})

describe('a body that refers to earlier items', () => {
  let started: Store
  beforeEach(async () => {
    started = startStore()
    await started.store.keep(response('01'), {
      reply: { output: [answered('msg_a1', 'One')] },
      input: [user('1')],
      itemIds: ['msg_010000', 'msg_a1'],
    })
    await started.store.keep(response('02', { previousResponseId: 'resp_01' }), {
      reply: { output: [answered('msg_a2', 'Two')] },
      input: [user('2')],
      itemIds: ['msg_020000', 'msg_a2'],
    })
  })
  afterEach(() => started.stop())

  const resolve = (body: JsonObject) =>
    resolveInput(body, stateOptionsOf(body), 'workspace-a', { store: started.store, remembered: null })
  const conversation = [user('1'), answered('msg_a1', 'One'), user('2'), answered('msg_a2', 'Two')]

  test('is unchanged if it refers to nothing', async () => {
    const body = { input: 'Hi' }
    const resolved = await resolve(body)
    expect(resolved.body).toBe(body)
    expect(resolved).toMatchObject({ own: [{ role: 'user' }], turnIds: [], earlierItems: 0 })
    const wrong = { input: 3 }
    expect((await resolve(wrong)).body).toBe(wrong)
  })

  test('gets all earlier turns first, oldest first', async () => {
    const { body, own, turnIds, earlierItems } = await resolve({
      input: [user('3')],
      previous_response_id: 'resp_02',
    })
    expect(body['input']).toEqual([...conversation, user('3')])
    expect(own).toEqual([user('3')])
    expect({ turnIds, earlierItems }).toEqual({ turnIds: ['resp_01', 'resp_02'], earlierItems: 4 })
  })

  test('gets the items that it names, each once, and not those of the response that it continues', async () => {
    const named = ['msg_a1', 'msg_a1', 'msg_020000'].map((id) => ({ type: 'item_reference', id }))
    expect((await resolve({ input: named })).body['input']).toEqual([answered('msg_a1', 'One'), user('2')])
    const { body } = await resolve({ input: [...named, user('3')], previous_response_id: 'resp_02' })
    expect(body['input']).toEqual([...conversation, user('3')])
    // The first turn alone does not hold what the second one answered.
    const other = await resolve({ input: named, previous_response_id: 'resp_01' })
    expect(other.own).toEqual([user('2')])
  })

  test('may not name more items than are looked up', async () => {
    const input = Array.from({ length: 2_001 }, () => ({ type: 'item_reference', id: 'msg_a1' }))
    expect((await resolve({ input })).own).toEqual([answered('msg_a1', 'One')])
    const find = async (id: string) => ({ type: 'message', id })
    const remembered = { find, add: () => undefined, close: async () => undefined }
    const many = input.map((item, i) => ({ ...item, id: `rs_${i}` }))
    const refused = resolveInput({ input: many }, stateOptionsOf({}), 'workspace-a', {
      store: started.store,
      remembered,
    })
    await expect(refused).rejects.toThrow('input: refers to more than 2000 items: send the items themselves')
  })

  test('has its mistakes reported at its own paths', async () => {
    const resolved = await resolve({ input: [user('3')], previous_response_id: 'resp_02' })
    const words = (message: string) => {
      const error = withCallerPlaces(badRequest(message), resolved)
      return error instanceof Error ? error.message : error
    }
    expect(words('input[4].role: must be one of …')).toBe('input[0].role: must be one of …')
    expect(words('input[4].a: is wrong; input[5]: is wrong too')).toBe(
      'input[0].a: is wrong; input[1]: is wrong too',
    )
    expect(words('input[1].content: no')).toBe('previous_response_id (an earlier item).content: no')
    expect(words('model: names input[9]')).toBe('model: names input[9]')
    const other = new Error('input[4]: of another kind')
    expect(withCallerPlaces(other, resolved)).toBe(other)
  })
})
