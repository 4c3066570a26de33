import type { Dialect, Turn } from './script.ts'

/** Where a client comes from. The first entry is the one whose version the table names; all are exact. */
export type Source =
  | { readonly from: 'npm'; readonly packages: readonly string[] }
  | {
      readonly from: 'pypi'
      readonly packages: readonly string[]
      /** Dependencies that are left out, in pip's words. */
      readonly without?: readonly string[]
    }
  | { readonly from: 'go'; readonly module: string; readonly program: string }
  | { readonly from: 'cargo'; readonly crate: string; readonly program: string }

/** A library: a program of `programs/` uses it as its documentation says and reports one line of JSON for each check. */
export interface Library {
  readonly kind: 'library'
  readonly name: string
  /** Its folder in the cache; clients that share one are installed once. */
  readonly folder: string
  readonly source: Source
  /** The file in `programs/`; Go and Rust are compiled from their source. */
  readonly program?: string
  readonly surfaces: readonly Surface[]
  /** For one check; default: a minute. */
  readonly limitMs?: number
}

export interface Surface {
  /** What the program calls it. */
  readonly name: string
  /** What the table calls it. */
  readonly label: string
  /** Default: all that the program has. */
  readonly checks?: readonly LibraryCheck[]
  /** What the program prints after the tool call; default: the text that the provider ends with. */
  readonly toolText?: string
}

export const LIBRARY_CHECKS = [
  'answer',
  'stream',
  'tools',
  'image',
  'bad key',
  'unknown model',
  'cut',
  'cancel',
] as const
export type LibraryCheck = (typeof LIBRARY_CHECKS)[number]

/** What an agent is started with. Its HOME and its project are folders of its own. */
export interface Place {
  readonly home: string
  readonly project: string
  /** The folder of its installation in the cache. */
  readonly installed: string
  readonly url: string
  readonly key: string
  readonly model: string
}

interface Start {
  readonly command: readonly string[]
  /** Run first, with the same environment: some agents keep their settings in a database of their own. */
  readonly before?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  /** Files to write first, by absolute path. */
  readonly files?: Readonly<Record<string, string>>
}

/** A coding agent: it is asked to change a file of a project, and the scripted provider calls the agent's own tools. */
export interface Agent {
  readonly kind: 'agent'
  readonly name: string
  readonly folder: string
  readonly source: Source
  /** The dialect that it speaks to the gateway, and where it is set. */
  readonly way: string
  /** The providers behind the gateway with which the loop is run; bad key and cut are tried with the first. */
  readonly dialects: readonly Dialect[]
  start(place: Place): Start
  /** What the provider does in turn to change the file of this absolute path: tool calls, or a text for aider. */
  steps(file: string): readonly Turn[]
}

export type Client = Library | Agent

export const AGENT_CHECKS = ['file edited', 'bad key', 'unknown model', 'cut'] as const
