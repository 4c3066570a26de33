import { badRequest } from '../core/errors.ts'

const UTC_INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?Z$/

/** True if the day of an ISO 8601 text exists. `Date` accepts 31 February and returns a day in March. */
export function hasItsDay(text: string): boolean {
  const day = text.slice(0, 10)
  const midnight = new Date(`${day}T00:00:00Z`)
  return !Number.isNaN(midnight.getTime()) && midnight.toJSON().startsWith(day)
}

/** A date and time in UTC; null for other text, and for a day that its month does not have. */
export function utcInstant(text: string): Date | null {
  if (!UTC_INSTANT.test(text) || !hasItsDay(text)) return null
  const instant = new Date(text)
  const isThatDay = !Number.isNaN(instant.getTime()) && instant.toJSON().slice(0, 10) === text.slice(0, 10)
  return isThatDay ? instant : null
}

/** The instant that a query names. Throws a 400 that names the parameter. */
export function instantOf(text: string, parameter: string): Date {
  const instant = utcInstant(text)
  if (instant === null) throw badRequest('this day or time does not exist', `query parameter ${parameter}`)
  return instant
}
