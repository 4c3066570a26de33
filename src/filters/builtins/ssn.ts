import type { Span } from '../../core/content-filter.ts'
import { type Builtin, isDigit, where } from './builtin.ts'

/** US Social Security numbers, in groups, without those that are never issued. */
export const ssn: Builtin = {
  patterns: [String.raw`\b\d{3}-\d{2}-\d{4}\b`, String.raw`\b\d{3} \d{2} \d{4}\b`],
  refine: where((found, text, match) => {
    const area = Number(found.slice(0, 3))
    const isGiven = area !== 0 && area !== 666 && area < 900
    return isGiven && found.slice(4, 6) !== '00' && found.slice(7) !== '0000' && !isPiece(text, match)
  }),
}

const isPiece = (text: string, { start, end }: Span): boolean =>
  (text[start - 1] === '-' && isDigit(text.charCodeAt(start - 2))) ||
  (text[end] === '-' && isDigit(text.charCodeAt(end + 1)))
