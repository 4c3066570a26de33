import { faultOf, textOf, unaryBody } from '../answers.ts'
import { ANSWER_NANO_USD } from '../sluice.ts'
import { reset, resetsAfter, STREAM_HEAD, streamPieces, textIn } from './behaviours.ts'
import { atMost, faultless, type Step } from './figure.ts'
import type { Behaviour } from './provider.ts'
import type { EndpointSpec, World } from './world.ts'

/** F1 and F2: connections that a provider resets, before the first content and after it. */

const BEFORE_CONTENT: readonly (readonly [name: string, behaviour: Behaviour])[] = [
  ['closed-at-once', ({ socket }) => socket.destroy()],
  ['reset-at-once', ({ socket }) => reset(socket, '')],
  ['reset-in-the-head', ({ socket }) => reset(socket, 'HTTP/1.1 200 OK\r\ncontent-ty')],
  ['reset-after-the-head', ({ socket }) => reset(socket, STREAM_HEAD)],
  [
    'reset-before-content',
    ({ socket, model, isStream }) =>
      reset(
        socket,
        isStream
          ? Buffer.concat(streamPieces(model).slice(0, 2))
          : `HTTP/1.1 200 OK\r\ncontent-length: ${unaryBody(model).length}\r\n\r\n${unaryBody(model).slice(0, 200)}`,
      ),
  ],
]
const KINDS = ['unary', 'stream'] as const
/** Fewer than open a breaker. */
const TIMES = 3

export const resetBeforeContent: Step = async ({ start }) => {
  const models = new Map<string, EndpointSpec[]>(
    BEFORE_CONTENT.flatMap(([name, behaviour]) =>
      KINDS.map((kind) => [`${kind}-${name}`, [{ behaviour }, {}]] as const),
    ),
  )
  const world = await start(models)
  await world.earnRetries(models.size * TIMES)
  const spentBefore = await world.spent()
  const faults: string[] = []
  let requests = 0
  let mostCalls = 0
  for (const kind of KINDS) {
    for (const [name] of BEFORE_CONTENT) {
      const model = `${kind}-${name}`
      for (let time = 0; time < TIMES; time++) {
        const before = world.calls()
        const { status, body } = await world.ask(model, { isStream: kind === 'stream' })
        const fault = faultOf(kind, status, body, false, model)
        if (fault !== null) faults.push(`${model}: ${fault.slice(0, 80)}`)
        mostCalls = Math.max(mostCalls, world.calls() - before)
        requests += 1
      }
      if (world.provider(model, 0).calls() === 0) faults.push(`${model}: the first endpoint was never called`)
    }
  }
  const charged = ((await world.spent()) - spentBefore) / ANSWER_NANO_USD
  await world.stop()
  return [
    faultless('F1 reset before the first content: one clean answer', requests, faults),
    atMost('F1 calls for a request', mostCalls, 3, ''),
    { ...atMost('F1 charges for an answer', charged / requests, 1, '', 3), isGood: charged === requests },
  ]
}

/** Answers cut at a random offset, beside those cut at every boundary of chunks. */
const RANDOM_OFFSETS = 50
/** Its multiples, without their whole parts, are spread evenly. */
const GOLDEN = 0.618034
const CUT = 'cut'

export const resetInside: Step = async ({ start }) => {
  const world = await start(new Map([[CUT, [{}, {}]]]))
  await world.earnRetries(RANDOM_OFFSETS)
  const pieces = streamPieces(CUT)
  const boundaries = pieces.map((_, index) => Buffer.concat(pieces.slice(0, index + 1)).length)
  const total = boundaries.pop() ?? 0
  // Behind it come usage and the terminal marker: the answer is complete without them.
  const finishedAt = boundaries.at(-3) ?? total
  const random = Array.from({ length: RANDOM_OFFSETS }, (_, index) =>
    Math.floor(((index * GOLDEN) % 1) * total),
  )
  const faults: string[] = []
  let failedOver = 0
  for (const bytes of [...boundaries, ...random]) {
    world.provider(CUT, 0).behave(resetsAfter(bytes))
    const calls = world.provider(CUT, 1).calls()
    const spent = await world.spent()
    const { status, body } = await world.ask(CUT, { isStream: true })
    const isAnsweredElsewhere = world.provider(CUT, 1).calls() > calls
    const fault = isAnsweredElsewhere
      ? faultOf('stream', status, body, false, CUT)
      : bytes >= finishedAt
        ? finishedFault(body)
        : await cutFault(world, status, body, spent)
    if (isAnsweredElsewhere) failedOver += 1
    if (fault !== null) faults.push(`${bytes} bytes: ${fault}`)
  }
  const cases = boundaries.length + random.length
  await world.stop()
  return [
    faultless(
      `F2 reset after n bytes: an error event, never a clean end (${failedOver} before content: the next endpoint)`,
      cases,
      faults,
    ),
  ]
}

const finishedFault = (body: string): string | null =>
  textIn(body) === textOf(CUT) && body.includes('"finish_reason":"stop"')
    ? null
    : 'a complete answer was lost'

/** Null if the stream has a part of the text, an error event that ends it, and a charge for what was delivered. */
async function cutFault(
  world: World,
  status: number,
  body: string,
  spentBefore: number,
): Promise<string | null> {
  if (status !== 200) return `status ${status}`
  if (body.includes('[DONE]')) return 'a terminal marker after a cut'
  if (!body.includes('"finish_reason":"error"') || !/"error":\{"code":502/.test(body))
    return `no error event: ${body.slice(-120)}`
  if (!textOf(CUT).startsWith(textIn(body))) return 'other text than was sent'
  return (await world.spent()) > spentBefore ? null : 'nothing was charged for the text'
}
