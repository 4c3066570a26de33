/** Providers that refuse, break off, or answer nonsense, before each API that callers speak. */
import { type Case, QUESTIONS, type Reply } from './cases.ts'
import { answer, eventCount, events, json, SPOKEN, stream } from './replies.ts'

const STATUSES = [300, 400, 401, 402, 403, 404, 408, 409, 413, 422, 425, 429, 500, 502, 503, 504, 529]

const NONSENSE: readonly (readonly [name: string, reply: Reply])[] = [
  ['empty', { status: 200, headers: { 'content-type': 'application/json' }, body: '' }],
  ['html', { status: 200, headers: { 'content-type': 'text/html' }, body: '<html>login</html>' }],
  ['{}', json({})],
  ['no choices', json({ choices: [] })],
  ['an error in 200', json({ error: { message: 'out of capacity', type: 'server_error' } })],
  ['an unreadable line', events(['{"choices":[{"delta":{"content":"a"}}]}', '{"choices":'])],
  ['a list', json([])],
]

const asked = (isStream: boolean) =>
  Object.entries(QUESTIONS).map(([path, question]) => [path, { ...question, stream: isStream }] as const)

export function failures(): Case[] {
  const refusals = STATUSES.flatMap((status) =>
    [false, true].flatMap((isStream) =>
      asked(isStream).map(([path, body]) => ({
        name: `status ${status} ${path} stream=${isStream}`,
        dialect: 'chat' as const,
        path,
        body,
        replies: [
          json(
            { error: { message: `The reason of ${status}`, type: 'some_error', code: 'some_code' } },
            status,
            {
              ...(status === 429 ? { 'retry-after': '30' } : {}),
            },
          ),
        ],
      })),
    ),
  )
  const recovered = STATUSES.map((status) => ({
    name: `status ${status}, then an answer`,
    dialect: 'chat' as const,
    path: '/chat/completions',
    headers: { 'x-service-metadata': 'enabled' },
    body: QUESTIONS['/chat/completions'],
    replies: [json({ error: { message: 'once' } }, status), answer('chat')],
  }))
  const nonsense = NONSENSE.flatMap(([name, reply]) =>
    [false, true].flatMap((isStream) =>
      asked(isStream).map(([path, body]) => ({
        name: `${name} ${path} stream=${isStream}`,
        dialect: 'chat' as const,
        path,
        body,
        replies: [reply],
      })),
    ),
  )
  // Every stream cut behind every event, by an end and by a broken connection.
  const truncated = SPOKEN.flatMap((dialect) =>
    Array.from({ length: eventCount(dialect) - 1 }, (_, count) => count).flatMap((count) =>
      [false, true].flatMap((isBroken) =>
        asked(true).map(([path, body]) => ({
          name: `${dialect} cut behind ${count} events, broken=${isBroken} ${path}`,
          dialect,
          path,
          body,
          replies: [stream(dialect, count, isBroken)],
        })),
      ),
    ),
  )
  return [...refusals, ...recovered, ...nonsense, ...truncated]
}
