/** A parser of plain XML that rejects what is not well-formed: unbalanced tags, bare `&` and `<`, unquoted attributes. */
export interface Element {
  name: string
  attributes: Record<string, string>
  text: string
  children: Element[]
}

const TOKEN = /<\?xml[^>]*\?>|<(\/)?([\w:]+)((?:\s+[\w:]+="[^"<]*")*)\s*(\/)?>|([^<]+)/y

export function parseXml(source: string): Element {
  const root: Element = { name: '', attributes: {}, text: '', children: [] }
  const open = [root]
  TOKEN.lastIndex = 0
  while (TOKEN.lastIndex < source.length) {
    const at = TOKEN.lastIndex
    const match = TOKEN.exec(source)
    const parent = open.at(-1)
    if (match === null || parent === undefined) throw new Error(`not well-formed at ${at}`)
    const [, isEnd, name = '', attributes = '', isEmpty, text] = match
    if (text !== undefined) parent.text += decoded(text)
    else if (isEnd) {
      if (open.pop()?.name !== name) throw new Error(`</${name}> closes nothing at ${at}`)
    } else if (name !== '') {
      const element: Element = { name, attributes: attributesOf(attributes), text: '', children: [] }
      parent.children.push(element)
      if (!isEmpty) open.push(element)
    }
  }
  const [only, ...others] = root.children
  if (open.length !== 1 || only === undefined || others.length > 0)
    throw new Error('not one complete element')
  return only
}

export const childrenOf = (element: Element | undefined, name: string): Element[] =>
  element?.children.filter((child) => child.name === name) ?? []
export const textOf = (element: Element | undefined, name: string): string | undefined =>
  childrenOf(element, name)[0]?.text

const attributesOf = (source: string): Record<string, string> =>
  Object.fromEntries(
    [...source.matchAll(/([\w:]+)="([^"]*)"/g)].map(([, name = '', value = '']) => [name, decoded(value)]),
  )

const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }
function decoded(text: string): string {
  return text.replace(/&(\w+;)?/g, (entity, name?: string) => {
    const character = ENTITIES[name?.slice(0, -1) ?? '']
    if (character === undefined) throw new Error(`${entity} is not an entity`)
    return character
  })
}
