import { describe, expect, test } from 'bun:test'
import { mkdirSync } from 'node:fs'
import { openSources } from './sources.ts'

const { load, path, problemsOf, write } = openSources()

describe('the settings file', () => {
  test('is looked for in the working folder first, then in the data folder', async () => {
    mkdirSync(path('sluice-data'))
    const inData = write('sluice-data/sluice.yaml', 'port: 2')
    expect(await load()).toMatchObject({ port: 2, configFile: inData })
    const inWorkingFolder = write('sluice.yaml', 'port: 1')
    expect(await load()).toMatchObject({ port: 1, configFile: inWorkingFolder })
  })

  test('that is named is the only one that is read', async () => {
    write('sluice.yaml', 'port: 1')
    write('other.json', '{"port": 9}')
    expect((await load({ environment: { SLUICE_CONFIG: 'other.json' } })).port).toBe(9)
    expect((await load({ flags: { config: path('other.json') } })).port).toBe(9)
  })

  test('has its providers passed on unchanged, and may be empty', async () => {
    write('sluice.yaml', 'providers:\n  - slug: lab\n    api_key: ${LAB_KEY}\n')
    expect((await load()).providers).toEqual([{ slug: 'lab', api_key: '${LAB_KEY}' }])
    write('sluice.yaml', '# nothing yet\n')
    expect((await load()).providers).toEqual([])
  })

  const BOMB = [
    'a: &a [x, x, x, x, x, x, x, x, x]',
    ...['b', 'c', 'd', 'e', 'f'].map(
      (name, index) => `${name}: &${name} [${Array(9).fill(`*${'abcde'[index]}`).join(', ')}]`,
    ),
  ].join('\n')
  const broken: [what: string, content: string, says: RegExp][] = [
    ['unclosed list', 'port: 1\nhost: [a\nfoo: b\n', /is not valid YAML: .*, in line 3, column \d/],
    ['bad JSON', '{\n"port": 1,\n "x": [1,\n "b": 2}\n', /is not valid YAML: .*, in line [45], column \d/],
    [
      'a duplicate key within an entry',
      'providers:\n  - slug: a\n    slug: b\n',
      /twice, in line 3, column 5/,
    ],
    ['an alias without an anchor', 'host: *a\n', /has an alias without an anchor, or too many aliases/],
    ['aliases that expand exponentially', BOMB, /has an alias without an anchor, or too many aliases/],
    ['a wrong value in a later line', '# first\n\nhost: "a b"\n', /host in .*sluice\.yaml, line 3\) must be/],
    ['a list', '- port: 1\n', /must hold settings as `name: value`/],
    ['two documents', 'port: 1\n---\nport: 2\n', /must be one document, in line 2, column 1/],
    ['a duplicate key', 'port: 1\nproviders: []\nport: 2\n', /a key is there twice, in line 3, column 1/],
    ['an unknown key', 'prot: 1\n', /prot in .*sluice\.yaml, line 1 is not a setting; did you mean port\?/],
    ['a variable as key', 'SLUICE_PORT: 1\n', /SLUICE_PORT in .* is not a setting; did you mean port\?/],
    ['a reserved key', 'database_url: x\n', /database_url in .* is reserved and not supported yet/],
    ['providers that are not a list', 'providers: { slug: lab }\n', /providers in .* must be a list/],
    [
      'a wrong value',
      'port: many\n',
      /SLUICE_PORT \(port in .*sluice\.yaml, line 1\) must be a whole number/,
    ],
  ]
  test.each(broken)('%s', async (_what, content, says) => {
    write('sluice.yaml', content)
    expect((await problemsOf({})).join('\n')).toMatch(says)
  })

  test('that is named and missing is an error', async () => {
    const problems = await problemsOf({ environment: { SLUICE_CONFIG: 'absent.yaml' } })
    expect(problems).toEqual([`SLUICE_CONFIG: ${path('absent.yaml')} cannot be read: there is no such file`])
  })

  test('is not quoted by a syntax error, because it may have secrets', async () => {
    const broken = [
      'api_key: hunter2: hunter2',
      'api_key: "hunter2',
      'api_key: "\\qhunter2"',
      'api_key: *hunter2',
      'api_key: !hunter2 [',
      'port: 1\nhunter2\nhost: x',
      'port: 1\n}hunter2',
      'api_key: `hunter2`',
      'hunter2: &hunter2 hunter2: *hunter2',
    ]
    for (const content of broken) {
      write('sluice.yaml', content)
      const problems = (await problemsOf({})).join('\n')
      expect(problems).toMatch(/is not valid YAML|alias/)
      expect(problems).not.toContain('hunter2')
    }
  })

  test('has its lines named by problems with entries', async () => {
    write('sluice.yaml', 'port: 1\nproviders:\n  - slug: lab\n\n    dialect: what\n')
    const entryProblems = () => [
      'providers[0].dialect must be known',
      'providers[0].base_url is missing',
      'OPENAI is odd',
    ]
    expect(await problemsOf({ entryProblems })).toEqual([
      'providers[0].dialect (line 5) must be known',
      'providers[0].base_url (line 3) is missing',
      'OPENAI is odd',
    ])
  })

  test('can use merge keys and anchors', async () => {
    write('sluice.yaml', 'providers:\n  - &lab { slug: lab, dialect: chat }\n  - { <<: *lab, slug: other }\n')
    expect((await load()).providers).toEqual([
      { slug: 'lab', dialect: 'chat' },
      { slug: 'other', dialect: 'chat' },
    ])
  })
})
