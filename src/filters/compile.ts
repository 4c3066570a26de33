import type {
  ContentFilter,
  ContentFilters,
  FilterMatch,
  OutputFilters,
  Purpose,
  ScanBudget,
  Sought,
  Span,
  Steps,
} from '../core/content-filter.ts'
import { GatewayError } from '../core/errors.ts'
import { finished } from './budget.ts'
import type { Builtin } from './builtins/builtin.ts'
import { type Builtins, builtins } from './builtins/index.ts'
import { createDetector, createFinder, type Detector, type Finder, programsOf } from './search.ts'
import { createWatcher, type Watcher } from './watch.ts'

export type Direction = 'input' | 'output' | 'both'

/** As they are stored. */
export interface BuiltinEntry {
  readonly slug: string
  readonly action: ContentFilter['action']
  readonly label?: string
  readonly scanScope?: 'user_only' | 'all_messages'
  /** Default: input. */
  readonly appliesTo?: Direction
}
export interface PatternEntry {
  readonly pattern: string
  readonly action: ContentFilter['action']
  readonly label?: string
  readonly appliesTo?: Direction
}

interface Compiled {
  filter: ContentFilter
  /** All of its patterns as one. */
  pattern: string
  refine: Builtin['refine']
  finder: Finder | null
}

/**
 * The filters of one guardrail, compiled when a text is first scanned and then cached. Throws then if a pattern is
 * invalid: administration rejects such patterns, and a request must not pass a filter that cannot work.
 */
export function compileFilters(
  own: readonly BuiltinEntry[],
  patterns: readonly PatternEntry[],
  known: Builtins = builtins,
): ContentFilters {
  const asked = [own.filter(isForInput), patterns.filter(isForInput)] as const
  const output = outputFilters(own.filter(isForOutput), patterns.filter(isForOutput), known)
  const purposes = new Set<Purpose>(asked.flat().map(purposeOf))
  let compiled: readonly Compiled[] | null = null
  const searches: Partial<Record<Purpose, Search>> = {}
  return {
    holdOnInput: purposes.size > 0,
    ...(output && { output }),
    *scan(text, isUser, which, budget) {
      if (!purposes.has(which)) return NO_MATCHES
      compiled ??= allCompiled(...asked, known)
      searches[which] ??= yield* createSearch(compiled.filter(({ filter }) => purposeOf(filter) === which))
      return yield* searches[which](text, isUser, budget)
    },
  }
}

/** Filters of each purpose are searched and budgeted separately. */
type Search = (text: string, isUser: boolean, budget: ScanBudget) => Steps<FilterMatch[]>

function* createSearch(entries: readonly Compiled[]): Steps<Search> {
  const detector: Detector = yield* createDetector(entries.map(({ pattern }) => pattern))
  return function* (text, isUser, budget) {
    const found = yield* detector(text, budget)
    const matches: FilterMatch[] = []
    for (const index of [...found].sort((a, b) => a - b)) {
      const entry = entries[index]
      if (entry === undefined || (entry.filter.userOnly && !isUser)) continue
      const match = yield* matchOf(entry, text, budget)
      if (match !== null) matches.push(match)
    }
    return matches
  }
}

const purposeOf = ({ action }: Pick<ContentFilter, 'action'>): Purpose =>
  action === 'flag' ? 'recording' : 'rewriting'

interface Directed {
  readonly appliesTo?: Direction
}

const isForInput = ({ appliesTo = 'input' }: Directed): boolean => appliesTo !== 'output'
const isForOutput = ({ appliesTo = 'input' }: Directed): boolean => appliesTo !== 'input'

const allCompiled = (
  own: readonly BuiltinEntry[],
  patterns: readonly PatternEntry[],
  known: Builtins,
): Compiled[] => [...own.map((entry) => compiledBuiltin(entry, known)), ...patterns.map(compiledPattern)]

