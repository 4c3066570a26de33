import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { startUpstream } from './upstream.ts'

/**
 * `bun run fuzz:document`: schemathesis asks a gateway what its API document says can be asked, with a
 * management key and with an inference key, and checks that each reply is one that the document says. Exits 1 if one is
 * not. schemathesis is installed once, into a cache outside the repository.
 */

const VERSION = '4.32.5'
const CHECKS = [
  'not_a_server_error',
  'status_code_conformance',
  'content_type_conformance',
  'response_headers_conformance',
  'response_schema_conformance',
  'unsupported_method',
  'allow_header_conformance',
]
/** Random requests of each operation and key, beside some 250 that go through what its schema says. */
const EXAMPLES = 10
/** Fewer would prove little. */
const LEAST_REQUESTS = 20_000
const MANAGEMENT_KEY = 'fuzz-management-key-0123456789abcdefghij'
const API_KEY = 'fuzz-inference-key-0123456789abcdefghijk'
const root = join(import.meta.dir, '../..')

const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'sluice-document')

async function must(command: readonly string[]): Promise<void> {
  const child = Bun.spawn([...command], { stdout: 'ignore', stderr: 'inherit' })
  if ((await child.exited) !== 0) throw new Error(`failed: ${command.join(' ')}`)
}

/** The program, installed where it is not there in this version. */
async function schemathesis(): Promise<string> {
  const folder = join(cache, VERSION)
  const program = join(folder, 'bin/schemathesis')
  if (existsSync(program)) return program
  mkdirSync(cache, { recursive: true })
  await must(['python3', '-m', 'venv', folder])
  await must([join(folder, 'bin/pip'), 'install', '--quiet', `schemathesis==${VERSION}`])
  return program
}

const CONFIG = (upstream: string) => `providers:
  - slug: lab
    name: Lab
    dialect: chat
    base_url: ${upstream}
    models:
      - { id: tiny, pricing: { prompt: "0.000001", completion: "0.000002" } }
`

async function freePort(): Promise<number> {
  const server = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: () => new Response() })
  const { port } = server
  await server.stop(true)
  return port ?? 0
}

async function startGateway(folder: string, upstream: string) {
  const port = await freePort()
  const config = join(folder, 'sluice.yaml')
  await Bun.write(config, CONFIG(upstream))
  const child = Bun.spawn(['bun', join(root, 'src/main.ts'), 'serve'], {
    cwd: folder,
    env: {
      PATH: process.env.PATH ?? '',
      SLUICE_CONFIG: config,
      SLUICE_DATA: join(folder, 'data'),
      SLUICE_PORT: String(port),
      SLUICE_MANAGEMENT_KEY: MANAGEMENT_KEY,
      SLUICE_API_KEY: API_KEY,
      SLUICE_ADMIN_RATE_LIMIT: '0',
      SLUICE_DISCOVER: 'off',
      SLUICE_LOG_LEVEL: 'error',
    },
    stdout: Bun.file(join(folder, 'gateway.log')),
    stderr: Bun.file(join(folder, 'gateway.log')),
  })
  const url = `http://127.0.0.1:${port}`
  for (let tries = 0; tries < 200; tries++) {
    const ready = await fetch(`${url}/health/ready`).catch(() => null)
    if (ready?.ok) return { url, stop: () => ended(child) }
    await Bun.sleep(100)
  }
  child.kill()
  throw new Error(`the gateway did not start: ${await Bun.file(join(folder, 'gateway.log')).text()}`)
}

function ended(child: Bun.Subprocess): Promise<number> {
  child.kill()
  return child.exited
}

const fieldOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined

