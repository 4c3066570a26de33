import { describe, expect, test } from 'bun:test'
import type { TSchema } from '@sinclair/typebox'
import type { JsonObject } from '../../src/core/events.ts'
import type { Ingress } from '../../src/dialects/dialect.ts'
import { stagesOf, unlessRefused } from './carried.ts'
import { type Place, placesIn } from './schema-places.ts'
import { growthOf } from './timing.ts'

const N = 1_500

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
    for (const stage of stagesOf(ingress)) {
      test(stage.name, () => {
        expect(places.flatMap((place) => steep(place, stage.prepare))).toEqual([])
      }, 120_000)
    }
  })
}

function steep({ name, body }: Place, prepare: (body: JsonObject) => () => void): string[] {
  const { isLinear, ms, msAt4n } = growthOf(
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
  return isLinear ? [] : [`${name}: ${ms.toFixed(1)} ms for ${N}, ${msAt4n.toFixed(1)} ms for ${4 * N}`]
}
