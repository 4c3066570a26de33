/**
 * Every operation of the specification with every status that it declares: a request gets it here, or the table has
 * the reason why none can. The API document declares all of them.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createApp } from '../../src/app.ts'
import type { Handler } from '../../src/http/edge.ts'
import { objectOf } from '../../src/http/json.ts'
import { createRateLimit } from '../../src/http/rate-limit.ts'
import { API_KEY, MANAGEMENT_KEY } from '../gateway.ts'
import { type Asked, type Make, type Operation, operations, statusesOf } from './tenancy/operations.ts'
import type { World } from './tenancy/types.ts'
import { startWorld } from './tenancy/world.ts'

let world: World
let broken: Handler
const fail = (): never => {
  throw new Error('the cause of a failure')
}
beforeAll(async () => {
  world = await startWorld({
    providers: [
      {
        slug: 'lab',
        base_url: 'http://127.0.0.1:9/v1',
        models: [
          { id: 'lab/paint', architecture: { input_modalities: ['text'], output_modalities: ['image'] } },
        ],
      },
    ],
  })
  const { deps } = world.gateway
  broken = createApp({ ...deps, snapshot: { ...deps.snapshot, current: fail } })
})
afterAll(() => world.gateway.stop())

const goodKey = ({ key: kind }: Operation): string => (kind === 'management' ? MANAGEMENT_KEY : API_KEY)
const wrongKey = ({ key: kind }: Operation): string => (kind === 'management' ? API_KEY : MANAGEMENT_KEY)
const methodOf = ({ name }: Operation): string => name.split(' ')[0] ?? ''

/** Expects the status; a failure shows the text of the reply. */
async function expectStatus(
  key: string | null,
  operation: Operation,
  make: Make,
  status: number,
): Promise<string> {
  const reply = await world.ask(key, { method: methodOf(operation), ...(await make(world)) })
  expect({ status: reply.status, text: reply.text }).toEqual({ status, text: expect.any(String) })
  if (status < 400) return reply.text
  const { code, message } = objectOf(reply.json['error'])
  expect({ code, message }).toEqual({ code: status, message: expect.stringMatching(/^.{8,}$/s) })
  return reply.text
}

const answerOf = async (handler: Handler, operation: Operation, { path, body }: Asked): Promise<Response> =>
  await handler(
    new Request(`http://localhost/api/v1${path}`, {
      method: methodOf(operation),
      headers: { authorization: `Bearer ${goodKey(operation)}`, 'content-type': 'application/json' },
      body: body === undefined ? null : JSON.stringify(body),
    }),
  )

for (const operation of operations) {
  const { name, ok, refused = {} } = operation
  describe(name, () => {
    test('succeeds', async () => {
      await expectStatus(goodKey(operation), operation, ok, 200)
    })

    test('401 without a key', async () => {
      await expectStatus(null, operation, ok, 401)
    })

    if (operation.key !== 'any') {
      test('403 with a key of the other kind', async () => {
        const text = await expectStatus(wrongKey(operation), operation, ok, 403)
        expect(text).toContain(
          operation.key === 'management' ? 'Only management keys' : 'cannot perform inference',
        )
      })
    }

    for (const [status, make] of Object.entries(refused)) {
      test(`${status} because of its content`, async () => {
        await expectStatus(goodKey(operation), operation, make, Number(status))
      })
    }

    if (operation.isLimited === true) {
      test('429 when a key calls too often', async () => {
        const { deps } = world.gateway
        const limited = createApp({ ...deps, rateLimit: createRateLimit({ perMinute: 1, now: deps.now }) })
        const asked = await ok(world)
        expect((await answerOf(limited, operation, asked)).status).toBe(200)
        const response = await answerOf(limited, operation, asked)
        expect([response.status, await response.text()]).toEqual([429, expect.stringContaining('"code":429')])
        expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0)
      })
    }

    if (operation.hasRates === true) {
      test("429 beyond the key's own rate", async () => {
        const made = await world.manage('POST', '/keys', {
          name: 'slow',
          rate_limits: { requests_per_minute: 1 },
        })
        const slow = String(made['key'])
        await expectStatus(slow, operation, ok, 200)
        await expectStatus(slow, operation, ok, 429)
      })
    }

    test('500 without the cause after an internal failure', async () => {
      const asked = await ok(world)
      const response = await answerOf(broken, operation, asked)
      const text = await response.text()
      expect([response.status, text]).toEqual([500, expect.stringContaining('"code":500')])
      expect(text).not.toContain('the cause of a failure')
    })
  })
}

test('the API document declares every status', async () => {
  const { paths } = objectOf(await (await world.handler(new Request('http://localhost/openapi.json'))).json())
  const missing = operations.flatMap((operation) => {
    const [method = '', path = ''] = operation.name.split(' ')
    const { responses } = objectOf(objectOf(objectOf(paths)[path])[method.toLowerCase()])
    return statusesOf(operation).flatMap((status) =>
      String(status) in objectOf(responses) ? [] : [`${operation.name} ${status}`],
    )
  })
  expect(missing).toEqual([])
})

/** The specification is beside the repository, not part of it. */
const SPECIFICATION = join(import.meta.dir, '../../../shared/spec.md')

test.skipIf(!existsSync(SPECIFICATION))(
  'the table has every operation of the specification, with its statuses',
  () => {
    const chapter = readFileSync(SPECIFICATION, 'utf8')
      .split('\n## Endpoints')[1]
      ?.split('\n## Authentication')[0]
    const sections = (chapter ?? '').split(/\n(?=\*\*[A-Z]+ \/)/).slice(1)
    expect(sections.length).toBeGreaterThan(25)
    const missing = sections.flatMap((text) => {
      const name = /^\*\*([^*]+)\*\*/.exec(text)?.[1] ?? ''
      const errors = /Errors?:? ((?:\d{3}(?:, )?)+)/.exec(text)?.[1] ?? ''
      const operation = operations.find((each) => each.name === name)
      if (operation === undefined) return [name]
      const known = statusesOf(operation)
      return (errors.match(/\d{3}/g) ?? [])
        .filter((status) => !known.includes(Number(status)))
        .map((status) => `${name} ${status}`)
    })
    expect(missing).toEqual([])
  },
)