/** Filters that only record run separately: no text is held back for them. */
function outputFilters(
  own: readonly BuiltinEntry[],
  patterns: readonly PatternEntry[],
  known: Builtins,
): OutputFilters | undefined {
  if (own.length + patterns.length === 0) return undefined
  const watchers: Partial<Record<Purpose, Watcher>> = {}
  let compiled: readonly Compiled[] | null = null

  function* watcherOf(which: Purpose): Steps<Watcher> {
    compiled ??= allCompiled(own, patterns, known)
    const entries = compiled.filter(({ filter }) => purposeOf(filter) === which)
    const programs = yield* programsOf(entries.map(({ pattern }) => pattern))
    watchers[which] ??= createWatcher(entries.map(soughtOf), programs)
    return watchers[which]
  }

  return {
    rewrites: [...own, ...patterns].some(({ action }) => action !== 'flag'),
    holds: (filter) => compiled?.some((entry) => entry.filter === filter) ?? false,
    *compile() {
      for (const which of ['rewriting', 'recording'] as const) {
        if (watchers[which] === undefined) yield* watcherOf(which)
      }
    },
    open: (which) => (watchers[which] ?? finished(watcherOf(which))).open(),
  }
}

const soughtOf = (entry: Compiled): Sought => ({
  filter: entry.filter,
  find(text, from, budget) {
    entry.finder ??= createFinder(entry.pattern)
    return finished(spansOf(text, from, entry.finder, entry.refine, true, budget))
  },
})

const NO_MATCHES: FilterMatch[] = []

function compiledBuiltin({ slug, action, label, scanScope }: BuiltinEntry, known: Builtins): Compiled {
  const builtin = Object.hasOwn(known, slug) ? known[slug] : undefined
  if (builtin === undefined) throw notThere(slug)
  return {
    filter: {
      action,
      name: label || slug,
      slug,
      placeholder: label || `[REDACTED:${slug}]`,
      userOnly: scanScope === 'user_only',
    },
    pattern: builtin.patterns.join('|'),
    refine: builtin.refine,
    finder: null,
  }
}

/** A guardrail may be older than the settings, so an unavailable filter must be an error. */
const notThere = (slug: string): GatewayError =>
  new GatewayError(
    503,
    slug === 'person-name'
      ? 'A guardrail of this key looks for names of people (person-name), and this gateway has no list of them: SLUICE_PERSON_NAMES names none'
      : `A guardrail of this key has a content filter that this version does not know: ${slug}`,
  )

const LONGEST_NAME = 200

const compiledPattern = ({ pattern, action, label }: PatternEntry): Compiled => ({
  filter: {
    action,
    name: label || pattern.slice(0, LONGEST_NAME),
    slug: null,
    placeholder: label || '[REDACTED]',
    userOnly: false,
  },
  pattern,
  refine: undefined,
  finder: null,
})

/** Only redaction needs the place of a match; an exact pattern needs no second search. */
function* matchOf(entry: Compiled, text: string, budget: ScanBudget): Steps<FilterMatch | null> {
  const { filter, refine } = entry
  const isRedacted = filter.action === 'redact'
  if (!isRedacted && refine === undefined) return { filter, spans: [] }
  entry.finder ??= createFinder(entry.pattern)
  const spans = yield* spansOf(text, 0, entry.finder, refine, isRedacted, budget)
  return spans.length === 0 ? null : { filter, spans: isRedacted ? spans : [] }
}

function* spansOf(
  text: string,
  from: number,
  find: Finder,
  refine: Builtin['refine'],
  wantsAll: boolean,
  budget: ScanBudget,
): Steps<Span[]> {
  const spans: Span[] = []
  let at = from
  for (;;) {
    const match = yield* find(text, at, budget)
    if (match === null) break
    at = match.end
    if (refine === undefined) spans.push(match)
    else {
      budget.spend(match.end - match.start)
      spans.push(...refine(text, match))
    }
    if (!wantsAll && spans.length > 0) break
  }
  return spans
}
