/** A parser of regular expressions, as much as is needed to build slow texts for them. */
export type Node =
  | { kind: 'one'; source: string }
  | { kind: 'many'; node: Node; least: number; most: number }
  | { kind: 'choice'; options: Node[][]; isLook: boolean }
  | { kind: 'place' }

const GROUP = /^\(\?(?:[:=!]|<[=!]|<[^>]*>)/
const QUANTIFIER = /^(?:[*+?]|\{(\d+)(,?)(\d*)\})\??/
const ONE =
  /^(?:\\(?:u\{[^}]*\}|u[\dA-Fa-f]{4}|x[\dA-Fa-f]{2}|[pP]\{[^}]*\}|[\s\S])|\[\^?(?:\\[\s\S]|[^\]\\])*\]|[\s\S])/

export function parsePattern(source: string): Node[][] {
  let at = 0

  function options(): Node[][] {
    const found: Node[][] = [[]]
    while (at < source.length && source[at] !== ')') {
      if (source[at] === '|') {
        at += 1
        found.push([])
      } else found.at(-1)?.push(quantified(atom()))
    }
    return found
  }

  function atom(): Node {
    if (source[at] === '(') {
      const opening = GROUP.exec(source.slice(at))?.[0] ?? '('
      at += opening.length
      const inside = options()
      at += 1
      return { kind: 'choice', options: inside, isLook: /[=!]$/.test(opening) }
    }
    const [text = ''] = ONE.exec(source.slice(at)) ?? []
    at += text.length
    return /^(?:[\^$]|\\[bB])$/.test(text) ? { kind: 'place' } : { kind: 'one', source: text }
  }

  function quantified(node: Node): Node {
    const match = QUANTIFIER.exec(source.slice(at))
    if (!match) return node
    at += match[0].length
    const [text, low, comma, high] = match
    if (low === undefined) {
      const most = text.startsWith('?') ? 1 : Number.POSITIVE_INFINITY
      return { kind: 'many', node, least: text.startsWith('+') ? 1 : 0, most }
    }
    const most = comma === '' ? Number(low) : high === '' ? Number.POSITIVE_INFINITY : Number(high)
    return { kind: 'many', node, least: Number(low), most }
  }
  return options()
}

const ALPHABET = [...`aZ09_- .,:;/"'\\{}[]()<>=+%@!#~|^$*&\n\r\t\u0001\u00e9\u65e5`]
const known = new Map<string, string[]>()

/** A few characters that a class, an escape or a letter matches. */
export function matchedBy(source: string, flags: string): string[] {
  const key = `${flags}/${source}`
  let found = known.get(key)
  if (found === undefined) {
    const pattern = new RegExp(`^(?:${source})$`, flags.replace(/[gy]/g, ''))
    const letters = [...new Set([...source, ...ALPHABET])].filter((letter) => pattern.test(letter))
    found = [...letters.slice(0, 2), ...letters.filter((letter) => /\W/.test(letter)).slice(0, 2)]
    known.set(key, found)
  }
  return found
}

/** A text that the nodes match, or nearly: assertions are ignored. */
export const sampleOf = (nodes: readonly Node[], flags: string): string =>
  nodes.map((node) => sampleOfNode(node, flags)).join('')

function sampleOfNode(node: Node, flags: string): string {
  switch (node.kind) {
    case 'one':
      return matchedBy(node.source, flags)[0] ?? ''
    case 'many':
      return sampleOfNode(node.node, flags).repeat(Math.min(Math.max(node.least, 1), 40))
    case 'choice':
      return node.isLook ? '' : sampleOf(node.options[0] ?? [], flags)
    case 'place':
      return ''
  }
}
