import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createBudget, OF_REQUESTS } from '../../src/filters/budget.ts'
import { builtinsWith } from '../../src/filters/builtins/index.ts'
import { compileFilters } from '../../src/filters/compile.ts'
import { readNameList } from '../../src/filters/name-list.ts'
import { startGateway } from '../gateway.ts'
import { type FakeUpstream, startUpstream, streamed } from '../upstream.ts'
import { scanned } from './scanned.ts'

const NAMES = ['Ann', 'Ann Lee', 'Müller', 'Will', "O'Brien", 'Jean-Luc Picard', '王小明', 'A. (Bob) Ray']

describe('names of people', () => {
  const filters = compileFilters([{ slug: 'person-name', action: 'redact' }], [], builtinsWith(NAMES))
  const found = (text: string): string[] =>
    scanned(filters, text, createBudget()).flatMap(({ spans }) =>
      spans.map(({ start, end }) => text.slice(start, end)),
    )

  const rows: { text: string; finds: string[] }[] = [
    { text: 'Ann met Ann Lee.', finds: ['Ann', 'Ann Lee'] },
    { text: 'Ann\n  Lee', finds: ['Ann\n  Lee'] },
    { text: 'Annual reports; JoAnn; Ann_1; Ann2', finds: [] },
    { text: 'Where there is a will, Will will.', finds: ['Will'] },
    { text: 'Frau Müller, Müllerstraße, Übermüller', finds: ['Müller'] },
    { text: "O'Brien and Jean-Luc Picard", finds: ["O'Brien", 'Jean-Luc Picard'] },
    { text: '(王小明)', finds: ['王小明'] },
    { text: 'Ask A. (Bob) Ray, not A. Bob Ray', finds: ['A. (Bob) Ray'] },
    { text: '𝒜Ann Ann𝒜 "Ann"', finds: ['Ann'] },
    { text: 'ANN and ann', finds: [] },
  ]
  test.each(rows)('$text', ({ text, finds }) => {
    expect(found(text)).toEqual(finds)
  })

  test('five thousand of them are looked for in one pass', () => {
    const many = Array.from({ length: 5000 }, (_, n) => `Person${n} Family${n}`)
    const watch = compileFilters([{ slug: 'person-name', action: 'flag' }], [], builtinsWith(many))
    const text = `${'lorem ipsum '.repeat(8000)} Person4321 Family4321`
    expect(scanned(watch, text, createBudget(OF_REQUESTS)).length).toBe(1)
    expect(scanned(watch, text.slice(0, -1), createBudget(OF_REQUESTS))).toEqual([])
  })
})

describe('the file of names', () => {
  let folder: string
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'sluice-names-'))
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  const rows: { what: string; bytes: string | Uint8Array; names?: string[]; problem?: string }[] = [
    {
      what: 'names, comments and blanks',
      bytes: '\ufeff# staff\r\nAnn  Lee\r\n\r\n  Bo \n',
      names: ['Ann Lee', 'Bo'],
    },
    { what: 'nothing', bytes: '# none\n', problem: 'has no name in it' },
    { what: 'a letter', bytes: 'Ann\nB\n', problem: 'has a name of one letter in line 2' },
    { what: 'too much', bytes: `${'Some Name\n'.repeat(30_000)}`, problem: 'and 100000 are the most' },
    {
      what: 'another encoding',
      bytes: new Uint8Array([77, 252, 108, 108, 101, 114]),
      problem: 'is not UTF-8',
    },
  ]
  test.each(rows)('$what', ({ bytes, names = [], problem }) => {
    const path = join(folder, 'names.txt')
    writeFileSync(path, bytes)
    const read = readNameList(path)
    expect([...read.names]).toEqual(names)
    expect(read.problems.map(({ message }) => message)).toEqual(
      problem === undefined ? [] : [expect.stringContaining(problem)],
    )
  })

  test('that is not there', () => {
    expect(readNameList(join(folder, 'no')).problems).toEqual([
      { path: 'SLUICE_PERSON_NAMES', message: `${join(folder, 'no')} cannot be read` },
    ])
  })
})

describe('a guardrail that looks for them', () => {
  let upstream: FakeUpstream
  const entry = () => ({
    slug: 'lab',
    base_url: upstream.baseUrl,
    models: [{ id: 'tiny', pricing: { prompt: '0', completion: '0' } }],
  })
  const filters = [{ slug: 'person-name', action: 'redact', apply_to: 'both' }]
  beforeAll(() => {
    upstream = startUpstream()
  })
  afterAll(() => upstream.stop())

  test('finds them in requests and in answers, cut anywhere', async () => {
    const gateway = await startGateway({ providers: [entry()], personNames: NAMES })
    upstream.on('tiny', streamed(['I know A', 'nn', ' L', 'ee and Joann.']))
    const { key } = await gateway.makeGuardedKey({ content_filter_builtins: filters })
    const body = { model: 'tiny', stream: true, messages: [{ role: 'user', content: 'Who is Ann Lee?' }] }
    const reply = await gateway.call('/chat/completions', body, { authorization: `Bearer ${key}` })
    const text = [...(await reply.text()).matchAll(/"content":"([^"]*)"/g)].map(([, piece]) => piece).join('')
    expect(text).toBe('I know [REDACTED:person-name] and Joann.')
    expect(JSON.stringify(upstream.seen.at(-1)?.body)).toContain('Who is [REDACTED:person-name]?')
    await gateway.stop()
  })

  test('is refused where there is no list, and one from before stops requests and says why', async () => {
    const gateway = await startGateway({ providers: [entry()] })
    const refused = await gateway.manage('POST', '/guardrails', {
      name: 'G',
      content_filter_builtins: filters,
    })
    expect(refused.status).toBe(400)
    expect((await refused.json()).error.message).toContain('SLUICE_PERSON_NAMES')
    const { key, guardrailId } = await gateway.makeGuardedKey({})
    gateway.database.file.run('UPDATE guardrails SET content_filter_builtins = ? WHERE id = ?', [
      JSON.stringify(filters),
      guardrailId,
    ])
    gateway.deps.snapshot.applyChanges()
    const body = { model: 'tiny', messages: [{ role: 'user', content: 'Who is Ann Lee?' }] }
    const asked = await gateway.call('/chat/completions', body, { authorization: `Bearer ${key}` })
    expect(asked.status).toBe(503)
    expect((await asked.json()).error.message).toContain('no list of them')
    await gateway.stop()
  })
})
