import { copyFileSync, existsSync, mkdirSync, mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { isObject } from '../../src/core/json.ts'
import { type Ran, run } from './child.ts'
import { LIBRARY_CHECKS, type Library, type LibraryCheck, type Surface } from './client.ts'
import { KEY, WRONG_KEY } from './gateway.ts'
import { cache, programs, versionOf } from './install.ts'
import { modelOf, type Provider } from './provider.ts'
import {
  ANSWER,
  type Asked,
  answers,
  BEGINNING,
  callsTool,
  cuts,
  FINISHED,
  hangs,
  IMAGE,
  type Script,
  seesImage,
  UNKNOWN_MODEL,
} from './script.ts'
import { bareEnvironment, type Row } from './table.ts'

const LIMIT_MS = 60_000
const BAD_KEY_LIMIT_MS = 20_000
/** A cut stream may cost one more answer at the most: a client that asks again and again is retrying blindly. */
const MOST_REQUESTS = 2
/** Programs go on for two seconds after they have cancelled: the gateway must not wait for their end. */
const CANCEL_LEAD_MS = 700

interface Reported {
  readonly text: string
  readonly pieces: number
  readonly error?: string
  /** The program does not have this check. */
  readonly isMissing?: true
}

interface Verdict {
  /** 'yes', or the problem. */
  readonly text: string
  readonly isGood: boolean
}

interface Check {
  /** The function of the program; the surface may have its own name for it. */
  readonly run: string
  readonly script: Script
  readonly key: string
  /** Default: the scripted model. */
  readonly model?: string
  judge(reported: Reported, asked: readonly Asked[], ran: Ran, surface: Surface): Verdict
}

const good: Verdict = { text: 'yes', isGood: true }
const bad = (text: string): Verdict => ({ text, isGood: false })

const says = (expected: string, { text, error }: Reported): Verdict => {
  if (error !== undefined) return bad(error)
  return text === expected ? good : bad(`received ${JSON.stringify(text.slice(0, 80))}`)
}

const CHECKS: Readonly<Record<LibraryCheck, Check>> = {
  answer: { run: 'answer', script: answers, key: KEY, judge: (reported) => says(ANSWER, reported) },
  stream: {
    run: 'stream',
    script: answers,
    key: KEY,
    judge(reported) {
      const verdict = says(ANSWER, reported)
      return verdict.isGood && reported.pieces < 2 ? bad('in one piece') : verdict
    },
  },
  tools: {
    run: 'tools',
    script: callsTool,
    key: KEY,
    judge: (reported, _asked, _ran, { toolText }) => says(toolText ?? FINISHED, reported),
  },
  'bad key': {
    run: 'answer',
    script: answers,
    key: WRONG_KEY,
    judge({ error, text }) {
      if (error === undefined) return bad(`no error, text ${JSON.stringify(text.slice(0, 40))}`)
      if (!/key|401|authenticat|unauthor/i.test(error))
        return bad(`an error that does not name the key: ${error}`)
      return { text: 'error', isGood: true }
    },
  },
  image: { run: 'image', script: seesImage, key: KEY, judge: (reported) => says(ANSWER, reported) },
  'unknown model': {
    run: 'answer',
    script: answers,
    key: KEY,
    model: UNKNOWN_MODEL,
    judge({ error, text }, asked) {
      if (error === undefined) return bad(`no error, text ${JSON.stringify(text.slice(0, 40))}`)
      if (asked.length > 0) return bad('the provider was asked')
      return /no-such-model|model/i.test(error)
        ? { text: 'error', isGood: true }
        : bad(`an error that does not name the model: ${error}`)
    },
  },
  cancel: {
    run: 'cancel',
    script: hangs,
    key: KEY,
    judge({ error }, asked) {
      const [only, ...more] = asked
      if (only === undefined) return bad(`before the provider was asked: ${error}`)
      if (more.length > 0) return bad(`${asked.length} requests`)
      const { cancelledAt } = only
      if (cancelledAt === undefined || Date.now() - cancelledAt < CANCEL_LEAD_MS)
        return bad(`the call of the provider went on; ${error ?? 'no error'}`)
      return good
    },
  },
  cut: {
    run: 'stream',
    script: cuts,
    key: KEY,
    judge({ error, text }, asked) {
      if (error === undefined) return bad(`taken for an end, after ${JSON.stringify(text.slice(0, 40))}`)
      if (asked.length === 0) return bad(`before the provider was asked: ${error}`)
      if (asked.length > MOST_REQUESTS) return bad(`${asked.length} requests`)
      const count = asked.length === 1 ? '' : `, ${asked.length} requests`
      return {
        text: text.includes(BEGINNING.slice(0, 10)) ? `error${count}` : `error without text${count}`,
        isGood: true,
      }
    },
  },
}

/** Runs each check of each surface, one after the other. */
export async function checkLibrary(
  library: Library,
  { url, provider, folder }: { url: string; provider: Provider; folder: string },
): Promise<Row[]> {
  const rows: Row[] = []
  for (const surface of library.surfaces) {
    const cells: Record<string, string> = {}
    const faults: string[] = []
    for (const name of surface.checks ?? LIBRARY_CHECKS) {
      const verdict = await checkOnce(library, surface, CHECKS[name], { url, provider, folder })
      if (verdict === null) continue
      cells[name] = verdict.isGood ? verdict.text : 'NO'
      if (!verdict.isGood) faults.push(`${name}: ${verdict.text}`)
    }
    rows.push({ client: library.name, version: versionOf(library.source), way: surface.label, cells, faults })
  }
  return rows
}

async function checkOnce(
  library: Library,
  surface: Surface,
  check: Check,
  { url, provider, folder }: { url: string; provider: Provider; folder: string },
): Promise<Verdict | null> {
  const home = mkdtempSync(join(folder, 'home-'))
  const asked = provider.play(check.script)
  const limitMs = library.limitMs ?? LIMIT_MS
  const ran = await run({
    command: [...commandOf(library), surface.name, check.run],
    cwd: home,
    env: {
      ...bareEnvironment(home),
      SLUICE_URL: url,
      SLUICE_KEY: check.key,
      SLUICE_MODEL: check.model ?? modelOf('chat'),
      SLUICE_IMAGE: IMAGE,
    },
    limitMs,
  })
  const reported = read(ran.stdout)
  if (ran.isTimedOut) return bad(`did not end in ${limitMs / 1000} s, ${asked.length} requests`)
  if (reported?.isMissing) return null
  const isSlow = check.key === WRONG_KEY && ran.ms > BAD_KEY_LIMIT_MS && library.limitMs === undefined
  if (isSlow) return bad(`after ${Math.round(ran.ms / 1000)} s`)
  if (!reported) return bad(`no report: ${ran.stderr.trim().slice(-300)}`)
  return check.judge(reported, asked, ran, surface)
}

function commandOf({ folder, source, program }: Library): string[] {
  const target = join(cache, folder)
  if (source.from === 'go') return [join(target, 'client')]
  if (source.from === 'cargo') return [join(target, 'target/debug/client')]
  if (program === undefined) throw new Error(`${folder} has no program`)
  const place = join(target, 'program')
  mkdirSync(place, { recursive: true })
  const helper = source.from === 'npm' ? 'report.mjs' : 'report.py'
  for (const file of [program, helper]) copyFileSync(join(programs, file), join(place, file))
  const interpreter = source.from === 'npm' ? nodeOf(target) : join(target, 'venv/bin/python')
  if (!existsSync(interpreter)) throw new Error(`${interpreter} is missing`)
  return [interpreter, join(place, program)]
}

/** The Node that was installed with the client, else that of the machine. */
function nodeOf(target: string): string {
  const own = join(target, 'node_modules/node/bin/node')
  return existsSync(own) ? own : (Bun.which('node') ?? process.execPath)
}

/** The last line of JSON: libraries print warnings of their own. */
function read(stdout: string): Reported | null {
  for (const line of stdout.trim().split('\n').reverse()) {
    if (!line.startsWith('{')) continue
    try {
      const value: unknown = JSON.parse(line)
      if (!isObject(value)) continue
      const { text, pieces, error, missing } = value
      if (missing === true) return { text: '', pieces: 0, isMissing: true }
      if (typeof text !== 'string' || typeof pieces !== 'number') continue
      return typeof error === 'string' ? { text, pieces, error } : { text, pieces }
    } catch {
      // Not the report.
    }
  }
  return null
}
