import { expect, test } from 'bun:test'
import type Anthropic from '@anthropic-ai/sdk'
import { messagesEgress } from '../../../src/dialects/messages/index.ts'
import { forReplies, type Recording } from '../../recordings.ts'
import { upstreamReply } from '../../upstream-reply.ts'
import { MESSAGE_ID, readReply, readStream, writtenReply, writtenStream } from './written.ts'

/**
 * From a provider of the dialect to a caller of it: what Anthropic's own client makes of the recorded reply, it makes
 * of the gateway, in every field and in its place, except the id, the model and the gateway's additions.
 */

forReplies(['messages'], ({ api, status }) => api === 'anthropic-messages' && status < 300, table)

/** The client rejects a stream that breaks off or starts twice from the provider, too. */
const BROKEN = /overloaded|two-starts|spliced-message-start/

function table(recordings: Recording[]): void {
  const streams = recordings.filter(({ isStream }) => isStream)
  const bodies = recordings.filter(({ isStream }) => !isStream)
  if (streams.length > 0) {
    test.each(streams.map((each) => [each.name, each] as const))('%s', async (_, recording) => {
      const direct = await readStream(named(recording.bytes)).catch(() => null)
      expect(direct === null).toBe(BROKEN.test(recording.name))
      if (direct === null) return
      const frames = messagesEgress.read(upstreamReply(recording.bytes), true)
      expectSame(await readStream(await writtenStream(frames)), direct)
    })
  }
  if (bodies.length > 0) {
    test.each(bodies.map((each) => [each.name, each] as const))('%s', async (_, recording) => {
      const direct: Anthropic.Message = JSON.parse(new TextDecoder().decode(recording.bytes))
      const frames = messagesEgress.read(upstreamReply(recording.bytes), false)
      expectSame(await readReply(await writtenReply(frames)), direct)
    })
  }
}

function expectSame(ours: Anthropic.Message, direct: Anthropic.Message): void {
  const { id, model, usage, ...rest } = direct
  expect(ours.id).toBe(MESSAGE_ID)
  expect<object>(ours).toMatchObject(shown(rest))
  expect(ours.content).toEqual(direct.content)
  expect(ours.usage).toMatchObject(shown(usage))
}

/** The fields that the provider sent: null counts as absent. */
const shown = (fields: object): object =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null && value !== undefined))

/** Some recordings lack the names of events, which the client needs, or the blank line after the last. */
const named = (bytes: Uint8Array): string =>
  `${new TextDecoder().decode(bytes)}\n\n`
    .replaceAll('\r\n', '\n')
    .split('\n\n')
    .map((block) => {
      const type = /^data: ?\{.*?"type": ?"(\w+)"/m.exec(block)?.[1]
      return block.startsWith('event:') || type === undefined ? block : `event: ${type}\n${block}`
    })
    .join('\n\n')
