import { describe, expect, test } from 'bun:test'
import type { InferenceEvent } from '../../../src/core/events.ts'
import type { FunctionTool, Tool } from '../../../src/core/request.ts'
import { createToolWatch } from '../../../src/inference/reply/tool-watch.ts'

const weather: FunctionTool = {
  type: 'function',
  name: 'weather',
  parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
}
const now: FunctionTool = { type: 'function', name: 'now' }
const search: Tool = { type: 'other', data: { type: 'web_search' } }

let index = 0
const call = (name: string, ...jsons: string[]): InferenceEvent[] => {
  const place = { choice: 0, index: index++ }
  return [
    { type: 'tool-call-start', ...place, id: `call-${place.index}`, name },
    ...jsons.map((json): InferenceEvent => ({ type: 'tool-call-delta', ...place, json })),
  ]
}
function counts(tools: Tool[], events: InferenceEvent[]) {
  const watch = createToolWatch(tools)
  for (const event of events) {
    if (event.type === 'tool-call-start' || event.type === 'tool-call-delta') watch?.see(event)
  }
  return watch?.counts() ?? null
}

describe('a call of a tool', () => {
  test.each<[string, InferenceEvent[], number]>([
    ['with its required field is valid', call('weather', '{"city":', '"Bern"}'), 1],
    ['with further fields is valid', call('weather', '{"city":"Bern","days":2}'), 1],
    ['without a required field is not', call('weather', '{"town":"Bern"}'), 0],
    ['with a field that every object inherits is not', call('weather', '{"__proto__":1}'), 0],
    ['whose arguments are cut off is not', call('weather', '{"city":"Be'), 0],
    ['whose arguments are a list is not', call('weather', '["Bern"]'), 0],
    ['of a name that the request does not declare is not', call('forecast', '{"city":"Bern"}'), 0],
    ['without arguments is valid if none is required', call('now'), 1],
    ['without arguments is not if one is required', call('weather', ''), 0],
  ])('%s', (_, events, valid) => expect(counts([weather, now], events)).toEqual({ valid, all: 1 }))

  test('of a built-in tool is not judged', () => {
    expect(counts([weather, search], call('web_search', '{"query":"Bern"}'))).toBeNull()
    expect(counts([weather, search], call('weather', '{}'))).toEqual({ valid: 0, all: 1 })
  })

  test('with more than 64 KB of arguments is not judged, nor is the 33rd call', () => {
    expect(counts([weather], call('weather', `{"city":"${'x'.repeat(65_536)}"}`))).toBeNull()
    const many = Array.from({ length: 40 }, () => call('weather', '{"city":"Bern"}')).flat()
    expect(counts([weather], many)).toEqual({ valid: 32, all: 32 })
  })
})

test('a request without functions is not watched, and a reply without calls counts nothing', () => {
  expect(createToolWatch([])).toBeNull()
  expect(createToolWatch([search])).toBeNull()
  expect(counts([weather], [])).toBeNull()
})
