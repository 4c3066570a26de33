import { readOverrides } from '../catalog/override-schema.ts'
import { type Config, type Flags, loadConfig } from '../config.ts'
import { readEntries } from '../providers/entries.ts'
import type { Terminal } from './terminal.ts'

/** Settings and `providers:` entries: what is wrong with either is told together. */
export const loadServerConfig = (flags: Flags, terminal: Terminal): Promise<Config> =>
  loadConfig({
    flags,
    environment: terminal.environment,
    entryProblems: (entries, environment) =>
      readEntries(entries, environment, checkDefaults).problems.map(
        ({ path, message }) => `${path} ${message}`,
      ),
    modelProblems: (models) =>
      readOverrides(models).problems.map(({ path, message }) => `${path} ${message}`),
  })

/** Only the entries' problems are of interest here. */
const checkDefaults = { timeouts: { firstByteMs: 1, betweenBytesMs: 1, totalMs: 1 }, maxInFlight: 1 }
