import { exposureProblem } from '../config/exposure.ts'
import { isLoopback } from '../config/readers.ts'
import { type Config, type Flags, loadConfig } from '../config.ts'
import { readNameList } from '../filters/name-list.ts'
import { readEntries } from '../providers/entries.ts'
import { mayHaveKeys } from '../server/first-run.ts'
import { readModels } from '../server/routing.ts'
import type { Terminal } from './terminal.ts'

/** Loads settings, `providers:` and `models:`. Reports all problems together, with those that `more` finds. */
export const loadServerConfig = (
  flags: Flags,
  terminal: Terminal,
  more: (config: Config) => Promise<string | null> = async () => null,
): Promise<Config> =>
  loadConfig({
    flags,
    environment: terminal.environment,
    entryProblems: (entries, environment) =>
      readEntries(entries, environment, checkDefaults).problems.map(
        ({ path, message }) => `${path} ${message}`,
      ),
    async fileProblems(config) {
      const further = await more(config)
      return [
        ...[
          ...readModels(config, readEntries(config.providers, config.environment, checkDefaults)).problems,
          ...(config.personNames === null ? [] : readNameList(config.personNames).problems),
        ].map(({ path, message }) => `${path} ${message}`),
        ...(further === null ? [] : [further]),
      ]
    },
  })

/** Placeholders: only the entries' problems are used. */
const checkDefaults = { timeouts: { firstByteMs: 1, betweenBytesMs: 1, totalMs: 1 }, maxInFlight: 1 }

/** Why a server with these settings may not listen at its address; null: it may. Changes nothing in the data folder. */
export const exposure = async (config: Config): Promise<string | null> =>
  isLoopback(config.host) ? null : exposureProblem(config, await mayHaveKeys(config.data))
