import ipaddr from 'ipaddr.js'
import type { Span } from '../../core/content-filter.ts'
import { type Builtin, isDigit, where } from './builtin.ts'

/** Addresses of version 4 in four decimal numbers, and of version 6. */
export const ipAddress: Builtin = {
  patterns: [
    String.raw`\b\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}\b`,
    String.raw`(?:[0-9A-Fa-f]{1,4})?(?::[0-9A-Fa-f]{0,4}){1,6}:\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}\b`,
    '(?:[0-9A-Fa-f]{1,4})?(?::[0-9A-Fa-f]{0,4}){2,7}',
  ],
  refine: where((found, text, match) =>
    found.includes(':') ? isVersion6(found, text, match) : isVersion4(found, text, match),
  ),
}

/** `1.2.3.4.5` and `v1.2.3.4` are versions of something. */
function isVersion4(found: string, text: string, { start, end }: Span): boolean {
  if (found.split('.').some((part) => Number(part) > 255 || (part.length > 1 && part.startsWith('0')))) {
    return false
  }
  const isLonger =
    (text[start - 1] === '.' && isDigit(text.charCodeAt(start - 2))) ||
    (text[end] === '.' && isDigit(text.charCodeAt(end + 1)))
  return !isLonger && !VERSION.test(text.slice(Math.max(0, start - 10), start))
}

const VERSION = /(?:version|release|\bver\.?)[ :=]*$|\bv$/i

/** `std::fd`, `a::b` and times of day are not addresses: a first group of one or two letters without a digit is a name. */
function isVersion6(found: string, text: string, { start, end }: Span): boolean {
  const around = `${text[start - 1] ?? ''}${text[end] ?? ''}`
  if (/[\w:]/.test(around) || !/\d/.test(found)) return false
  const groups = found.split(':').filter((group) => group !== '')
  return (groups.length > 2 || /^(?:::1$|::ffff:|[0-9a-f]{3,4}:)/i.test(found)) && ipaddr.IPv6.isValid(found)
}
