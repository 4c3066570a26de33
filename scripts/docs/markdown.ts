export const code = (text: string | undefined): string => (text ? `\`${text}\`` : '')

/** Cells may hold Markdown. A vertical bar would end the cell. */
export function table(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|').replaceAll('\n', ' ')).join(' | ')} |`
  return [line(header), line(header.map(() => '---')), ...rows.map(line)].join('\n')
}

export const note = (source: string): string =>
  `This page is generated from ${source} by \`bun run docs\`: change it there.`
