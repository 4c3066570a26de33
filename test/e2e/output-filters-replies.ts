import { expect } from 'bun:test'

import { DONE } from '../upstream.ts'
import { dataOf, namedOf, responseWith } from './replies.ts'

/** Replies with an email address in each dialect, and a reader for what callers of each dialect get. */

export const MARK = '[REDACTED:email]'
/** The pieces of a stream, the text as the provider sends it, and as the caller gets it. */
export const WORDS = ['Write to an', 'n@site', '.exam', 'ple or call, pl', 'ease.']
export const SAID = 'Write to ann@site.example or call, please.'
export const CLEAN = `Write to ${MARK} or call, please.`

/** The pieces as a stream of each dialect, without its end if `isOpen`. */
export const streams: Record<string, (words: readonly string[], isOpen: boolean) => string[]> = {
  '/chat/completions': (words, isOpen) => [
    ...words.map((content) => dataOf({ id: 'c', choices: [{ index: 0, delta: { content } }] })),
    ...(isOpen
      ? []
      : [
          dataOf({ id: 'c', choices: [{ index: 0, delta: {}, finish_reason: 'stop' }], usage: CHAT_USAGE }),
          DONE,
        ]),
  ],
  '/messages': (words, isOpen) => [
    namedOf({ type: 'message_start', message: { ...MESSAGE, content: [], stop_reason: null } }),
    namedOf({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
    ...words.map((text) =>
      namedOf({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } }),
    ),
    ...(isOpen
      ? []
      : [
          namedOf({ type: 'content_block_stop', index: 0 }),
          namedOf({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 2 } }),
          namedOf({ type: 'message_stop' }),
        ]),
  ],
  '/responses': (words, isOpen) => {
    const item = { type: 'message', id: 'i', role: 'assistant', status: 'completed' }
    const content = [{ type: 'output_text', text: words.join(''), annotations: [] }]
    const at = { output_index: 0, content_index: 0, item_id: 'i' }
    const response = { id: 'r', object: 'response', status: 'in_progress', output: [] }
    return [
      namedOf({ type: 'response.created', response }),
      namedOf({
        type: 'response.output_item.added',
        output_index: 0,
        item: { ...item, status: 'in_progress', content: [] },
      }),
      ...words.map((delta) => namedOf({ type: 'response.output_text.delta', ...at, delta })),
      ...(isOpen
        ? []
        : [
            namedOf({ type: 'response.output_item.done', output_index: 0, item: { ...item, content } }),
            namedOf({
              type: 'response.completed',
              response: { ...response, status: 'completed', output: [{ ...item, content }], usage: USAGE },
            }),
          ]),
    ]
  },
}
const USAGE = { input_tokens: 10, output_tokens: 2, total_tokens: 12 }
const CHAT_USAGE = { prompt_tokens: 10, completion_tokens: 2, total_tokens: 12 }
const MESSAGE = {
  id: 'm',
  type: 'message',
  role: 'assistant',
  model: 'x',
  usage: { input_tokens: 10, output_tokens: 2 },
}

export const bodies: Record<string, (text: string) => unknown> = {
  '/chat/completions': (content) => ({
    id: 'c',
    choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
    usage: CHAT_USAGE,
  }),
  '/messages': (text) => ({ ...MESSAGE, content: [{ type: 'text', text }], stop_reason: 'end_turn' }),
  '/responses': (text) => responseWith(text, USAGE),
}

export const ASKED: Record<string, object> = {
  '/chat/completions': { messages: [{ role: 'user', content: 'Whom to write to, bob@site.example?' }] },
  '/messages': { max_tokens: 50, messages: [{ role: 'user', content: 'Whom to write to?' }] },
  '/responses': { input: 'Whom to write to?' },
}

/** The text, the end and the routing metadata of a reply in any dialect. */
export function readOf(path: string, text: string) {
  const events = text.startsWith('{')
    ? [JSON.parse(text)]
    : text
        .split('\n')
        .filter((line) => line.startsWith('data: {'))
        .map((line) => JSON.parse(line.slice(6)))
  const last = events.at(-1)
  if (path === '/chat/completions') {
    const choices = events.flatMap(({ choices: own }) => own)
    return {
      delivered: choices.map(({ delta, message }) => (delta ?? message).content ?? '').join(''),
      end: choices.findLast(({ finish_reason }) => finish_reason)?.finish_reason,
      metadata: last.service_metadata,
    }
  }
  if (path === '/messages') {
    const deltas = events.flatMap(({ delta }) => (delta?.text ? [delta.text] : []))
    const end = events.findLast(({ type }) => type === 'message_delta')?.delta
    return {
      delivered: last.content
        ? last.content.map((block: { text: string }) => block.text).join('')
        : deltas.join(''),
      end: (end ?? last).stop_reason,
      metadata: last.service_metadata,
    }
  }
  const complete = last.response ?? last
  const deltas = events.flatMap(({ type, delta }) => (type === 'response.output_text.delta' ? [delta] : []))
  if (last.response) expect(deltas.join('')).toBe(complete.output_text)
  return {
    delivered: complete.output_text,
    end: complete.incomplete_details?.reason ?? complete.status,
    metadata: complete.service_metadata,
  }
}
