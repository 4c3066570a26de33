import { expect } from 'bun:test'
import fc from 'fast-check'
import { GatewayError } from '../../src/core/errors.ts'
import type { JsonObject } from '../../src/core/events.ts'
import type { InferenceRequest } from '../../src/core/request.ts'
import { egresses } from '../../src/dialects/index.ts'
import { attemptOf } from './messages/attempt.ts'

/**
 * Any body is parsed and can be forwarded in every dialect, or rejected with a 400 that begins with the path. The body
 * stays unchanged.
 */
export function expectParsedOrRejected(
  bodies: fc.Arbitrary<JsonObject>,
  parse: (body: JsonObject) => InferenceRequest,
  { path, numRuns }: { path: RegExp; numRuns: number },
): void {
  let parsed = 0
  fc.assert(
    fc.property(bodies, (body) => {
      const before = JSON.stringify(body)
      try {
        const request = parse(body)
        for (const egress of Object.values(egresses)) egress.build(request, attemptOf())
        parsed++
      } catch (error) {
        if (!(error instanceof GatewayError)) throw error
        expect(error.status).toBe(400)
        expect(error.message).toMatch(path)
      }
      expect(JSON.stringify(body)).toBe(before)
    }),
    { numRuns },
  )
  expect(parsed).toBeGreaterThan(20)
}
