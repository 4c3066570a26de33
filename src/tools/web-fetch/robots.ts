/** As RFC 9309 has it: at least 500 KiB must be read. */
export const ROBOTS_BYTES = 512 * 1024
const MOST_RULES = 1_000
const LONGEST_RULE = 500
const LONGEST_PATH = 2_000

export interface RobotsRules {
  /** True if the path, with its query, may be fetched. */
  permits(path: string): boolean
}

interface Rule {
  readonly allows: boolean
  readonly pattern: string
}

/**
 * The rules of a robots.txt (RFC 9309) for the first of `agents` that it names, else for `*`. The longest matching rule
 * decides, `allow` before `disallow`. Work is bounded: lines and rules beyond the limits are left out.
 */
export function readRobots(text: string, agents: readonly string[]): RobotsRules {
  const groups = groupsOf(text)
  const name = agents.find((agent) => groups.has(agent)) ?? '*'
  const rules = groups.get(name) ?? []
  return {
    permits(path) {
      const shown = path.slice(0, LONGEST_PATH)
      let best: Rule | undefined
      for (const rule of rules) {
        const isBetter =
          best === undefined ||
          rule.pattern.length > best.pattern.length ||
          (rule.pattern.length === best.pattern.length && rule.allows)
        if (isBetter && matchesRule(shown, rule.pattern)) best = rule
      }
      return best?.allows ?? true
    },
  }
}

/** The rules of each agent, in lower case. Groups of the same agent are one. */
function groupsOf(text: string): Map<string, Rule[]> {
  const groups = new Map<string, Rule[]>()
  let named = new Set<string>()
  let hasRules = false
  let count = 0
  for (const line of text.slice(0, ROBOTS_BYTES).split(/[\r\n]+/)) {
    const colon = line.indexOf(':')
    if (colon === -1) continue
    const field = line.slice(0, colon).trim().toLowerCase()
    const [value = ''] = line.slice(colon + 1, colon + 1 + LONGEST_RULE).split('#', 1)
    if (field === 'user-agent') {
      if (hasRules) named = new Set()
      hasRules = false
      named.add(value.trim().toLowerCase())
      continue
    }
    if (field !== 'allow' && field !== 'disallow') continue
    hasRules = true
    const pattern = value.trim()
    if (pattern === '' || count >= MOST_RULES) continue
    count += named.size
    for (const agent of named) {
      const rules = groups.get(agent) ?? []
      rules.push({ allows: field === 'allow', pattern })
      groups.set(agent, rules)
    }
  }
  return groups
}

/** `*` stands for anything, `$` at the end for the end. Each piece is looked for once, from left to right. */
function matchesRule(path: string, pattern: string): boolean {
  const isAnchored = pattern.endsWith('$')
  const [first = '', ...pieces] = (isAnchored ? pattern.slice(0, -1) : pattern).split('*')
  if (!path.startsWith(first)) return false
  let at = first.length
  const last = isAnchored ? pieces.pop() : undefined
  for (const piece of pieces) {
    const found = path.indexOf(piece, at)
    if (found === -1) return false
    at = found + piece.length
  }
  if (!isAnchored) return true
  return last === undefined ? at === path.length : path.length - last.length >= at && path.endsWith(last)
}
