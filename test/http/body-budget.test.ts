import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { readJsonBody } from '../../src/http/body.ts'
import {
  type BodyLease,
  closeBody,
  createBodyBudget,
  freeBody,
  keepBody,
  leaseBody,
  ownBody,
  takeBody,
} from '../../src/http/body-budget.ts'
import { incomingOf } from '../incoming.ts'
import { refusalOf } from '../refusal.ts'

const MB = 1_000_000

describe('a budget of 60 MB, in which a body counts three times', () => {
  const open = (owner: string, budget = createBodyBudget(60 * MB)) => {
    const lease = leaseBody(budget)
    ownBody(lease, owner)
    return { budget, lease }
  }

  test('one key takes at most half, so that another one has memory', () => {
    const { budget, lease } = open('greedy')
    for (let count = 0; count < 10; count++) takeBody(lease, 1 * MB)
    expect(budget.heldBytes).toBe(30 * MB)
    const refused = refusalOf(() => takeBody(lease, 1))
    expect([refused.status, refused.headers]).toEqual([503, { 'retry-after': '2' }])
    expect(refused.message).toContain('of this key')
    const other = open('modest', budget)
    takeBody(other.lease, 10 * MB)
    expect(budget.heldBytes).toBe(60 * MB)
    expect(refusalOf(() => takeBody(open('third', budget).lease, 1)).message).toContain('this server')
  })

  test('one body alone is never refused', () => {
    const { budget, lease } = open('only')
    takeBody(lease, 100 * MB)
    closeBody(lease)
    expect(budget.heldBytes).toBe(0)
  })

  test('it is given back once, when the last holder ends', () => {
    const { budget, lease } = open('a')
    takeBody(lease, 2 * MB)
    keepBody(lease)
    closeBody(lease)
    expect(budget.heldBytes).toBe(6 * MB)
    freeBody(lease)
    freeBody(lease)
    expect(budget.heldBytes).toBe(0)
  })

  test('bytes counted before their owner was known are charged to the owner', () => {
    const { budget, lease } = open('')
    takeBody(lease, 4 * MB)
    ownBody(lease, 'a')
    expect(() => takeBody(open('', budget).lease, 4 * MB)).not.toThrow()
    expect(() => takeBody(open('a', budget).lease, 8 * MB)).toThrow('of this key')
  })

  test('any order of leases stays within the budget and returns all of it', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.integer({ min: 0, max: 4 }), fc.nat(6 * MB), fc.boolean()), { maxLength: 60 }),
        (steps) => {
          const budget = createBodyBudget(60 * MB)
          const leases: BodyLease[] = []
          for (const [owner, bytes, isEnd] of steps) {
            const ended = isEnd ? leases.shift() : undefined
            if (ended) closeBody(ended)
            const { lease } = open(`key-${owner}`, budget)
            leases.push(lease)
            try {
              takeBody(lease, bytes)
            } catch (error) {
              expect(error).toMatchObject({ status: 503 })
            }
            expect(budget.heldBytes).toBeLessThanOrEqual(60 * MB)
          }
          for (const lease of leases) closeBody(lease)
          expect(budget.heldBytes).toBe(0)
        },
      ),
      { seed: 20261122 },
    )
  })
})

describe('the bytes that are counted for a request', () => {
  const send = (body: BodyInit, headers: Record<string, string> = {}) =>
    new Request('http://localhost/', { method: 'POST', body, headers })
  const counted = async (request: Request, budget = createBodyBudget(512 * MB)) => {
    await readJsonBody(incomingOf(request, budget), 20 * MB)
    return budget.heldBytes
  }
  const text = JSON.stringify({ text: 'x'.repeat(MB) })

  test('a length that is declared, before the body is read', async () => {
    const held = await counted(send(text, { 'content-length': String(text.length) }))
    expect(held).toBe((text.length + 128) * 3)
    const budget = createBodyBudget(10 * MB)
    const other = leaseBody(budget)
    ownBody(other, 'other')
    takeBody(other, 3 * MB)
    const large = send(text, { 'content-length': String(text.length) })
    await expect(counted(large, budget)).rejects.toMatchObject({ status: 503 })
    expect(large.bodyUsed).toBe(false)
  })

  test('chunks are counted as they arrive, and no more are read once the budget is exhausted', async () => {
    let sent = 0
    const chunk = new TextEncoder().encode(`"${'x'.repeat(MB)}",`)
    const endless = () =>
      new ReadableStream<Uint8Array>({
        pull(controller) {
          controller.enqueue(sent === 0 ? new TextEncoder().encode('{"a":[') : chunk)
          sent += 1
        },
      })
    const budget = createBodyBudget(10 * MB)
    await expect(counted(send(endless()), budget)).rejects.toMatchObject({ status: 503 })
    expect(sent).toBeLessThan(8)
  })

  test('objects and arrays, which take more than their text', async () => {
    const items = JSON.stringify({ items: Array.from({ length: 10_000 }, () => ({})) })
    const held = await counted(send(items, { 'content-length': String(items.length) }))
    expect(held).toBe((items.length + 10_002 * 128) * 3)
  })
})
