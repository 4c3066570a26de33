import type { ContentFilter, ContentFilters, FilterMatch, ScanBudget, Span } from '../core/content-filter.ts'
import type { Builtin } from './builtins/builtin.ts'
import { builtins } from './builtins/index.ts'
import { createDetector, createFinder, type Detector, type Finder } from './search.ts'

/** As they are stored. */
export interface BuiltinEntry {
  readonly slug: string
  readonly action: ContentFilter['action']
  readonly label?: string
  readonly scanScope?: 'user_only' | 'all_messages'
}
export interface PatternEntry {
  readonly pattern: string
  readonly action: ContentFilter['action']
  readonly label?: string
}

interface Compiled {
  filter: ContentFilter
  /** All of its patterns as one. */
  pattern: string
  refine: Builtin['refine']
  finder: Finder | null
}

/**
 * The filters of one guardrail, compiled when a text is first scanned, and kept. Throws then what is wrong with a
 * pattern: administration stores none such, and a request with a filter that cannot work must not pass.
 */
export function compileFilters(
  own: readonly BuiltinEntry[],
  patterns: readonly PatternEntry[],
): ContentFilters {
  let compiled: readonly Compiled[] | null = null
  let detector: Detector | null = null
  return {
    scan(text, isUser, budget) {
      compiled ??= [...own.map(compiledBuiltin), ...patterns.map(compiledPattern)]
      detector ??= createDetector(compiled.map(({ pattern }) => pattern))
      const found = detector(text, budget)
      if (found.size === 0) return NO_MATCHES
      return compiled.flatMap((entry, index) =>
        found.has(index) && (isUser || !entry.filter.userOnly) ? matchOf(entry, text, budget) : [],
      )
    },
  }
}

const NO_MATCHES: FilterMatch[] = []

function compiledBuiltin({ slug, action, label, scanScope }: BuiltinEntry): Compiled {
  const builtin = Object.hasOwn(builtins, slug) ? builtins[slug] : undefined
  if (builtin === undefined) throw new Error(`there is no content filter ${slug}`)
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

/** Only what is redacted must be known to its place; a pattern that says it all has no need to be looked up again. */
function matchOf(entry: Compiled, text: string, budget: ScanBudget): FilterMatch[] {
  const { filter, refine } = entry
  const isRedacted = filter.action === 'redact'
  if (!isRedacted && refine === undefined) return [{ filter, spans: [] }]
  entry.finder ??= createFinder(entry.pattern)
  const spans = spansOf(text, entry.finder, refine, isRedacted, budget)
  return spans.length === 0 ? [] : [{ filter, spans: isRedacted ? spans : [] }]
}

function spansOf(
  text: string,
  find: Finder,
  refine: Builtin['refine'],
  wantsAll: boolean,
  budget: ScanBudget,
): Span[] {
  const spans: Span[] = []
  for (let match = find(text, 0, budget); match !== null; match = find(text, match.end, budget)) {
    if (refine === undefined) spans.push(match)
    else {
      budget.spend(match.end - match.start)
      spans.push(...refine(text, match))
    }
    if (!wantsAll && spans.length > 0) break
  }
  return spans
}