/** Makes one thing of each kind; answers their ids by path and parameter. */
async function made(url: string): Promise<Record<string, Record<string, string>>> {
  const create = async (
    path: string,
    body: object,
    key: string,
    field = 'id',
    method = 'POST',
  ): Promise<string> => {
    const reply = await fetch(`${url}/api/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    const json: unknown = await reply.json()
    if (!reply.ok) throw new Error(`${path}: ${reply.status} ${JSON.stringify(json)}`)
    return String(fieldOf(fieldOf(json, 'data') ?? json, field))
  }
  const manage = (path: string, body: object, field?: string) => create(path, body, MANAGEMENT_KEY, field)
  const chat = { model: 'lab/tiny', messages: [{ role: 'user', content: 'Hi' }] }
  const hash = await manage('/keys', { name: 'fuzz' }, 'hash')
  const guardrail = await manage('/guardrails', { name: 'fuzz' })
  const workspace = await manage('/workspaces', { name: 'Fuzz', slug: 'fuzz' })
  const byok = await manage('/byok', { provider: 'openai', key: 'sk-proj-fuzz-0123456789abcdef' })
  await manage('/presets/fuzz/chat/completions', chat)
  const generation = await create('/chat/completions', chat, API_KEY)
  const response = await create('/responses', { model: 'lab/tiny', input: 'Hi', store: true }, API_KEY)
  const id = (value: string) => ({ id: value })
  return {
    '/keys/{hash}': { hash },
    '/guardrails/{id}': id(guardrail),
    '/guardrails/{id}/assignments/keys': id(guardrail),
    '/guardrails/{id}/assignments/members': id(guardrail),
    '/workspaces/{id}': id(workspace),
    '/workspaces/{id}/budgets': id(workspace),
    '/workspaces/{id}/budgets/{interval}': id(workspace),
    '/workspaces/{id}/members': id(workspace),
    '/byok/{id}': id(byok),
    '/presets/{slug}': { slug: 'fuzz' },
    '/presets/{slug}/versions': { slug: 'fuzz' },
    '/presets/{slug}/versions/{version}': { slug: 'fuzz', version: '1' },
    '/responses/{id}': id(response),
    '/model/{author}/{slug}': { author: 'sluice', slug: 'demo' },
    '/models/{author}/{slug}/endpoints': { author: 'sluice', slug: 'demo' },
    query: { id: generation },
  }
}

interface Run {
  readonly program: string
  readonly url: string
  readonly key: string
  readonly examples: number
  readonly there: string
  readonly seed: number
  readonly folder: string
}

async function fuzz({
  program,
  url,
  key,
  examples,
  there,
  seed,
  folder,
}: Run): Promise<{ code: number; requests: number }> {
  const report = join(folder, `report-${seed}.txt`)
  const child = Bun.spawn(
    [
      program,
      'run',
      `${url}/openapi.json`,
      ...['--header', `Authorization: Bearer ${key}`, '--checks', CHECKS.join()],
      ...[
        '--phases',
        'examples,coverage,fuzzing',
        '--max-examples',
        String(examples),
        '--seed',
        String(seed),
      ],
      ...['--workers', '1', '--request-timeout', '30', '--generation-database', 'none', '--warnings', 'off'],
      // It asks a public address for the catalogue.
      ...['--exclude-operation-id', 'refreshCatalog'],
      ...['--continue-on-failure', '--suppress-health-check', 'all', '--no-color', '--max-failures', '200'],
    ],
    {
      cwd: folder,
      env: {
        ...process.env,
        PYTHONPATH: import.meta.dir,
        SCHEMATHESIS_HOOKS: 'hooks',
        SLUICE_FUZZ_THERE: there,
        PYTHONDONTWRITEBYTECODE: '1',
      },
      stdout: Bun.file(report),
      stderr: 'inherit',
    },
  )
  const code = await child.exited
  const text = await Bun.file(report).text()
  console.log(text.replace(/^(.{400}).+$/gm, '$1 …'))
  return { code, requests: Number(/(\d+) generated/.exec(text)?.[1] ?? 0) }
}

const program = await schemathesis()
const folder = mkdtempSync(join(tmpdir(), 'sluice-document-'))
const upstream = startUpstream()
const gateway = await startGateway(folder, upstream.url)
try {
  const there = JSON.stringify(await made(gateway.url))
  const document: unknown = await (await fetch(`${gateway.url}/openapi.json`)).json()
  const operations = Object.values(Object(fieldOf(document, 'paths'))).flatMap((path) =>
    Object.keys(Object(path)),
  ).length
  const runs: Awaited<ReturnType<typeof fuzz>>[] = []
  for (const [index, key] of [MANAGEMENT_KEY, API_KEY].entries()) {
    runs.push(
      await fuzz({ program, url: gateway.url, key, examples: EXAMPLES, there, seed: index + 1, folder }),
    )
  }
  const errors = (await Bun.file(join(folder, 'gateway.log')).text())
    .split('\n')
    .filter((line) => line.includes('"level":50'))
  const requests = runs.reduce((sum, run) => sum + run.requests, 0)
  const verdict = runs.every(({ code }) => code === 0) ? 'none' : 'SOME, above'
  console.log(
    `${operations} operations, ${requests} requests. Undocumented statuses and replies outside their schema: ${verdict}. ` +
      `Errors in the gateway's log: ${errors.length}.`,
  )
  for (const line of errors.slice(0, 10)) console.log(line)
  const isClean = runs.every(({ code }) => code === 0) && errors.length === 0
  process.exitCode = isClean && requests >= LEAST_REQUESTS ? 0 : 1
} finally {
  await gateway.stop()
  await upstream.stop()
  rmSync(folder, { recursive: true, force: true })
}
