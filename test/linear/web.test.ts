import { expect, test } from 'bun:test'
import { findCitations } from '../../src/core/citations.ts'
import { shownResults } from '../../src/core/web-text.ts'
import { readRobots } from '../../src/tools/web-fetch/robots.ts'
import { growthOf, growthText, isQuick } from './timing.ts'

/** Texts of sites, search engines and models, which the thread of all requests reads. */

const RESULT = { url: 'https://example.com/a', title: 'A', text: '' }

const TEXTS: Readonly<Record<string, (n: number) => string>> = {
  'open brackets': (n) => '['.repeat(n),
  'closed brackets': (n) => ']'.repeat(n),
  'links without end': (n) => '[a]('.repeat(n),
  'links to a result': (n) => '[a](https://example.com/a)'.repeat(n / 20),
  'elements that are closed': (n) => '</web_result>'.repeat(n / 10),
}

test.each(Object.entries(TEXTS))('%s cost as much as they are long', async (_, text) => {
  const finding = await growthOf(100_000, text, (answer) => findCitations([RESULT]).see(answer))
  const showing = await growthOf(100_000, text, (page) => shownResults([{ ...RESULT, text: page }]))
  expect([finding, showing].filter(({ isLinear }) => !isLinear).map(growthText)).toEqual([])
})

const ROBOTS: Readonly<Record<string, (n: number) => string>> = {
  'agents without rules': (n) => 'user-agent: x\n'.repeat(n),
  'one agent named often, then a rule': (n) => `${'user-agent: *\n'.repeat(n)}disallow: /a`,
  'many agents, then a rule': (n) =>
    `${Array.from({ length: n }, (_, i) => `user-agent: ${i}`).join('\n')}\ndisallow: /a`,
  rules: (n) => `user-agent: *\n${'disallow: /*a*b*c$\n'.repeat(n)}`,
  'lines without a colon': (n) => 'x\n'.repeat(n),
}

test.each(Object.entries(ROBOTS))('a robots.txt of %s too', async (_, text) => {
  const reading = await growthOf(8_000, text, (robots) => readRobots(robots, ['sluice']))
  expect(reading.isLinear ? '' : growthText(reading)).toBe('')
})

test('a thousand rules are compared with a long address quickly', async () => {
  const rules = readRobots(`user-agent: *\n${`disallow: /${'a*'.repeat(200)}b\n`.repeat(5_000)}`, ['sluice'])
  expect(await isQuick(() => rules.permits(`/${'a'.repeat(100_000)}`))).toBe(true)
})
