import { parseArgs } from 'node:util'
import { TARGET_NAMES, type TargetName } from './target.ts'

/** What is measured: the gateway against other ways to the provider, or its parts. */
const BENCHES = [
  'gateway',
  'dialects',
  'catalog',
  'filters',
  'cache',
  'ledger',
  'hostile',
  'faults',
  'plan',
  'snapshot',
  'plugins',
  'export',
] as const
export type Bench = (typeof BENCHES)[number]

/** The parts of the ledger's bench, in the order in which they are run. */
export const LEDGER_STEPS = ['burst', 'kill', 'gates', 'start', 'queries', 'cpu', 'settle', 'verify'] as const
export type LedgerStep = (typeof LEDGER_STEPS)[number]

interface LedgerSettings {
  steps: LedgerStep[]
  /** Generations of the seeded ledger. */
  rows: number
  kills: number
  /** How often two are asked in turn, for the median of their ratios. */
  pairs: number
  /** Where the seeded ledger is, or is made, and stays; null: in a folder that is gone at the end. */
  folder: string | null
}

export interface Settings {
  bench: Bench
  ledger: LedgerSettings
  targets: TargetName[]
  rounds: number
  /** The measured time of each turn. */
  turnMs: number
  /** How long each load of the benches of parts runs before anything is measured. */
  warmMs: number
  /** Answers of each kind before anything of the gateway is measured. */
  warmUpRequests: number
  /** A file that names other gateways and how to start them; null: none. */
  peers: string | null
  /** A minute on a shared machine: ratios are printed and not judged. */
  isSmoke: boolean
  coldStarts: number
  isQuick: boolean
  /** How long the bench of faults keeps providers down. */
  faultSeconds: number
  /** Of the hostile requests, the faults or the parts of `export` only those with this in their name. */
  only: string | null
  isMarkdown: boolean
  isProfile: boolean
  fromSource: boolean
}

export const USAGE = `bun run bench [gateway|dialects|catalog|filters|cache|ledger|hostile|faults|plan|snapshot|plugins|export] [--quick] [--markdown] [--profile] [--source] [--smoke] [--targets a,b] [--peers file] [--only text] [--rounds n] [--seconds s]

gateway      the gateway against a bare proxy, nginx and no gateway at all (the default)
dialects     each dialect of callers before each dialect of providers
catalog      lists of 1,000 models
filters      content filters: what they add to a request, and how well the built-in ones tell
cache        a cache miss and a cache hit, against a request without the cache
ledger       whether money is enforced and kept, and what ten million generations cost
hostile      the longest stop of the main thread under requests and replies that were made to cost much
faults       what callers see of providers that fail, and how soon they are called again
plan         the processor time of planning a request with 1, 3 and 50 endpoints
snapshot     what a change of administration costs at 100 to 100,000 keys
plugins      how many broken answers are repaired, by kind
export       what metrics and destinations add to a request

--quick      two short rounds; hostile: a twentieth of the size
--smoke      the bare proxy and Sluice for less than a minute; ratios are printed and not judged
--markdown   the tables for docs/benchmarks.md
--profile    runs Sluice from source under Bun's CPU profiler and prints where the time goes
--source     Sluice from source also when dist/sluice is there
--only       hostile, faults, export: those whose name has this text
--targets    of ${TARGET_NAMES.join(', ')}; default: all that are installed
--peers      a JSON file, [{name, command, files, env, health, path, keys, modelPrefix}]: gateways to measure as well
--rounds     how often each target takes its turn; default 7
--seconds    the measured time of each turn; default 1. faults: how long all providers are down; default 5

Of the ledger's bench:
--steps      of ${LEDGER_STEPS.join(', ')}; default: all
--rows       generations of the seeded ledger; default 10000000
--kills      default 200
--pairs      default 9
--folder     where the seeded ledger is, or is made, and stays`

const SMOKE_TARGETS: readonly TargetName[] = ['bare', 'sluice']

/** Null when help was asked for. Throws a sentence that names the wrong flag. */
export function readSettings(args: readonly string[]): Settings | null {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      help: { type: 'boolean', short: 'h', default: false },
      quick: { type: 'boolean', default: false },
      smoke: { type: 'boolean', default: false },
      peers: { type: 'string' },
      markdown: { type: 'boolean', default: false },
      profile: { type: 'boolean', default: false },
      source: { type: 'boolean', default: false },
      targets: { type: 'string' },
      only: { type: 'string' },
      rounds: { type: 'string' },
      seconds: { type: 'string' },
      steps: { type: 'string', default: LEDGER_STEPS.join(',') },
      rows: { type: 'string' },
      kills: { type: 'string' },
      pairs: { type: 'string' },
      folder: { type: 'string' },
    },
  })
  if (values.help) return null
  const isShort = values.quick || values.smoke
  return {
    bench: benchOf(positionals),
    targets: listOf(
      '--targets',
      TARGET_NAMES,
      values.targets ?? (values.smoke ? SMOKE_TARGETS : TARGET_NAMES).join(','),
    ),
    ledger: {
      steps: listOf('--steps', LEDGER_STEPS, values.steps),
      rows: within('--rows', values.rows ?? (values.quick ? '200000' : '10000000'), 10_000, 100_000_000),
      kills: within('--kills', values.kills ?? (values.quick ? '10' : '200'), 1, 10_000),
      pairs: within('--pairs', values.pairs ?? (values.quick ? '3' : '9'), 1, 100),
      folder: values.folder ?? null,
    },
    rounds: within('--rounds', values.rounds ?? (isShort ? '2' : '7'), 1, 100),
    turnMs: within('--seconds', values.seconds ?? (isShort ? '0.6' : '1'), 0.1, 600) * 1000,
    faultSeconds: within('--seconds', values.seconds ?? (isShort ? '2' : '5'), 0.1, 600),
    warmMs: values.quick ? 500 : 5_000,
    warmUpRequests: isShort ? 2_000 : 25_000,
    peers: values.peers ?? null,
    isSmoke: values.smoke,
    coldStarts: isShort ? 3 : 6,
    isQuick: values.quick,
    only: values.only ?? null,
    isMarkdown: values.markdown,
    isProfile: values.profile,
    fromSource: values.source || values.profile,
  }
}

function benchOf(names: readonly string[]): Bench {
  const [name = 'gateway', ...more] = names
  const found = BENCHES.find((known) => known === name)
  if (found !== undefined && more.length === 0) return found
  throw new Error(`"${names.join(' ')}" is not one of ${BENCHES.join(', ')}.`)
}

/** In the order in which they are known. */
function listOf<Name extends string>(flag: string, known: readonly Name[], text: string): Name[] {
  const names = text.split(',')
  const all: readonly string[] = known
  const stranger = names.find((name) => !all.includes(name))
  if (stranger !== undefined) throw new Error(`${flag}: "${stranger}" is not one of ${known.join(', ')}.`)
  return known.filter((name) => names.includes(name))
}

function within(flag: string, text: string, least: number, most: number): number {
  const value = Number(text)
  if (value >= least && value <= most) return value
  throw new Error(`${flag}: "${text}" is not a number from ${least} to ${most}.`)
}
