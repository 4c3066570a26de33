import type { Span } from '../../core/content-filter.ts'
import { type Builtin, isDigit, where } from './builtin.ts'

/**
 * Numbers with their country's code, those of North America in groups, and those that begin with the trunk prefix 0, in
 * groups. Ten digits without a separator are not recognised.
 */
export const phone: Builtin = {
  patterns: [
    String.raw`(?:\+|\b00)[1-9]\d{0,2}[ ./-]?(?:\(\d{1,4}\)[ ./-]?)?\d{1,5}(?:[ ./-]?\d{2,5}){1,5}\b`,
    String.raw`(?:\b1[ .-])?\([2-9]\d{2}\) ?[2-9]\d{2}[ .-]\d{4}\b`,
    String.raw`\b(?:1[ .-])?[2-9]\d{2}[ .-][2-9]\d{2}[ .-]\d{4}\b`,
    String.raw`\(?\b0\d{1,4}\)?[ /.-]\d{2,8}(?:[ .-]?\d{1,4}){0,4}\b`,
  ],
  refine: where((found, text, match) => {
    if (touchesNumber(text, match)) return false
    const digits = found.replace(/\D/g, '').length
    if (/^(?:\+|00)/.test(found)) return digits >= 8 && digits <= 17
    return digits >= 9 && digits <= 12 && !DATE.test(found)
  }),
}

const DATE = /^\(?\d{2}[./-]\d{2}[./-]\d{4}/

/** `1.202-555-0147.3`, `x202-555-0147`: a piece of something longer. */
function touchesNumber(text: string, { start, end }: Span): boolean {
  const joins = (at: number): boolean => text[at] === '-' || text[at] === '.' || text[at] === '/'
  return (
    (start > 1 && joins(start - 1) && isDigit(text.charCodeAt(start - 2))) ||
    (joins(end) && isDigit(text.charCodeAt(end + 1)))
  )
}
