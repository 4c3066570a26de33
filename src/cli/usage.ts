import { csvCell } from '../admin/identity/audit/export.ts'
import { GatewayError } from '../core/errors.ts'
import { formatUsd, usdOf } from '../core/money.ts'
import { formatInstant } from '../ledger/windows.ts'
import { openClient } from './client.ts'
import { type Period, periodOf } from './period.ts'
import { CommandError, EXIT, printJson, type Terminal, table } from './terminal.ts'
import {
  localUsage,
  remoteUsage,
  SPLITS,
  type Split,
  type UsageAnswer,
  type UsageLine,
} from './usage-source.ts'
import { databaseIn, dataFolder } from './verify.ts'

type Options = Readonly<Record<string, unknown>>

/** Prints the server's sums if SLUICE_KEY is set, else those of the data folder, which a server may be using. */
export async function usageCommand(options: Options, terminal: Terminal): Promise<number> {
  const by = splitOf(options['by'])
  const { since, until } = options
  const period = periodOf(String(since), until === undefined ? undefined : String(until), Date.now())
  const answer = await answerOf(by, period, options, terminal)
  const lines = answer.lines.toSorted(by === 'day' ? byName : bySpending)
  if (options['json'] === true) printJson(terminal, jsonOf(by, period, lines))
  else if (options['csv'] === true) terminal.print(csvOf(by, lines))
  else terminal.print(tableOf(by, period, lines))
  if (answer.isCut) terminal.note('The result exceeds what the server returns: choose a shorter time')
  return EXIT.ok
}

async function answerOf(
  by: Split,
  period: Period,
  { data }: Options,
  terminal: Terminal,
): Promise<UsageAnswer> {
  if (terminal.environment['SLUICE_KEY'] && typeof data !== 'string')
    return remoteUsage(openClient(terminal.environment), by, period)
  try {
    return await localUsage(databaseIn(dataFolder(terminal, data)), by, period)
  } catch (error) {
    if (error instanceof GatewayError) throw new CommandError(EXIT.failed, error.message)
    throw error
  }
}

function splitOf(by: unknown): Split {
  if (typeof by === 'string' && isSplit(by)) return by
  throw new CommandError(
    EXIT.usage,
    `--by must be one of ${Object.keys(SPLITS).join(', ')}, user, tag:<name>, not ${by}`,
  )
}

const isSplit = (by: string): by is Split =>
  Object.hasOwn(SPLITS, by) || by === 'user' || (by.startsWith('tag:') && by.length > 'tag:'.length)

const byName = (a: UsageLine, b: UsageLine): number => (a.id < b.id ? -1 : 1)
const spent = (line: UsageLine): number => line.usageNanoUsd + line.byokUsageNanoUsd
const bySpending = (a: UsageLine, b: UsageLine): number =>
  spent(b) - spent(a) || b.requests - a.requests || byName(a, b)

const sum = (lines: readonly UsageLine[], of: (line: UsageLine) => number): number =>
  lines.reduce((total, line) => total + of(line), 0)

const totalOf = (lines: readonly UsageLine[]): UsageLine => ({
  id: 'total',
  name: 'total',
  requests: sum(lines, (line) => line.requests),
  failed: sum(lines, (line) => line.failed),
  promptTokens: sum(lines, (line) => line.promptTokens),
  completionTokens: sum(lines, (line) => line.completionTokens),
  usageNanoUsd: sum(lines, (line) => line.usageNanoUsd),
  byokUsageNanoUsd: sum(lines, (line) => line.byokUsageNanoUsd),
})

function jsonOf(by: Split, { from, until }: Period, lines: readonly UsageLine[]) {
  const sums = (line: UsageLine) => ({
    requests: line.requests,
    failed_requests: line.failed,
    prompt_tokens: line.promptTokens,
    completion_tokens: line.completionTokens,
    usage: usdOf(line.usageNanoUsd),
    byok_usage: usdOf(line.byokUsageNanoUsd),
  })
  return {
    by,
    from: formatInstant(from),
    until: formatInstant(until),
    data: lines.map((line) => ({
      [by]: line.id,
      ...(by === 'key' || by === 'workspace' ? { name: line.name } : {}),
      ...sums(line),
    })),
    total: sums(totalOf(lines)),
  }
}

const NUMBERS = ['requests', 'failed', 'prompt_tokens', 'completion_tokens', 'usage', 'byok_usage']

const numbersOf = (line: UsageLine, say: (nanoUsd: number) => string): string[] => [
  String(line.requests),
  String(line.failed),
  String(line.promptTokens),
  String(line.completionTokens),
  say(line.usageNanoUsd),
  say(line.byokUsageNanoUsd),
]

/** RFC 4180, with plain numbers of USD. */
function csvOf(by: Split, lines: readonly UsageLine[]): string {
  const rows = lines.map((line) => [line.id, line.name, ...numbersOf(line, (usd) => formatUsd(usd).slice(1))])
  return [[by, 'name', ...NUMBERS], ...rows].map((row) => row.map(csvCell).join(',')).join('\r\n')
}

function tableOf(by: Split, { from, until }: Period, lines: readonly UsageLine[]): string {
  const period = `from ${formatInstant(from)} until ${formatInstant(until)}`
  if (lines.length === 0) return `Nothing was used ${period}`
  const header = [by, ...NUMBERS].map((name) => name.toUpperCase().replaceAll('_', ' '))
  const rows = [...lines, totalOf(lines)].map((line) => [nameOf(by, line), ...numbersOf(line, formatUsd)])
  return `${table(header, rows)}\n${period}`
}

/** Names are not unique. */
const nameOf = (by: Split, { id, name }: UsageLine): string =>
  by === 'key' && id !== 'total' ? (name === id ? id.slice(0, 12) : `${name} (${id.slice(0, 12)})`) : name
