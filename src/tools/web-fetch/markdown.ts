import TurndownService from 'turndown/lib/turndown.browser.es.js'

/** Writes a part of a page as Markdown. Links keep their addresses; images are their description alone. */
export function markdownOf(body: HTMLElement): string {
  const service = new TurndownService({
    headingStyle: 'atx',
    codeBlockStyle: 'fenced',
    bulletListMarker: '-',
    emDelimiter: '*',
  })
  service.addRule('image', {
    filter: 'img',
    replacement: (_, node) => (node.getAttribute('alt') ?? '').replace(/\s+/g, ' ').trim(),
  })
  service.addRule('link', {
    filter: (node) => node.nodeName === 'A',
    replacement(content, node) {
      const text = content.replace(/\s+/g, ' ').trim()
      const address = node.getAttribute('href')
      return text === '' || !address ? text : `[${text}](${address})`
    },
  })
  service.addRule('cell', {
    filter: ['th', 'td'],
    replacement: (content) => ` ${content.replace(/\s+/g, ' ').replaceAll('|', '\\|').trim()} |`,
  })
  service.addRule('row', {
    filter: 'tr',
    replacement(content, node) {
      const cells = node.childElementCount
      const isFirst = node.parentElement?.querySelector('tr') === node && !isAfterHead(node)
      return `|${content}\n${isFirst ? `|${' --- |'.repeat(cells)}\n` : ''}`
    },
  })
  service.addRule('table', {
    filter: ['table', 'thead', 'tbody', 'tfoot'],
    replacement: (content, node) => (node.nodeName === 'TABLE' ? `\n\n${content}\n\n` : content),
  })
  return service.turndown(body)
}

/** A row of a table that has a head has the separator above it already. */
const isAfterHead = (row: HTMLElement): boolean => {
  const group = row.parentElement
  return group?.nodeName !== 'THEAD' && group?.previousElementSibling?.nodeName === 'THEAD'
}
