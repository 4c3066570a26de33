/** What `sluice verify` prints of one part: a line for each difference, and a summary last. */
export function withVerdict(
  path: string,
  what: string,
  differences: readonly string[],
  ifEqual = '',
): string[] {
  const count = differences.length
  const verdict =
    count === 0
      ? `ok: ${what}${ifEqual}`
      : `${count} ${count === 1 ? 'difference' : 'differences'} in ${what}`
  return [...differences, `${path}: ${verdict}`]
}
