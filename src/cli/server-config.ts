import { type Config, type Flags, loadConfig } from '../config.ts'
import { readNameList } from '../filters/name-list.ts'
import { readEntries } from '../providers/entries.ts'
import { readModels } from '../routing.ts'
import type { Terminal } from './terminal.ts'

/** Settings, `providers:` entries and what is said of models: what is wrong with any of them is told together. */
export const loadServerConfig = (flags: Flags, terminal: Terminal): Promise<Config> =>
  loadConfig({
    flags,
    environment: terminal.environment,
    entryProblems: (entries, environment) =>
      readEntries(entries, environment, checkDefaults).problems.map(
        ({ path, message }) => `${path} ${message}`,
      ),
    fileProblems: (config) =>
      [
        ...readModels(config, readEntries(config.providers, config.environment, checkDefaults)).problems,
        ...(config.personNames === null ? [] : readNameList(config.personNames).problems),
      ].map(({ path, message }) => `${path} ${message}`),
  })

/** Only the entries' problems are of interest here. */
const checkDefaults = { timeouts: { firstByteMs: 1, betweenBytesMs: 1, totalMs: 1 }, maxInFlight: 1 }
