import { describe, expect, test } from 'bun:test'
import type { JsonText } from '../../../src/core/json-steps.ts'
import { createEventWriter, jsonList, jsonWith, MUTE } from '../../../src/dialects/responses/write-events.ts'
import { createBlockSplitter } from '../../../src/inference/responses/event-log.ts'

const textOf = (json: JsonText): string => [json].flat().join('')

/** Values that the end of a stream repeats are serialized once, with the same bytes as if serialized each time. */
describe('JSON text of repeated values', () => {
  test('an object with known texts is written as JSON.stringify does', () => {
    const object = { a: 1, list: [{ x: 'y' }], none: undefined, text: 'z\u2028"', last: null }
    const known = new Map([['list', '[{"x":"y"}]']])
    const json = textOf(jsonWith(object, known))
    expect(JSON.parse(json)).toEqual(JSON.parse(JSON.stringify(object)))
    expect(json).not.toContain('\u2028')
    expect(jsonWith({ constructor: 1 }, new Map())).toBe('{"constructor":1}')
    expect(jsonList([])).toBe('[]')
    expect(jsonList(['1', '{}'])).toBe('[1,{}]')
  })

  test('a growing list has the JSON of its items, also if it is never written', () => {
    for (const events of [createEventWriter(), MUTE]) {
      const list = events.createList()
      list.add([{ token: 'a' }, { token: '\u2028' }])
      list.add([])
      list.add([{ token: 'b' }])
      expect(list.values()).toEqual([{ token: 'a' }, { token: '\u2028' }, { token: 'b' }])
    }
  })

  test('a long list has the JSON of its items, however many of them come at once', () => {
    for (const size of [1, 7, 5000]) {
      const list = createEventWriter().createList()
      const tokens = Array.from({ length: 20_000 }, (_, index) => ({ token: `a${index}` }))
      for (let at = 0; at < tokens.length; at += size) list.add(tokens.slice(at, at + size))
      const json = list.json()
      expect(Array.isArray(json)).toBe(true)
      expect(textOf(json) === JSON.stringify(tokens)).toBe(true)
    }
  })

  test('an object is serialized once', () => {
    const events = createEventWriter()
    let reads = 0
    const item = {
      get text() {
        reads += 1
        return 'long'
      },
    }
    events.remember(item, events.jsonOf(item))
    expect(events.jsonOf(item)).toBe('{"text":"long"}')
    expect(reads).toBe(1)
  })
})

test('a stream in pieces is split into complete blocks wherever the pieces end', () => {
  const stream = 'event: a\ndata: {"a":1}\n\nevent: b\ndata: {"b":2}\n\ndata: [DONE]\n\n'
  for (let size = 1; size <= stream.length; size++) {
    const completedBy = createBlockSplitter()
    const blocks: string[] = []
    for (let at = 0; at < stream.length; at += size) {
      const completed = completedBy(stream.slice(at, at + size))
      if (completed !== '') blocks.push(completed)
    }
    expect(blocks.join('')).toBe(stream)
    expect(blocks.every((block) => block.endsWith('\n\n'))).toBe(true)
  }
})
