import { describe, expect, test } from 'bun:test'
import type { TSchema } from '@sinclair/typebox'
import type { JsonObject } from '../../src/core/events.ts'
import type { Ingress } from '../../src/dialects/dialect.ts'
import { stagesOf, unlessRefused } from './carried.ts'
import { type Place, placesIn } from './schema-places.ts'
import { growthOf, sayGrowth } from './timing.ts'

const N = 1_000
/**
 * Reading is measured at every place. The other steps share the places between them, an eighth each, because all of
 * them at all places take minutes: `bun run test:exhaustive` does that.
 */
const SHARES = process.env['SLUICE_TEST_EXHAUSTIVE'] === '1' ? 1 : 8

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

  describe(`what grows with a list or map of ${name}`, () => {
    test('places are found by the schema', () => {
      expect(places.length).toBeGreaterThan(80)
      const refused = places.filter(({ body }) => !takes(body(2))).length
      expect(refused / places.length).toBeLessThan(0.15)
    })
    for (const [turn, stage] of stagesOf(ingress).entries()) {
      test(stage.name, async () => {
        const found: string[] = []
        const measured = places.filter((_, index) => turn === 0 || (index + turn) % SHARES === 0)
        for (const place of measured) found.push(...(await steep(place, stage.prepare)))
        expect(found).toEqual([])
      }, 120_000)
    }
  })
}

async function steep({ name, body }: Place, prepare: (body: JsonObject) => () => void): Promise<string[]> {
  const growth = await growthOf(
    N,
    (n) => {
      let work = (): void => undefined
      unlessRefused(() => {
        work = prepare(body(n))
      })
      return work
    },
    (work) => unlessRefused(work),
  )
  return growth.isLinear ? [] : [`${name}: ${sayGrowth(growth)}`]
}
