import fc from 'fast-check'
import type { ContentPart, Message } from '../../../src/core/request.ts'
import type { Count } from '../../../src/plugins/context-compression/tokens.ts'

/** Random conversations as agents and chats have them: instructions anywhere, calls with several results, thoughts. */

const words = fc
  .array(fc.constantFrom('lorem', 'ipsum', 'dolor', '😀', '漢字', 'x'), { maxLength: 60 })
  .map((some) => some.join(' '))
const image: fc.Arbitrary<ContentPart> = fc.constant({ type: 'image', url: 'https://site.example/a.png' })
const part = fc.oneof(
  words.map((text): ContentPart => ({ type: 'text', text })),
  image,
  fc.constant<ContentPart>({ type: 'file', data: 'data:application/pdf;base64,AAAA' }),
)
const content = fc.oneof(
  { weight: 3, arbitrary: words },
  { weight: 1, arbitrary: fc.array(part, { minLength: 1, maxLength: 4 }) },
)

const user = content.map((said): Message[] => [{ role: 'user', content: said }])
const instruction = words.map((said): Message[] => [{ role: 'system', content: said }])
const answer = fc
  .record({ said: content, isSigned: fc.boolean() })
  .map(({ said, isSigned }): Message[] => [
    { role: 'assistant', content: said, ...(isSigned ? thought : {}) },
  ])
const thought: Partial<Message> = {
  reasoning: 'Hm.',
  reasoningDetails: [{ type: 'reasoning.text', text: 'Hm.', signature: 'c2ln' }],
}
const calls = fc
  .record({
    results: fc.array(content, { minLength: 1, maxLength: 3 }),
    isSigned: fc.boolean(),
    isLate: fc.boolean(),
  })
  .map(({ results, isSigned, isLate }): Message[] => [
    {
      role: 'assistant',
      content: null,
      toolCalls: results.map((_, i) => ({ id: `#${i}`, name: 'look', arguments: '{"at": 1}' })),
      ...(isSigned ? thought : {}),
    },
    // A user may write while the tools run.
    ...(isLate ? [{ role: 'user' as const, content: 'And?' }] : []),
    ...results.map((said, i): Message => ({ role: 'tool', content: said, toolCallId: `#${i}` })),
  ])

const piece = fc.oneof(
  { weight: 4, arbitrary: user },
  { weight: 4, arbitrary: answer },
  { weight: 3, arbitrary: calls },
  { weight: 1, arbitrary: instruction },
)

/** Ids of calls are unique, as providers require. */
const withIds = (pieces: Message[][]): Message[] =>
  pieces.flatMap((messages, n) =>
    messages.map((message) => ({
      ...message,
      ...(message.toolCalls && {
        toolCalls: message.toolCalls.map((call) => ({ ...call, id: `${n}${call.id}` })),
      }),
      ...(message.toolCallId && { toolCallId: `${n}${message.toolCallId}` }),
    })),
  )

export const conversation = fc
  .record({ system: fc.boolean(), pieces: fc.array(piece, { minLength: 1, maxLength: 24 }) })
  .map(({ system, pieces }) => [
    ...(system ? [{ role: 'system' as const, content: 'You help.' }] : []),
    ...withIds(pieces),
  ])
  // Detects a message that was changed.
  .map((messages) => messages.map((message, at): Message => ({ ...message, extra: { at } })))

/** A token for three characters, and one for a note. */
export const count: Count = {
  text: (text) => Math.ceil(text.length / 3),
  media: () => 300,
}
