import { describe, expect, test } from 'bun:test'
import type { TSchema } from '@sinclair/typebox'
import type { JsonObject } from '../../src/core/events.ts'
import type { Ingress } from '../../src/dialects/dialect.ts'
import { isExhaustive } from '../exhaustive.ts'
import { stages, unlessRefused } from './carried.ts'
import { type Place, placesIn } from './schema-places.ts'
import { type Growth, growthOf, growthText, isQuick } from './timing.ts'

/** Three times as many show slighter growth, and take a minute for each dialect. */
const N = isExhaustive ? 3_000 : 1_000

/**
 * Every list and map that callers of a dialect may fill, through each step from the caller to each dialect of providers:
 * with 4 times as much in it, a step takes at most 6 times as long.
 */
export function testRequests(
  name: string,
  ingress: Ingress,
  schema: TSchema,
  base: JsonObject,
  more: readonly Place[] = [],
): void {
  const takes = (body: JsonObject): boolean => {
    try {
      ingress.parse(body, new Headers())
      return true
    } catch {
      return false
    }
  }
  const places = [...placesIn(schema, base, takes), ...more]

  describe(`work that grows with a list or map of ${name}`, () => {
    test('places are found by the schema', () => {
      expect(places.length).toBeGreaterThan(80)
      const refused = places.filter(({ body }) => !takes(body(2))).length
      expect(refused / places.length).toBeLessThan(0.15)
    })

    test('each step is linear in each of them', async () => {
      const steep: string[] = []
      for (const place of places) steep.push(...(await steepIn(place, ingress)))
      expect(steep).toEqual([])
    }, 300_000)
  })
}

/** The steps that are not linear in this place. One large body shows of most that they are. */
async function steepIn({ name, body }: Place, ingress: Ingress): Promise<string[]> {
  const read = (of: JsonObject) => unlessRefused(() => ingress.parse(of, new Headers()))
  const large = body(4 * N)
  const steep: string[] = []
  const measure = async (step: string, isEasy: boolean, grow: () => Promise<Growth>): Promise<void> => {
    if (isEasy) return
    const growth = await grow()
    if (!growth.isLinear) steep.push(`${step}, ${name}: ${growthText(growth)}`)
  }
  await measure('read', await isQuick(() => read(large)), () => growthOf(N, body, read))
  const request = await read(large)
  if (request === null) return steep
  for (const { name: step, run } of stages) {
    const isEasy = await isQuick(() => unlessRefused(() => run(large, request)))
    await measure(step, isEasy, () =>
      growthOf(
        N,
        async (n) => {
          const of = body(n)
          return { of, asked: await read(of) }
        },
        ({ of, asked }) => unlessRefused(() => (asked === null ? null : run(of, asked))),
      ),
    )
  }
  return steep
}
