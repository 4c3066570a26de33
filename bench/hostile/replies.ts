import { LARGEST, long, nested, type Scale } from './shape.ts'
import { streams } from './streams/index.ts'
import type { Stream } from './streams/stream.ts'

/** A reply of a provider: a complete body or the parts of a stream. */
export interface HostileReply {
  status: number
  type: string
  headers?: Record<string, string>
  parts(scale: Scale): Iterable<string | Uint8Array>
}

const json = (body: (scale: Scale) => string, status = 200): HostileReply => ({
  status,
  type: 'application/json',
  parts: (scale) => [body(scale)],
})

const events = (parts: HostileReply['parts']): HostileReply => ({
  status: 200,
  type: 'text/event-stream',
  parts,
})

function* repeated(scale: Scale, text: string, bytes = LARGEST): Iterable<string> {
  const part = text.repeat(Math.ceil(65_536 / text.length))
  for (let sent = 0; sent < bytes * scale; sent += part.length) yield part
}

const million = (scale: Scale): string => {
  const parts: string[] = []
  for (let index = 0; index < 1_000_000 * scale; index++) parts.push(`"f${index}":1`)
  return parts.join(',')
}

/** In no dialect of its own: any provider may send it. */
const anyDialect: Readonly<Record<string, HostileReply>> = {
  'error-long': json((scale) => `{"error":{"message":"${long(scale, 'no ')}"}}`, 500),
  'error-blanks': json((scale) => `{"error":{"message":"no${long(scale, ' ')}!"}}`, 400),
  'error-deep': json((scale) => nested(1_000_000 * scale, '{"error":', '}', '"no"'), 500),
  'error-page': { status: 502, type: 'text/html', parts: (scale) => repeated(scale, '<p> ') },
  'error-fields': json((scale) => `{"error":{"message":"no",${million(scale)}}}`, 429),
  'body-deep': json((scale) => nested(1_000_000 * scale, '{"x":', '}')),
  'body-fields': json((scale) => `{${million(scale)}}`),
  'body-blanks': { status: 200, type: 'application/json', parts: (scale) => repeated(scale, ' ') },
  'body-text': json((scale) => `"${long(scale, 'word ')}"`),
  'stream-blanks': events((scale) => repeated(scale, ' ')),
  'stream-lines': events((scale) => repeated(scale, '\n')),
  'stream-returns': events((scale) => repeated(scale, '\r')),
  'stream-comments': events((scale) => repeated(scale, ':\n')),
  'stream-names': events((scale) => repeated(scale, 'event: a\n\n')),
  'stream-line': events((scale) => repeated(scale, 'data')),
  'stream-data-lines': events((scale) => repeated(scale, 'data: {\n')),
  'stream-empty-objects': events((scale) => repeated(scale, 'data: {}\n\n')),
  'stream-indented': events((scale) => repeated(scale, ' data: {}\n')),
  'stream-bare': events((scale) => repeated(scale, '{\n')),
}

const chunked = ({ wrap }: Stream, inside: (scale: Scale) => Iterable<string>): HostileReply['parts'] =>
  function* (scale) {
    for (const part of inside(scale)) yield wrap(part)
  }

/** By the name of the model that is asked for: `<dialect>-<shape>`. */
export const replies: ReadonlyMap<string, HostileReply> = new Map([
  ...Object.entries(anyDialect).map(([name, reply]) => [`chat-${name}`, reply] as const),
  ...Object.entries<Stream>(streams).flatMap(([dialect, stream]) => [
    [`${dialect}-plain`, json(() => stream.plain)] as const,
    ...Object.entries(stream.shapes).map(
      ([name, inside]) => [`${dialect}-${name}`, events(chunked(stream, inside))] as const,
    ),
    ...Object.entries(stream.bodies ?? {}).map(([name, body]) => [`${dialect}-${name}`, json(body)] as const),
  ]),
])
