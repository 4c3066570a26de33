import { describe, expect, test } from 'bun:test'
import type { InferenceEvent, InferenceFrame, JsonObject } from '../../../src/core/events.ts'
import { plainFrame } from '../../../src/core/events.ts'
import { type Healing, healedFrames } from '../../../src/plugins/response-healing/frames.ts'

const said = (text: string): InferenceFrame => plainFrame(text, [JSON.stringify(text).slice(1, -1)])
const ended = (reason: 'stop' | 'length' | 'content_filter' = 'stop'): InferenceFrame => ({
  events: [{ type: 'response-end', finishes: [{ choice: 0, reason, native: null }] }],
})
const thought: InferenceFrame = { events: [{ type: 'reasoning-delta', choice: 0, text: 'Hm.' }] }
const native = (data: unknown): InferenceEvent => ({ type: 'native', dialect: 'messages', data })

async function* batches(frames: readonly InferenceFrame[]) {
  for (const frame of frames) yield [frame]
}

/** The batches that leave, and what was reported. */
async function run(frames: readonly InferenceFrame[], healing: Partial<Healing> = {}) {
  const reports: JsonObject[] = []
  const out: InferenceFrame[][] = []
  const given: Healing = { schema: null, isStream: true, report: (data) => reports.push(data), ...healing }
  let error: unknown
  try {
    for await (const batch of healedFrames(batches(frames), given)) out.push([...batch])
  } catch (caught) {
    error = caught
  }
  return { out, frames: out.flat(), reports, error }
}

test('a whole answer leaves with its very frames', async () => {
  const frames = [thought, said('{"a"'), said(': 1}'), ended()]
  const { frames: left, reports } = await run(frames)
  expect(left).toEqual(frames)
  expect(left[1]).toBe(frames[1]!)
  expect(reports).toEqual([{ held_back: true, choices: [{ choice: 0, result: 'whole' }] }])
})

test('a whole answer that is not streamed is not reported', async () => {
  expect((await run([said('{}'), ended()], { isStream: false })).reports).toEqual([])
})

test('thoughts leave before the answer has ended', async () => {
  const { out } = await run([thought, said('{'), said('}'), ended()])
  expect(out.map((batch) => batch.length)).toEqual([1, 3])
})

test('a broken answer is one piece of text', async () => {
  const { frames, reports } = await run([said('```json\n{"a": 1'), said(',}\n```'), ended()])
  expect(frames).toEqual([{ events: [{ type: 'text-delta', choice: 0, text: '{"a": 1}' }] }, ended()])
  expect(reports).toEqual([
    { held_back: true, choices: [{ choice: 0, result: 'healed', repairs: ['commas', 'code_fence'] }] },
  ])
})

test("the provider's own form of a broken answer is left out, and that of a whole one stays", async () => {
  const broken = [{ events: [native({ a: 1 })] }, said('{a: 1}'), ended()]
  expect((await run(broken)).frames.flatMap(({ events }) => events.map(({ type }) => type))).toEqual([
    'text-delta',
    'response-end',
  ])
  const whole = [{ events: [native({ a: 1 })] }, said('{}'), ended()]
  expect((await run(whole)).frames).toEqual(whole)
})

test('log probabilities of a broken answer are left out', async () => {
  const logprobs: InferenceFrame = { events: [{ type: 'logprobs', choice: 0, logprobs: {} }] }
  expect((await run([said('{a: 1}'), logprobs, ended()])).frames).toHaveLength(2)
})

test('each choice is judged by itself', async () => {
  const other: InferenceFrame = { events: [{ type: 'text-delta', choice: 1, text: '{b: 2}' }] }
  const { frames, reports } = await run([said('{}'), other, ended()])
  expect(frames).toEqual([
    { events: said('{}').events },
    { events: [{ type: 'text-delta', choice: 1, text: '{"b": 2}' }] },
    ended(),
  ])
  expect(reports[0]?.['choices']).toMatchObject([{ result: 'whole' }, { result: 'healed' }])
})

describe('what is not an answer in JSON stays as it is', () => {
  const call: InferenceEvent = { type: 'tool-call-start', choice: 0, index: 0, id: 'c', name: 'f' }
  const refusal: InferenceEvent = { type: 'refusal-delta', choice: 0, text: 'No.' }
  test.each([
    ['a call', [said('Let me see'), { events: [call] }, ended()]],
    ['a refusal', [{ events: [refusal] }, ended()]],
    ['an answer that a filter ended', [said('{"a'), ended('content_filter')]],
  ])('%s', async (_, frames) => {
    expect(await run(frames)).toMatchObject({ frames, error: undefined })
  })
})

describe('an answer that cannot be repaired', () => {
  test('is a 502 that says what failed and how to ask again', async () => {
    const { out, error, reports } = await run([said('I cannot.'), ended()])
    expect(out).toEqual([])
    expect(error).toMatchObject({
      status: 502,
      message:
        'The model\'s answer is not JSON: it contains no JSON. It could not be repaired; {"id": "response-healing", "retry": 1} asks the model once more',
    })
    expect(reports).toEqual([
      { choices: [{ choice: 0, result: 'failed', reason: 'is not JSON: it contains no JSON' }] },
    ])
  })

  test('is asked for once more if the caller wants that', async () => {
    const asked: string[] = []
    const again = (answer: string, reason: string): Promise<string> => {
      asked.push(answer, reason)
      return Promise.resolve('{"a": 1,}')
    }
    const { frames, reports } = await run([said('I cannot.'), ended()], { again })
    expect(asked).toEqual(['I cannot.', 'is not JSON: it contains no JSON'])
    expect(frames[0]).toEqual({ events: [{ type: 'text-delta', choice: 0, text: '{"a": 1}' }] })
    expect(reports[0]?.['choices']).toEqual([
      { choice: 0, result: 'healed', repairs: ['asked_again', 'commas'] },
    ])
  })

  test('twice is a 502, too', async () => {
    const { error } = await run([said('No.'), ended()], { again: () => Promise.resolve('') })
    expect(error).toMatchObject({ status: 502 })
    expect(String(error)).toContain(
      'is not JSON: it is empty. It could not be repaired, and its second answer neither',
    )
  })
})

test('an error of the provider comes through, without half of an answer', async () => {
  async function* failing() {
    yield [said('{"a"')]
    throw new Error('cut')
  }
  const left: InferenceFrame[] = []
  const reading = (async () => {
    const healing = { schema: null, isStream: true, report: () => undefined }
    for await (const batch of healedFrames(failing(), healing)) left.push(...batch)
  })()
  await expect(reading).rejects.toThrow('cut')
  expect(left).toEqual([])
})

test.each([said('a'.repeat(100_000)), said('')])('a reply without end is not held back', async (frame) => {
  let read = 0
  async function* endless() {
    for (; read < 10_000; read++) yield Array.from({ length: 100 }, () => frame)
  }
  const healing: Healing = { schema: null, isStream: true, report: () => undefined }
  const leaving = Array.fromAsync(healedFrames(endless(), healing))
  expect(leaving).rejects.toThrow('longer than 4000000 characters')
  await leaving.catch(() => undefined)
  expect(read).toBeLessThan(6_000)
})

test('between two long answers the event loop serves others', async () => {
  let turns = 0
  const long = (choice: number): InferenceFrame => ({
    events: [{ type: 'text-delta', choice, text: `[${'"a" + '.repeat(15_000)}` }],
  })
  const count = setInterval(() => {
    turns += 1
  }, 0)
  await run([0, 1, 2, 3].map(long), { again: async () => '{}' })
  clearInterval(count)
  expect(turns).toBeGreaterThan(1)
})
