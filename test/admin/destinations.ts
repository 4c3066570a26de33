/** Observability destinations that tests make, with values for every field of every type. */
import { expect } from 'bun:test'
import { DESTINATION_TYPES, isDestinationType } from '../../src/exporters/destination-types.ts'
import type { Administration } from './administration.ts'
import { dataOf } from './people.ts'

export const DESTINATIONS = '/observability/destinations'

export const webhook = (fields: object = {}) => ({
  name: `hook ${crypto.randomUUID()}`,
  type: 'webhook',
  config: { url: 'https://hooks.example/in' },
  ...fields,
})

export async function makeDestination(
  { manage }: Administration,
  fields: object = {},
): Promise<Record<string, unknown>> {
  const reply = await manage('POST', DESTINATIONS, webhook(fields))
  expect([reply.status, reply.text]).toEqual([201, expect.any(String)])
  return dataOf(reply)
}

/** A config with every required field. Its values name their field, so that a test finds them wherever they leak. */
export function configFor(type: string): Record<string, string> {
  if (!isDestinationType(type)) throw new Error(type)
  const needed = DESTINATION_TYPES[type].filter((field) => field.default === undefined)
  return Object.fromEntries(needed.map(({ name, kind }) => [name, sample(name, kind)]))
}
const SAMPLES: Record<string, string> = {
  url: 'https://example.com/x',
  host: 'db.example.com:8443',
  dsn: 'https://canary-of-dsn@o1.ingest.example/2',
  label: 'acme-1',
  bucketName: 'canary-of-bucket-0123',
  region: 'eu-central-1',
}
const sample = (name: string, kind: string): string =>
  SAMPLES[name] ?? SAMPLES[kind] ?? `canary-of-${name}-0123`
