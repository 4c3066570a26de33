import { mkdirSync, mkdtempSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { AFTER, BEFORE, FILE } from './agents.ts'
import { type Ran, run } from './child.ts'
import type { Agent } from './client.ts'
import { KEY, WRONG_KEY } from './gateway.ts'
import { cache, versionOf } from './install.ts'
import { modelOf, type Provider } from './provider.ts'
import { type Asked, answers, cuts, type Dialect, type Script, type Turn, UNKNOWN_MODEL } from './script.ts'
import { bareEnvironment, type Row } from './table.ts'

/** aider waits up to a minute before its last retry. */
const LIMIT_MS = 180_000
const SETTINGS_LIMIT_MS = 30_000
/** Some agents need half of this to start on a busy machine. */
const BAD_KEY_LIMIT_MS = 60_000
const DONE = 'The spelling is right now.'

interface Run {
  readonly url: string
  readonly provider: Provider
  readonly folder: string
}

interface Outcome {
  readonly cell: string
  readonly fault?: string
}

export async function checkAgent(agent: Agent, run: Run): Promise<Row[]> {
  const edits = new Map<Dialect, Outcome>()
  for (const dialect of agent.dialects) edits.set(dialect, await edit(agent, dialect, run))
  const [main = 'chat'] = agent.dialects
  const badKey = await wrongKey(agent, main, run)
  const unknown = await unknownModel(agent, main, run)
  const cut = await cutStream(agent, main, run)
  const faults = [
    ...[...edits].flatMap(([dialect, { fault }]) =>
      fault ? [`file edited, ${dialect} provider: ${fault}`] : [],
    ),
    ...(badKey.fault ? [`bad key: ${badKey.fault}`] : []),
    ...(unknown.fault ? [`unknown model: ${unknown.fault}`] : []),
    ...(cut.fault ? [`cut: ${cut.fault}`] : []),
  ]
  const bad = [...edits].filter(([, { fault }]) => fault !== undefined).map(([dialect]) => dialect)
  const edited = bad.length === 0 ? 'yes' : `NO (${bad.join(', ')})`
  const cells = {
    'file edited': edited,
    'bad key': badKey.cell,
    'unknown model': unknown.cell,
    cut: cut.cell,
  }
  return [{ client: agent.name, version: versionOf(agent.source), way: agent.way, cells, faults }]
}

async function edit(agent: Agent, dialect: Dialect, run: Run): Promise<Outcome> {
  const place = placeOf(run.folder)
  const file = join(place.project, FILE)
  const asked = run.provider.play(stepping(agent.steps(file)))
  const ran = await runAgent(agent, { ...run, place, key: KEY, dialect })
  const text = await Bun.file(file).text()
  if (ran.isTimedOut) return no(`did not end in ${LIMIT_MS / 1000} s; ${wordsOf(ran, asked)}`)
  if (text !== AFTER) return no(`the file reads ${JSON.stringify(text)}; ${wordsOf(ran, asked)}`)
  if (ran.code !== 0) return no(`exit code ${ran.code}; ${wordsOf(ran, asked)}`)
  return { cell: 'yes' }
}

async function wrongKey(agent: Agent, dialect: Dialect, run: Run): Promise<Outcome> {
  const asked = run.provider.play(answers)
  const ran = await runAgent(agent, { ...run, place: placeOf(run.folder), key: WRONG_KEY, dialect })
  const seconds = Math.round(ran.ms / 1000)
  if (ran.isTimedOut || ran.ms > BAD_KEY_LIMIT_MS) return no(`${seconds} s; ${wordsOf(ran, asked)}`)
  if (!/key|401|authenticat|unauthor/i.test(ran.stdout + ran.stderr))
    return no(`no reason; ${wordsOf(ran, asked)}`)
  return { cell: ran.code === 0 ? 'error, exit 0' : 'error' }
}

async function unknownModel(agent: Agent, dialect: Dialect, run: Run): Promise<Outcome> {
  const asked = run.provider.play(answers)
  const place = placeOf(run.folder)
  const ran = await runAgent(agent, { ...run, place, key: KEY, dialect, model: UNKNOWN_MODEL })
  if (ran.isTimedOut) return no(`did not end in ${LIMIT_MS / 1000} s; ${wordsOf(ran, asked)}`)
  if (asked.length > 0) return no(`the provider was asked; ${wordsOf(ran, asked)}`)
  if (!/no-such-model|model/i.test(ran.stdout + ran.stderr)) return no(`no reason; ${wordsOf(ran, asked)}`)
  return { cell: ran.code === 0 ? 'error, exit 0' : 'error' }
}

/** How often an agent asks again after a cut is its own rule: the table tells the number. */
async function cutStream(agent: Agent, dialect: Dialect, run: Run): Promise<Outcome> {
  const asked = run.provider.play(cuts)
  const ran = await runAgent(agent, { ...run, place: placeOf(run.folder), key: KEY, dialect })
  if (ran.isTimedOut) return no(`did not end in ${LIMIT_MS / 1000} s; ${wordsOf(ran, asked)}`)
  const isReported = /error|fail|disconnect|interrupt|incomplete|ended|cut|broke/i.test(
    ran.stdout + ran.stderr,
  )
  if (!isReported && ran.code === 0) return no(`taken for an end; ${wordsOf(ran, asked)}`)
  const count = asked.length === 1 ? '' : `, ${asked.length} requests`
  return { cell: `error${ran.code === 0 ? ', exit 0' : ''}${count}` }
}

const no = (fault: string): Outcome => ({ cell: 'NO', fault })

/** The provider makes one step for each result that the conversation holds; requests without tools get a text. */
function stepping(steps: readonly Turn[]): Script {
  return (asked) => {
    const step = steps[resultsIn(asked)]
    if (step === undefined) return { text: DONE }
    if ('text' in step)
      return asked.json.includes(JSON.stringify(step.text).slice(1, -1)) ? { text: DONE } : step
    if (!('call' in step)) return step
    return asked.tools.includes(step.call.name) ? step : { text: DONE }
  }
}

const RESULTS: Readonly<Record<Dialect, RegExp>> = {
  chat: /"role":"tool"/g,
  responses: /"type":"(?:custom_tool|function|shell)_call_output"/g,
  messages: /"type":"tool_result"/g,
  gemini: /"functionResponse":/g,
}

const resultsIn = ({ dialect, json }: Asked): number => json.match(RESULTS[dialect])?.length ?? 0

interface Started extends Run {
  readonly place: { readonly home: string; readonly project: string }
  readonly key: string
  readonly dialect: Dialect
  /** Default: the scripted model of the dialect. */
  readonly model?: string
}

function placeOf(folder: string): { home: string; project: string } {
  const home = mkdtempSync(join(folder, 'home-'))
  const project = join(home, 'project')
  mkdirSync(project)
  return { home, project }
}

async function runAgent(agent: Agent, { url, place, key, dialect, model }: Started): Promise<Ran> {
  const start = agent.start({
    ...place,
    installed: join(cache, agent.folder),
    url,
    key,
    model: model ?? modelOf(dialect),
  })
  await Bun.write(join(place.project, FILE), BEFORE)
  for (const [file, text] of Object.entries(start.files ?? {})) {
    mkdirSync(dirname(file), { recursive: true })
    await Bun.write(file, text)
  }
  const options = { cwd: place.project, env: { ...bareEnvironment(place.home), ...start.env } }
  if (start.before) await run({ ...options, command: start.before, limitMs: SETTINGS_LIMIT_MS })
  return run({ ...options, command: start.command, limitMs: LIMIT_MS })
}

/** The last of what it printed, and what it asked, for the report of a fault. */
function wordsOf({ code, stdout, stderr }: Ran, asked: readonly Asked[]): string {
  const tail = (text: string): string => text.trim().slice(-500)
  const tools = asked.map(({ tools: names }) => names.slice(0, 30).join(',')).slice(0, 3)
  return `exit ${code}, ${asked.length} requests, tools ${JSON.stringify(tools)}, ${tail(stdout)} / ${tail(stderr)}`
}
