import {
  type ContentFilter,
  type OutputFilters,
  OverBudget,
  type Piece,
  type Purpose,
  type TextScan,
  type Watch,
} from '../../core/content-filter.ts'
import { dataUrlHead } from '../../core/data-url.ts'
import type { GuardrailRecord } from '../../core/guardrail.ts'
import { isObject } from '../../core/json.ts'
import { words } from '../../core/words.ts'
import { createBudget } from '../../filters/budget.ts'
import { openTextScan } from '../../filters/text-scan.ts'
import { createReport, type FilterReport } from './report.ts'

/** The output filters of one request. */
export interface Scanners {
  /** False: filters only flag, and text passes unchanged. */
  readonly rewrites: boolean
  readonly report: FilterReport
  /** The number of replaced places. */
  readonly replaced: number
  /** A filter blocked the reply: it ends here. */
  readonly isBlocked: boolean
  /** Blocks the reply because searching it exceeds the budget. */
  stopOverBudget(): void
  /** Opens a scan of a text that arrives in pieces. */
  open(): Scan
  /** Scans all texts of a value. Returns the same value if none changed. */
  scan(value: unknown): unknown
  /** True if no text of a value would change. Reports nothing. */
  isClean(value: unknown): boolean
}

export interface Scan {
  push(text: string): readonly Piece[]
  end(): readonly Piece[]
}

interface Guarding extends GuardrailRecord {
  filters: NonNullable<GuardrailRecord['filters']> & { output: OutputFilters }
}

/** Null if no guardrail filters replies. */
export function createScanners(guardrails: readonly GuardrailRecord[] | undefined): Scanners | null {
  if (guardrails === undefined) return null
  const guarding = guardrails.filter(isGuarding)
  return guarding.length === 0 ? null : scannersOf(guarding)
}

const isGuarding = (guardrail: GuardrailRecord): guardrail is Guarding =>
  guardrail.filters?.output !== undefined

/** Fields with protocol values, sealed state and file contents, which are not scanned. */
export const NO_TEXT: ReadonlySet<string> = new Set(
  words(`
  id type object role status model channel phase signature thought_signature thoughtSignature
  encrypted_content encrypted_index data result b64_json partial_image_b64
`),
)

function scannersOf(guarding: readonly Guarding[]): Scanners {
  const report = createReport('output')
  const budget = createBudget()
  /** Several guardrails may share filters, which are applied once. */
  const outputs = [...new Set(guarding.map(({ filters }) => filters.output))]
  const rewrites = outputs.some((output) => output.rewrites)
  let replaced = 0
  let isBlocked = false

  const watches = (which: Purpose): Watch[] => outputs.flatMap((output) => output.open(which))

  const recording = createBudget()
  const recorder = createFlagRecorder(report)
  const found = findingsOf(guarding, report)

  function counted(pieces: readonly Piece[]): readonly Piece[] {
    for (const { kind } of pieces) {
      if (kind === 'replaced') replaced += 1
      if (kind === 'blocked') isBlocked = true
    }
    return pieces
  }

  function open(): Scan {
    const flags = recorder.isRecording() ? watches('recording') : []
    const flagScan = flags.length > 0 ? openTextScan(flags, recording, found) : null
    const scan: TextScan | null = rewrites ? openTextScan(watches('rewriting'), budget, found) : null
    return {
      push(text) {
        budget.grow(text.length * outputs.length)
        recording.grow(text.length * outputs.length)
        recorder.record(() => flagScan?.push(text))
        return scan === null ? [{ text, length: text.length, kind: 'kept' }] : counted(scan.push(text))
      },
      end() {
        recorder.record(() => flagScan?.end())
        return scan === null ? [] : counted(scan.end())
      },
    }
  }

  function scanText(text: string): string {
    const scan = open()
    return textOf(scan.push(text)) + textOf(scan.end())
  }

  function isCleanText(text: string): boolean {
    budget.grow(text.length * outputs.length)
    const scan = openTextScan(watches('rewriting'), budget, () => undefined)
    return [...scan.push(text), ...scan.end()].every(({ kind }) => kind === 'kept')
  }

  return {
    rewrites,
    report,
    get replaced() {
      return replaced
    },
    get isBlocked() {
      return isBlocked
    },
    stopOverBudget() {
      isBlocked = true
      report.overBudget()
    },
    open,
    scan: (value) => mapTexts(value, scanText),
    isClean: (value) => isEveryText(value, isCleanText),
  }
}

/** Filters that only flag never end a reply: when they exceed their budget they stop, and the report notes that. */
function createFlagRecorder(report: FilterReport) {
  let isRecording = true
  return {
    isRecording: () => isRecording,
    record(scan: () => void): void {
      if (!isRecording) return
      try {
        scan()
      } catch (error) {
        if (!(error instanceof OverBudget)) throw error
        isRecording = false
        report.unfinished()
      }
    },
  }
}

/** Reports findings under the guardrail that owns the filter. Owners are looked up once per filter. */
function findingsOf(guarding: readonly Guarding[], report: FilterReport) {
  const owners = new Map<ContentFilter, Guarding | undefined>()
  return (filter: ContentFilter, places: number): void => {
    if (!owners.has(filter)) {
      owners.set(
        filter,
        guarding.find(({ filters }) => filters.output.holds(filter)),
      )
    }
    const owner = owners.get(filter)
    if (owner) report.add(owner, filter, places)
  }
}

export const textOf = (pieces: readonly Piece[]): string =>
  pieces.length === 1 && pieces[0] ? pieces[0].text : pieces.map(({ text }) => text).join('')

function isEveryText(value: unknown, passes: (text: string) => boolean): boolean {
  let isSo = true
  mapTexts(value, (text) => {
    isSo &&= passes(text)
    return text
  })
  return isSo
}

/** Maps all texts of a value. Returns the same value if none changed. */
function mapTexts(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return value === '' || dataUrlHead(value)?.isBase64 ? value : change(value)
  if (Array.isArray(value)) {
    const next = value.map((item: unknown) => mapTexts(item, change))
    return next.some((item, index) => item !== value[index]) ? next : value
  }
  if (!isObject(value)) return value
  let next: Record<string, unknown> | null = null
  for (const [name, field] of Object.entries(value)) {
    if (NO_TEXT.has(name) || name.endsWith('_id')) continue
    const changed = mapTexts(field, change)
    if (changed === field) continue
    next ??= { ...value }
    next[name] = changed
  }
  return next ?? value
}
