/** A gateway for the tests of one file, called with its management key, and the rows that its operations share. */
import { afterAll, beforeAll } from 'bun:test'
import { createApp } from '../../src/app.ts'
import type { Handler } from '../../src/http/edge.ts'
import { API_KEY, type Gateway, type GatewayOptions, startGateway } from '../gateway.ts'
import type { Reply, Scenario } from '../scenario.ts'
import { manage } from './people.ts'

export interface Administration {
  readonly gateway: Gateway
  readonly handler: Handler
  /** Calls a path below `/api/v1` with the management key. */
  manage(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Reply>
}

/** Starts a gateway before the tests of the file and stops it after them. */
export function administration(options: GatewayOptions = {}): Administration {
  let gateway: Gateway
  let handler: Handler
  beforeAll(async () => {
    gateway = await startGateway(options)
    handler = createApp(gateway.deps)
  })
  afterAll(() => gateway.stop())
  return {
    get gateway() {
      return gateway
    },
    get handler() {
      return handler
    },
    manage: (...request) => manage(handler, ...request),
  }
}

/** Every operation of administration refuses a request without a key and one with an inference key. */
export const onlyManagementKeys = (method: string, path: string, body?: unknown): Scenario[] => [
  { name: `${method} ${path} without a key`, method, path, body, status: 401 },
  {
    name: `${method} ${path} with an inference key`,
    method,
    path,
    key: API_KEY,
    body,
    status: 403,
    contains: ['Only management keys'],
  },
]
