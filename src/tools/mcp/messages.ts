import {
  asList,
  isObject,
  type JsonObject,
  objectsIn,
  parseJson,
  parseObject,
  textOf,
} from '../../core/json.ts'

/** The JSON-RPC messages in server-sent events, as their bytes come. Linear: text is split once for each line end. */
export function createMessageReader(): (bytes: Uint8Array) => JsonObject[] {
  const decoder = new TextDecoder()
  let partial = ''
  let data: string[] = []
  return (bytes) => {
    const text = decoder.decode(bytes, { stream: true })
    partial += text
    if (!text.includes('\n')) return []
    const lines = partial.split('\n')
    partial = lines.pop() ?? ''
    const messages: JsonObject[] = []
    for (const raw of lines) {
      const line = raw.endsWith('\r') ? raw.slice(0, -1) : raw
      if (line.startsWith('data:')) data.push(line.slice('data:'.length))
      if (line !== '' || data.length === 0) continue
      const message = parseObject(data.join('\n'))
      data = []
      if (message !== undefined) messages.push(message)
    }
    return messages
  }
}

/** A JSON body: one message, or several. */
export function messagesIn(body: Uint8Array): JsonObject[] {
  const json = parseJson(new TextDecoder().decode(body))
  return objectsIn(Array.isArray(json) ? json : [json])
}

/** The content of a tool's result as text, up to the part that exceeds `most`. Models read what is not text by its name alone. */
export function textOfResult({ content, structuredContent }: JsonObject, most: number): string {
  const parts: string[] = []
  let length = 0
  for (const part of asList(content)) {
    if (length > most) break
    if (!isObject(part)) continue
    const text = textOfContent(part)
    length += text.length + 1
    parts.push(text)
  }
  if (parts.length > 0) return parts.join('\n')
  return structuredContent === undefined ? '' : JSON.stringify(structuredContent)
}

function textOfContent({ type, text, mimeType, resource, uri, name }: JsonObject): string {
  if (type === 'text') return textOf(text)
  if (type === 'resource_link') return `[${textOf(name)}](${textOf(uri)})`
  const [embedded = {}] = objectsIn([resource])
  if (type === 'resource' && typeof embedded['text'] === 'string') return embedded['text']
  return `[${textOf(type)} ${textOf(mimeType) || textOf(embedded['mimeType'])} was left out]`
}
