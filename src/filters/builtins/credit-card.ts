import type { Span } from '../../core/content-filter.ts'
import { type Builtin, isDigit } from './builtin.ts'

/** What card numbers begin with, and how long they are, by the lists of their issuers. */
const ISSUERS: readonly (readonly [begin: RegExp, lengths: readonly number[]])[] = [
  [/^4/, [13, 16, 19]],
  [/^(?:5[1-5]|222[1-9]|22[3-9]|2[3-6]|27[01]|2720)/, [16]],
  [/^3[47]/, [15]],
  [/^(?:6011|65|64[4-9])/, [16, 17, 18, 19]],
  [/^(?:36|38|39|30[0-59])/, [14]],
  [/^35(?:2[89]|[3-8])/, [16, 17, 18, 19]],
  [/^62/, [16, 17, 18, 19]],
  [/^(?:5018|5020|5038|5893|6304|6759|676[1-3])/, [12, 13, 14, 15, 16, 17, 18, 19]],
]

/** The check digit of ISO/IEC 7812: every second digit from the right doubled, the sum of all digits a multiple of 10. */
export function passesLuhn(digits: string): boolean {
  let sum = 0
  for (let at = 0; at < digits.length; at++) {
    const digit = digits.charCodeAt(digits.length - 1 - at) - 48
    const doubled = at % 2 === 1 ? digit * 2 : digit
    sum += doubled > 9 ? doubled - 9 : doubled
  }
  return sum % 10 === 0
}

const isCard = (digits: string): boolean =>
  ISSUERS.some(([begin, lengths]) => lengths.includes(digits.length) && begin.test(digits)) &&
  passesLuhn(digits)

const LONGEST = 19

/** Digits in an issuer's format that pass the checksum, alone or in groups; other numbers may be adjacent. */
export const creditCard: Builtin = {
  patterns: [String.raw`\b\d(?:[ -]?\d){11,}\b`],
  refine(text, { start, end }) {
    const groups = groupsOf(text, start, end)
    const spans: Span[] = []
    for (let first = 0; first < groups.length; first++) {
      const found = cardFrom(groups, first)
      if (found === null) continue
      const [from, to] = [groups[first], groups[found]]
      if (from && to) spans.push({ start: from.start, end: to.end })
      first = found
    }
    return spans
  },
}

interface Group extends Span {
  digits: string
}

function groupsOf(text: string, start: number, end: number): Group[] {
  const groups: Group[] = []
  for (let at = start; at < end; at++) {
    if (!isDigit(text.charCodeAt(at))) continue
    const from = at
    while (at < end && isDigit(text.charCodeAt(at))) at++
    groups.push({ start: from, end: at, digits: text.slice(from, at) })
  }
  return groups
}

/** The group that a card which begins with this group ends with; null: none begins here. */
function cardFrom(groups: readonly Group[], first: number): number | null {
  let digits = ''
  for (let last = first; last < groups.length && digits.length < LONGEST; last++) {
    digits += groups[last]?.digits ?? ''
    if (isCard(digits)) return last
  }
  return null
}
