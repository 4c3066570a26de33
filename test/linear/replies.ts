import { describe, expect, test } from 'bun:test'
import { UpstreamError } from '../../src/core/errors.ts'
import type { DialectName, FrameBatch, InferenceFrame } from '../../src/core/events.ts'
import type { Ingress } from '../../src/dialects/dialect.ts'
import { egresses, ingresses } from '../../src/dialects/index.ts'
import { collect } from '../../src/inference/reply/collect.ts'
import { closingOf, contextOf } from '../dialects/replies.ts'
import { guard, guardrailOf } from '../inference/filters/output/guarding.ts'
import { upstreamReply } from '../upstream-reply.ts'
import type { ReplyList } from './reply-lists.ts'
import { growthOf, growthText, isQuick } from './timing.ts'

/** Everything that happens to a reply between the provider's bytes and each dialect of callers. */

const CLOSING = closingOf()

export async function read(
  dialect: DialectName,
  body: string | Uint8Array,
  streamed: boolean,
): Promise<FrameBatch[]> {
  const batches: FrameBatch[] = []
  for await (const batch of egresses[dialect].read(upstreamReply(body), streamed)) batches.push(batch)
  return batches
}

async function* again(batches: readonly FrameBatch[]): AsyncGenerator<FrameBatch> {
  yield* batches
}

/** A guardrail that matches nothing, and one that changes nearly every text. */
const GUARDRAILS = {
  'look through': [guardrailOf([], [{ pattern: 'secret-[0-9]+', action: 'redact', appliesTo: 'output' }])],
  redact: [guardrailOf([], [{ pattern: '[xa]', action: 'redact', appliesTo: 'output' }])],
}
const flattened = (batches: readonly FrameBatch[]): InferenceFrame[] => batches.flat()

const callers: [string, Ingress][] = Object.entries(ingresses)

interface ReplyStage {
  name: string
  run(batches: readonly FrameBatch[]): Promise<void>
}

/** The stages of frames after they are read. */
const replyStages: readonly ReplyStage[] = [
  ...callers.flatMap(([name, ingress]): ReplyStage[] => [
    {
      name: `write a stream of ${name}`,
      async run(batches) {
        const writer = ingress.writeStream(contextOf())
        for (const frame of flattened(batches)) writer.write(frame)
        writer.end(CLOSING)
        writer.reply?.()
      },
    },
    {
      name: `write a unary reply of ${name}`,
      async run(batches) {
        const gathered = ingress.gather?.(flattened(batches)) ?? flattened(batches)
        const result = await collect(again([gathered]), () => undefined)
        JSON.stringify(ingress.writeReply(result, contextOf(), CLOSING))
      },
    },
  ]),
  ...Object.entries(GUARDRAILS).map(
    ([name, guardrails]): ReplyStage => ({
      name,
      async run(batches) {
        for await (const _ of guard(again(batches), guardrails).frames);
      },
    }),
  ),
]

/** Eight times as many are still within the bounds of a reply. */
const N = 500

/**
 * Every list and map that a provider of a dialect may fill, from its bytes to each dialect of callers: with 4 times as
 * much in it, a step takes at most 6 times as long.
 */
export function testReplies(dialect: DialectName, lists: readonly ReplyList[]): void {
  describe(`work that grows with a list of a reply in ${dialect}`, () => {
    test('the lists are read', async () => {
      for (const { body, isStreamed } of lists) {
        expect((await read(dialect, body(3), isStreamed)).length).toBeGreaterThan(0)
      }
    })

    test('each step is linear in each of them', async () => {
      const steep: string[] = []
      for (const each of lists) steep.push(...(await steepReading(each)), ...(await steepSteps(each)))
      expect(steep).toEqual([])
    }, 300_000)
  })
}

/** The steps behind the reader that are not linear in this list. One large reply shows of most that they are. */
async function steepSteps({ name, dialect, body, isStreamed }: ReplyList): Promise<string[]> {
  const steep: string[] = []
  const large = await read(dialect, body(4 * N), isStreamed)
  for (const { name: step, run } of replyStages) {
    if (await isQuick(() => run(large))) continue
    const growth = await growthOf(N, (n) => read(dialect, body(n), isStreamed), run)
    if (!growth.isLinear) steep.push(`${step}, ${name}: ${growthText(growth)}`)
  }
  return steep
}

async function steepReading(list: ReplyList): Promise<string[]> {
  const growth = await growthOf(
    N,
    (n) => list.body(n),
    async (body) => {
      try {
        await read(list.dialect, body, list.isStreamed)
      } catch (error) {
        if (!(error instanceof UpstreamError)) throw error
      }
    },
  )
  return growth.isLinear ? [] : [`read, ${list.name}: ${growthText(growth)}`]
}
