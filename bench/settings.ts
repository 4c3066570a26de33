import { parseArgs } from 'node:util'
import { TARGET_NAMES, type TargetName } from './target.ts'

/** What is measured: the gateway against other ways to the provider, or its parts. */
export const BENCHES = ['gateway', 'dialects', 'catalog', 'filters', 'cache'] as const
export type Bench = (typeof BENCHES)[number]

export interface Settings {
  bench: Bench
  targets: TargetName[]
  rounds: number
  /** The measured time of each turn. */
  turnMs: number
  /** How long each load runs before anything is measured, so that the compiler has seen the code for a while. */
  warmMs: number
  coldStarts: number
  isMarkdown: boolean
  isProfile: boolean
  fromSource: boolean
}

export const USAGE = `bun run bench [gateway|dialects|catalog|filters|cache] [--quick] [--markdown] [--profile] [--source] [--targets a,b] [--rounds n] [--seconds s]

gateway      the gateway against a bare proxy, nginx and no gateway at all (the default)
dialects     each dialect of callers before each dialect of providers
catalog      lists of 1,000 models
filters      content filters: what they add to a request, and how well the built-in ones tell
cache        an answer that is kept, and one that is given again, against one that is neither

--quick      two short rounds
--markdown   the tables for the README
--profile    runs Sluice from source under Bun's CPU profiler and prints where the time goes
--source     Sluice from source also when dist/sluice is there
--targets    of ${TARGET_NAMES.join(', ')}; default: all that are installed
--rounds     how often each target takes its turn; default 5
--seconds    the measured time of each turn; default 1`

/** Null when help was asked for. Throws a sentence that names the wrong flag. */
export function readSettings(args: readonly string[]): Settings | null {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      help: { type: 'boolean', short: 'h', default: false },
      quick: { type: 'boolean', default: false },
      markdown: { type: 'boolean', default: false },
      profile: { type: 'boolean', default: false },
      source: { type: 'boolean', default: false },
      targets: { type: 'string', default: TARGET_NAMES.join(',') },
      rounds: { type: 'string' },
      seconds: { type: 'string' },
    },
  })
  if (values.help) return null
  return {
    bench: benchOf(positionals),
    targets: targetsOf(values.targets),
    rounds: within('--rounds', values.rounds ?? (values.quick ? '2' : '5'), 1, 100),
    turnMs: within('--seconds', values.seconds ?? (values.quick ? '0.6' : '1'), 0.1, 600) * 1000,
    warmMs: values.quick ? 500 : 5_000,
    coldStarts: values.quick ? 3 : 6,
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

function targetsOf(text: string): TargetName[] {
  const names = text.split(',')
  const known: readonly string[] = TARGET_NAMES
  const stranger = names.find((name) => !known.includes(name))
  if (stranger !== undefined) {
    throw new Error(`--targets: "${stranger}" is none of ${TARGET_NAMES.join(', ')}.`)
  }
  return TARGET_NAMES.filter((name) => names.includes(name))
}

function within(flag: string, text: string, least: number, most: number): number {
  const value = Number(text)
  if (value >= least && value <= most) return value
  throw new Error(`${flag}: "${text}" is not a number from ${least} to ${most}.`)
}
