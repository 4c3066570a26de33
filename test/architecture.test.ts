import { describe, expect, test } from 'bun:test'
import { basename, join } from 'node:path'
import manifest from '../package.json' with { type: 'json' }
import { vendors } from '../src/providers/compatible.ts'
import { cycles, folderOf, importing, imports, linesWith, nowhere, own, sources, src } from './source-tree.ts'

/**
 * The map of ARCHITECTURE.md, as rules. Imports point from a higher rank to a lower one; two folders of one rank do not
 * know each other, except what `beside` names.
 */
const ranks: Readonly<Record<string, number>> = {
  core: 0,
  http: 1,
  db: 1,
  net: 1,
  threads: 1,
  dialects: 2,
  providers: 2,
  plugins: 2,
  tools: 2,
  exporters: 2,
  metrics: 2,
  filters: 2,
  catalog: 3,
  bodies: 3,
  delivery: 3,
  files: 3,
  ledger: 3,
  snapshot: 3,
  inference: 3,
  admin: 4,
  backup: 4,
  dashboard: 4,
  docs: 4,
  config: 5,
  server: 5,
  cli: 5,
}
/** Routes connect a folder to HTTP: they rank above the folder. */
const ROUTES_RANK = 4
/** Files directly in src/ connect the rest; the version is a constant that every file may import. */
const WIRING_RANK = 5
const CONSTANTS = ['version.ts']
/** State that a process of the operating system has once, such as its locks. */
const HELD_BY_PROCESS = ['db/lock.ts']
/** Assets that travel inside the binary: needed to build it, not to run it. */
const EMBEDDED = ['swagger-ui-dist']
const beside: readonly (readonly [from: string, to: string])[] = [
  ['inference', 'ledger'],
  ['delivery', 'ledger'],
  ['delivery', 'bodies'],
  // Fields are declared with their schemas.
  ['db', 'http'],
]
const never: readonly (readonly [from: string, to: string, why: string])[] = [
  ...['inference', 'dialects', 'providers', 'plugins', 'tools'].flatMap(
    (from) =>
      [
        [from, 'db', 'the hot path runs no SQL'],
        [from, 'admin', 'the data plane does not know the control plane'],
      ] as const,
  ),
  ['admin', 'inference', 'the control plane does not know the data plane'],
]

function rankOf(file: string): number {
  if (CONSTANTS.includes(file)) return 0
  const folder = folderOf(file)
  if (folder === '') return WIRING_RANK
  const rank = ranks[folder]
  if (rank === undefined) throw new Error(`src/${folder} has no rank: add it to the map`)
  return basename(file) === 'routes.ts' ? Math.max(rank, ROUTES_RANK) : rank
}

describe('imports point one way', () => {
  test('the scan finds the files and their imports', () => {
    expect(sources.length).toBeGreaterThan(50)
    expect(own.length).toBeGreaterThan(100)
  })

  test('from a higher rank to a lower one', () => {
    const wrong = own.filter(({ file, target }) => {
      const [from, to] = [folderOf(file), folderOf(target)]
      if (from === to || rankOf(file) > rankOf(target)) return false
      const isWiring = rankOf(file) === WIRING_RANK && rankOf(target) === WIRING_RANK
      return !isWiring && !beside.some(([a, b]) => a === from && b === to)
    })
    expect(wrong.map(({ file, target }) => `${file} → ${target}`)).toEqual([])
  })

  test('and never across these lines', () => {
    const wrong = own.flatMap(({ file, target }) =>
      never
        .filter(([from, to]) => folderOf(file) === from && folderOf(target) === to)
        .map(([, , why]) => `${file} → ${target}: ${why}`),
    )
    expect(wrong).toEqual([])
  })

  test('without cycles, of types and of `import()` neither', () => {
    expect(cycles()).toEqual([])
  })

  test('core imports nothing else and does no I/O', () => {
    const outside = imports.filter(
      ({ file, target }) => folderOf(file) === 'core' && folderOf(target) !== 'core',
    )
    // A hash is a pure function.
    expect(
      outside
        .filter(({ target }) => target !== 'node:crypto')
        .map(({ file, target }) => `${file} → ${target}`),
    ).toEqual([])
  })

  test('no import is undeclared', () => {
    const known = new Set([...Object.keys(manifest.dependencies), ...EMBEDDED, 'bun', 'bun:sqlite'])
    const packageOf = (target: string): string =>
      target
        .split('/')
        .slice(0, target.startsWith('@') ? 2 : 1)
        .join('/')
    const foreign = imports.filter(({ target, isOurs }) => !isOurs && !target.startsWith('node:'))
    expect(
      foreign
        .filter(({ target }) => !known.has(packageOf(target)))
        .map(({ file, target }) => `${file} → ${target}`),
    ).toEqual([])
  })
})

