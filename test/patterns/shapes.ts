import { matchedBy, type Node, parsePattern, sampleOf } from './syntax.ts'

/** A text that makes a search slow: a prefix, a repeated unit, and an end that prevents the match. */
export interface Worst {
  head: string
  unit: string
  tail: string
}

export const textOf = ({ head, unit, tail }: Worst, length: number): string =>
  head + unit.repeat(Math.ceil(length / unit.length)) + tail

/** Prefixes that make a search restart late, and ends that make it continue past the match. */
const TAILS = ['', '!', '\u0001', '\n']

/** The worst texts for a pattern: each of its repetitions pumped, from its beginning and from every place. */
export function worstOf(source: string, flags: string): Worst[] {
  const made = new Map<string, Worst>()
  const add = (head: string, unit: string): void => {
    if (unit === '') return
    for (const tail of TAILS) made.set(JSON.stringify([head, unit, tail]), { head, unit, tail })
  }
  const letters = new Set([' ', 'a', '0'])

  const walk = (nodes: readonly Node[], before: string): void => {
    let head = before
    for (const node of nodes) {
      visit(node, head)
      head += sampleOf([node], flags)
    }
  }
  const visit = (node: Node, head: string): void => {
    if (node.kind === 'one') for (const letter of matchedBy(node.source, flags)) letters.add(letter)
    if (node.kind === 'choice') for (const option of node.options) walk(option, head)
    if (node.kind !== 'many') return
    visit(node.node, head)
    const inside = sampleOf([node.node], flags)
    const units = node.node.kind === 'one' ? matchedBy(node.node.source, flags) : [inside]
    for (const unit of units) {
      add(head, unit)
      add('', head + unit)
    }
    add('', head)
  }
  for (const option of parsePattern(source)) {
    walk(option, '')
    add('', sampleOf(option, flags))
  }
  for (const letter of letters) add('', letter)
  return [...made.values()]
}
