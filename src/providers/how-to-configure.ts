import { vendors } from './compatible.ts'

const MOST_NAMED = 4

/**
 * What an operator can do so that one of these providers is asked, as a sentence without its full stop: the variables
 * of their credentials, in the order of the slugs.
 */
export function howToConfigure(slugs: readonly string[]): string {
  const variables = slugs.flatMap((slug) => vendors.find((vendor) => vendor.slug === slug)?.keys[0] ?? [])
  const [first, ...others] = variables.slice(0, MOST_NAMED)
  if (first === undefined) return 'Add a "providers:" entry for one that does'
  const or = others.length === 0 ? '' : ` (or ${others.join(', ')})`
  return `Set ${first}${or}, or add a "providers:" entry`
}
