import type { Goal } from './report.ts'

/** Rows as a Markdown table: the first column to the left, figures to the right. */
export function markdown(rows: readonly string[][]): string {
  const [head = [], ...body] = rows
  const rule = head.map((_, index) => (index === 0 ? '---' : '--:'))
  return [head, rule, ...body].map((row) => `| ${row.join(' | ')} |`).join('\n')
}

/** The same for a terminal. */
export function aligned(rows: readonly string[][]): string {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => (row[column] ?? '').length)),
  )
  const line = (row: string[]) =>
    row
      .map((cell, column) => {
        const width = widths[column] ?? 0
        return column === 0 ? cell.padEnd(width) : cell.padStart(width)
      })
      .join('   ')
  return rows.map(line).join('\n')
}

/** `isSmoke`: the figures alone, since a short run on a shared machine judges nothing. */
export function goalRows(goals: readonly Goal[], isSmoke = false): string[][] {
  const verdict = (isReached: boolean | null) =>
    isReached === null ? 'not measured' : isReached ? 'yes' : 'NO'
  if (isSmoke) {
    const measured = goals.filter((goal) => goal.isReached !== null)
    return [['ratio', 'measured'], ...measured.map((goal) => [goal.name, goal.measured])]
  }
  return [
    ['goal', 'must', 'stretch', 'measured', 'reached'],
    ...goals.map((goal) => [goal.name, goal.must, goal.stretch, goal.measured, verdict(goal.isReached)]),
  ]
}
