import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Document, LineCounter, YAMLError } from 'yaml'

/** `problem` completes the sentence "<path> …" and never quotes the file: it may hold secrets. */
export type ConfigFile = ReadFile | { readonly path: string; readonly problem: string }

export interface ReadFile {
  readonly path: string
  readonly values: Readonly<Record<string, unknown>>
  /** The line of a value such as `['providers', 0, 'slug']`. If it is missing, that of the list or map around it. */
  readonly lineOf: (place: Place) => number
}

type Place = readonly (string | number)[]

/**
 * Reads the file that SLUICE_CONFIG names, else `sluice.yaml` of the working folder, else that of the data
 * folder. Null if none is named and neither exists.
 */
export async function readConfigFile(
  named: string | undefined,
  workingFolder: string,
  dataFolder: string,
): Promise<ConfigFile | null> {
  if (named !== undefined) return readYaml(resolve(workingFolder, named))
  const path = [workingFolder, dataFolder].map((folder) => resolve(folder, 'sluice.yaml')).find(existsSync)
  return path === undefined ? null : readYaml(path)
}

async function readYaml(path: string): Promise<ConfigFile> {
  let source: string
  try {
    source = readFileSync(path, 'utf8')
  } catch (error) {
    return { path, problem: `cannot be read: ${whyUnreadable(error)}` }
  }
  // Loaded only if there is a file: its code would delay every start.
  const { LineCounter, parseDocument } = await import('yaml')
  const lines = new LineCounter()
  const document = parseDocument(source, { lineCounter: lines, prettyErrors: false, merge: true })
  const [error] = document.errors
  if (error !== undefined) return { path, problem: `is not valid YAML: ${reasonOf(error, lines)}` }
  const values = valuesOf(document)
  if (values === UNRESOLVED) return { path, problem: 'has an alias without an anchor, or too many aliases' }
  if (values === null || values === undefined) return { path, values: {}, lineOf: () => 1 }
  if (!isRecord(values)) return { path, problem: 'must hold settings as `name: value`' }
  return { path, values, lineOf: (place) => lineOf(document, lines, place) }
}

const REASONS: Partial<Record<YAMLError['code'], string>> = {
  DUPLICATE_KEY: 'a key is there twice',
  MULTIPLE_DOCS: 'it must be one document',
}

/** The library's message without its quotation of the file. */
function reasonOf({ code, message, pos }: YAMLError, lines: LineCounter): string {
  const { line, col } = lines.linePos(pos[0])
  const reason = REASONS[code] ?? message.replace(/ ?[:\\"'`].*$/s, '')
  return `${reason}, in line ${line}, column ${col}`
}

const UNRESOLVED = Symbol('unresolved')

/** The library throws for an alias without an anchor, and for aliases that multiply the file (100 at most). */
function valuesOf(document: Document): unknown {
  try {
    return document.toJS()
  } catch {
    return UNRESOLVED
  }
}

function lineOf(document: Document, lines: LineCounter, place: Place): number {
  for (let length = place.length; length > 0; length--) {
    const range = rangeOf(document.getIn(place.slice(0, length), true))
    if (range !== undefined) return lines.linePos(range).line
  }
  return 1
}

const rangeOf = (node: unknown): number | undefined =>
  isRecord(node) && Array.isArray(node['range']) ? Number(node['range'][0]) : undefined

const whyUnreadable = (error: unknown): string => {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  if (code === 'ENOENT') return 'there is no such file'
  if (code === 'EISDIR') return 'it is a folder'
  return code === 'EACCES' ? 'permission denied' : String(code ?? error)
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