describe('each thing has its place', () => {
  const isRoute = (file: string): boolean => basename(file) === 'routes.ts'
  const isSchema = (file: string): boolean => /(?:^|-)schema\.ts$/.test(basename(file))

  test('Elysia: app, http, routes, and its `t` in schemas', () => {
    const isAllowed = (file: string): boolean =>
      /^app(-\w+)?\.ts$/.test(file) || file.startsWith('http/') || isRoute(file) || isSchema(file)
    expect(importing(/^elysia$|^@elysiajs\//, isAllowed)).toEqual([])
    const schemas = sources.filter(({ file }) => isSchema(file) && !file.startsWith('http/'))
    const more = schemas.flatMap(({ file, text }) =>
      [...text.matchAll(/import (.+) from 'elysia'/g)]
        .filter(([, names]) => !/^(type )?\{ (type \w+, )*t(, type \w+)* \}$/.test(names ?? ''))
        .map(([line]) => `${file}: ${line}`),
    )
    expect(more).toEqual([])
  })

  test('SQL dialects and drivers: db/columns.ts and db/database.ts', () => {
    const isAllowed = (file: string): boolean => file === 'db/columns.ts' || file === 'db/database.ts'
    expect(importing(/^drizzle-orm\/|^bun:sqlite$|^pg$|^postgres$/, isAllowed)).toEqual([])
  })

  test('synchronous SQL: db, ledger, delivery, backup, and what the Snapshot is built from', () => {
    // A change and the Snapshot with it are one turn, so the Snapshot reads at once, and routing with it.
    const built = ['admin/providers/stored.ts', 'admin/providers/models/overrides.ts']
    const isAllowed = (file: string): boolean =>
      /^(db|ledger|delivery|backup|snapshot)\//.test(file) || built.includes(file)
    expect(linesWith(/\bsync\b|\btransact\(/, isAllowed)).toEqual([])
    expect(
      linesWith(/\.(get|all|run)\(\)/, (file) => isAllowed(file) || !/^(admin|inference)\//.test(file)),
    ).toEqual([])
    // Pragmas, and commands that examine the file of a stopped server or a copy.
    const examines = [
      'bodies/room.ts',
      'bodies/verify.ts',
      'files/verify.ts',
      'cli/usage-source.ts',
      'cli/doctor-data.ts',
    ]
    expect(
      linesWith(
        /\bfile\b\s*\.(query|run|exec|prepare)\b/,
        (file) => isAllowed(file) || examines.includes(file),
      ),
    ).toEqual([])
  })

  test('the environment: config.ts', () => {
    // Named exception: the SQL dialect is chosen when the tables are defined.
    const isAllowed = (file: string): boolean => file === 'config.ts' || file === 'db/columns.ts'
    expect(linesWith(/\b(process|Bun|import\.meta)\.env\b/, isAllowed)).toEqual([])
    expect(linesWith(/\{[^}]*\benv\b[^}]*\} = (process|Bun)\b/, isAllowed)).toEqual([])
  })

  test('calls outward: net, and the client of the command line', () => {
    const isAllowed = (file: string): boolean => /^(net|cli|dashboard)\//.test(file)
    expect(
      linesWith(/(^|[^.\w])fetch\(|globalThis\.fetch|new WebSocket\(|Bun\.connect\(/, isAllowed),
    ).toEqual([])
    expect(importing(/^(node:)?(https?|http2|net|tls|dgram)$/, isAllowed)).toEqual([])
  })

  test('provider slugs in conditions: providers', () => {
    const slugs = [...vendors.map(({ slug }) => slug), 'ollama', 'lmstudio', 'sluice'].map((slug) =>
      slug.replaceAll('.', '\\.'),
    )
    const condition = new RegExp(
      `([!=]==? |case |includes\\(|startsWith\\()['"\`](${slugs.join('|')})/?['"\`]`,
    )
    const isAllowed = (file: string): boolean => /^(providers|cli)\//.test(file)
    // A search engine of the web plugin is not a provider, although one has a provider's name.
    const found = linesWith(condition, isAllowed, 'text').filter((line) => !line.includes('(engine ==='))
    expect(found).toEqual([])
  })

  test('error bodies: the envelope, and the writers of dialects', () => {
    const isAllowed = (file: string): boolean =>
      file === 'http/envelope.ts' || /^(dialects|cli|dashboard)\//.test(file)
    // Schemas describe the body; they do not build one.
    expect(linesWith(/\berror: \{ ?(code|message|type)\b(?!: t\.)/, isAllowed)).toEqual([])
    expect(
      linesWith(
        /\bnew Response\(/,
        (file) => /^(http|net|providers|inference)\//.test(file) || file === 'app.ts',
      ),
    ).toEqual([])
  })
})

describe('nothing happens at import', () => {
  test('no statement at the top of a module opens, connects or starts a clock', () => {
    const action =
      /^(export )?(const \w+[^=]*= )?(await\b|new (SqliteFile|Database|Elysia|Worker|WebSocket)\b|(Bun\.(serve|listen|connect|spawn)|fetch|setInterval|setTimeout|openDatabase|drizzle|pino)\()/
    expect(linesWith(action, (file) => file === 'main.ts')).toEqual([])
  })
})

describe('state has an owner', () => {
  test('no module keeps a registry: state lives in the Snapshot, in Deps or in the object itself', () => {
    const registry = /^(export )?(const|let) [a-z]\w+(: [^=]+)? = new (Map|Set|WeakMap|WeakSet)(<[^(]*>)?\(\)/
    expect(linesWith(registry, (file) => HELD_BY_PROCESS.includes(file))).toEqual([])
  })
})

describe('style that no linter sees', () => {
  test('no casts, no `any`, no silenced tools, no reminders', () => {
    const cast = /[\w)\]}'] as (?!const\b)[A-Za-z{([]/
    const isImport =
      /^\s*(import|export) .* as |^\s*(type )?\w+ as \w+,?$|import \* as|\[\w+ in keyof \w+ as /
    const casts = linesWith(cast, (file) => file === 'db/columns.ts').filter(
      (line) => !isImport.test(line.replace(/^\S+: /, '')),
    )
    expect(casts).toEqual([])
    expect(linesWith(/[:<(|,]\s*any\b(?!\w)\s*[>,;)|[=\]]/, nowhere)).toEqual([])
    expect(
      linesWith(/@ts-(ignore|expect-error|nocheck)|biome-ignore|\bTODO\b|\bFIXME\b|\bXXX\b/, nowhere, 'text'),
    ).toEqual([])
  })

  test('named exports; no classes but errors', () => {
    expect(linesWith(/^export default\b/, (file) => file.startsWith('dashboard/'))).toEqual([])
    expect(linesWith(/^\s*(export )?(abstract )?class (?!\w+ extends \w*Error\b)/, nowhere)).toEqual([])
  })

  test('files are kebab-case nouns of at most 300 lines', () => {
    const badName = sources.filter(
      ({ file }) => !file.split('/').every((part) => /^[a-z0-9]+(-[a-z0-9]+)*(\.d)?(\.tsx?)?$/.test(part)),
    )
    expect(badName.map(({ file }) => file)).toEqual([])
    const vague = sources.filter(({ file }) =>
      /(^|\/)(utils?|helpers?|common|shared|misc|manager|types)(\.ts|\/)/.test(file),
    )
    expect(vague.map(({ file }) => file)).toEqual([])
    const long = sources.filter(({ text }) => text.split('\n').length > 301)
    expect(long.map(({ file, text }) => `${file}: ${text.split('\n').length} lines`)).toEqual([])
  })
})

describe('dependencies', () => {
  test('few, exact, and without install scripts', () => {
    const direct = Object.entries(manifest.dependencies)
    expect(direct.length).toBeLessThanOrEqual(24)
    const loose = [...direct, ...Object.entries(manifest.devDependencies)].filter(
      ([, version]) => !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version),
    )
    expect(loose).toEqual([])
    expect(manifest.trustedDependencies).toEqual([])
  })

  test('each package that runs with the server has its reason in docs/decisions/libraries.md', async () => {
    const page = await Bun.file(join(src, '../docs/decisions/libraries.md')).text()
    expect(Object.keys(manifest.dependencies).filter((name) => !page.includes(`\`${name}\``))).toEqual([])
  })
})
