import { expect } from 'bun:test'
import { isJsonObject, objectOf } from '../../src/http/json.ts'
import { type Gateway, startGateway } from '../gateway.ts'
import { providers } from './fixture.ts'

export const NOW = Date.parse('2026-01-11T00:00:00Z')

/** A gateway of the fixture's providers, whose clock stands at `NOW`. */
export const startLists = (): Promise<Gateway> => startGateway({ providers, now: () => NOW })

export const jsonOf = async (gateway: Gateway, path: string): Promise<Record<string, unknown>> => {
  const response = await gateway.call(path)
  expect({ path, status: response.status }).toEqual({ path, status: 200 })
  expect(response.headers.get('content-type')).toMatch(/^application\/json/)
  return objectOf(await response.json())
}

export const dataOf = (body: Record<string, unknown>): Record<string, unknown>[] =>
  Array.isArray(body['data']) ? body['data'].filter(isJsonObject) : []

/** The ids of the models in a list, separated by spaces. */
export const idsOf = async (gateway: Gateway, path: string): Promise<string> =>
  dataOf(await jsonOf(gateway, path))
    .map(({ id }) => id)
    .join(' ')
