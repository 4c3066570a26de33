import { describe, expect, test } from 'bun:test'
import { serverTools } from '../../src/tools/index.ts'
import { contextOf, noTools } from './context.ts'

const MIDSUMMER = Date.UTC(2026, 5, 21, 12, 0, 5)

function run(name: string, args: Record<string, unknown>, parameters: Record<string, unknown> = {}) {
  const tool = serverTools.find((each) => each.name === name)
  if (!tool) throw new Error(`no tool ${name}`)
  return tool.run(args, contextOf({ parameters, now: () => MIDSUMMER }))
}

test('names are those that a provider takes as a part of a function name', () => {
  for (const { name } of serverTools) expect(name).toMatch(/^[a-z_]{1,40}$/)
})

describe('datetime', () => {
  test.each([
    [{}, {}, '2026-06-21T12:00:05+00:00', 'UTC'],
    [{}, { timezone: 'Europe/Zurich' }, '2026-06-21T14:00:05+02:00', 'Europe/Zurich'],
    [{ timezone: 'Asia/Kathmandu' }, { timezone: 'UTC' }, '2026-06-21T17:45:05+05:45', 'Asia/Kathmandu'],
  ])('%j with %j is %s', async (args, parameters, at, timezone) => {
    const { text, item } = await run('datetime', args, parameters)
    expect(item).toEqual({ datetime: at, timezone })
    expect(text).toBe(`${at} (Sunday, ${timezone})`)
  })

  test.each(['Mars/Base', 7, 'x'.repeat(1_000)])(
    'the zone %p is an error for the model',
    async (timezone) => {
      await expect(run('datetime', { timezone })).rejects.toThrow('IANA')
    },
  )

  test('an unknown zone of the request is a 400 that names its place', () => {
    const tool = serverTools.find(({ name }) => name === 'datetime')
    expect(() => tool?.describe({ timezone: 'Mars' }, 'tools[2].parameters', noTools)).toThrow(
      'tools[2].parameters.timezone: must be a time zone',
    )
  })
})

describe('calculator', () => {
  test.each([
    ['1 + 2 * 3', '7'],
    ['(1 + 2) * 3', '9'],
    ['2 ^ 3 ^ 2', '512'],
    ['2 ** 10', '1024'],
    ['-2 ^ 2', '-4'],
    ['2 ^ -1', '0.5'],
    ['0.1 + 0.2', '0.3'],
    ['10 % 4 - --1', '1'],
    ['sqrt(16) + max(1, 2, 3)', '7'],
    ['round(100 * ln(e)) / 3', '33.3333333333333'],
    ['1.5e3 + .5', '1500.5'],
    ['cos(pi)', '-1'],
  ])('%s is %s', async (expression, expected) => {
    expect((await run('calculator', { expression })).text).toBe(expected)
  })

  test.each([
    ['', 'ends too early'],
    ['1 +', 'ends too early'],
    ['2 $ 3', 'unexpected "$" at character 3'],
    ['1 / 0', 'division by zero'],
    ['(1', 'ends too early'],
    ['process.exit(1)', '"process" is not known'],
    ['constructor(1)', '"constructor" is not known'],
    ['sqrt 4', 'needs its arguments in brackets'],
    ['sqrt(0 - 1)', 'not a finite number'],
    ['9 ^ 9 ^ 9', 'not a finite number'],
  ])('%s is refused with what is wrong', async (expression, sentence) => {
    await expect(run('calculator', { expression })).rejects.toThrow(sentence)
  })

  test('depth and length are bounded', async () => {
    for (const expression of ['('.repeat(1_000), '2^'.repeat(500), 'abs('.repeat(400)])
      await expect(run('calculator', { expression })).rejects.toThrow('levels of brackets')
    await expect(run('calculator', { expression: '1+'.repeat(5_000) })).rejects.toThrow('at most 2000')
  })

  test('an expression that is not text is refused', async () => {
    await expect(run('calculator', { expression: [1] })).rejects.toThrow('must be a text')
  })
})
