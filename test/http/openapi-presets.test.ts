import { expect, test } from 'bun:test'
import { createApp } from '../../src/app.ts'
import { objectOf } from '../../src/http/json.ts'
import { gatewayOfFile } from '../file-setup.ts'
import { call } from '../scenario.ts'

const gateway = await gatewayOfFile()
const { json } = await call(createApp(gateway.deps), { path: '/openapi.json' })
const at = (value: unknown, ...names: string[]): unknown =>
  names.reduce((inner, name) => objectOf(inner)[name], value)

const bodyOf = (path: string) =>
  objectOf(at(json, 'paths', path, 'post', 'requestBody', 'content', 'application/json', 'schema'))

test.each([
  ['chat/completions', 'response_format'],
  ['responses', 'max_output_tokens'],
  ['messages', 'stop_sequences'],
])('a preset from %s has the body of that request, without a required field', (route, field) => {
  const stored = bodyOf(`/presets/{slug}/${route}`)
  const asked = bodyOf(`/${route}`)
  expect(Object.keys(objectOf(stored['properties']))).toEqual(Object.keys(objectOf(asked['properties'])))
  expect(objectOf(stored['properties'])).toHaveProperty(field)
  expect(stored['required'] ?? []).toEqual([])
})
