import { expect, test } from 'bun:test'
import { Value } from '@sinclair/typebox/value'
import { table, text } from '../../src/db/columns.ts'
import {
  auditOf,
  changeable,
  columnsOf,
  createdInstant,
  fixed,
  given,
  hidden,
  named,
  newRow,
  optional,
  required,
  resourceOf,
  storedOf,
  viewOf,
  withDefault,
} from '../../src/db/fields.ts'
import { flag, oneOf, shownUuid, usd, words } from '../../src/db/kinds.ts'

const fields = {
  id: given(text().primaryKey(), shownUuid()),
  kind: fixed(required(oneOf(['round', 'square'], 'Its form.'))),
  name: required(words({ maxLength: 5 })),
  note: optional(words({ maxLength: 5 })),
  limit_nano_usd: optional(named('limit', usd({ minimum: 0, description: 'Its limit.' }))),
  disabled: changeable(withDefault(flag(), false)),
  secret: hidden(text().notNull()),
  created_at: createdInstant(),
}
const things = table('things', columnsOf(fields), () => [])
const thing = resourceOf('thing', things.id, things, fields)
const created = new Date(0)
const row = newRow(
  thing,
  { name: 'a', kind: 'round', limit: 1.5 },
  { id: 'i', secret: 's', created_at: created },
)

test('a new row has what the service gives, what the body sets, and defaults', () => {
  expect(row).toEqual({
    id: 'i',
    kind: 'round',
    name: 'a',
    note: null,
    limit_nano_usd: 1_500_000_000,
    disabled: false,
    secret: 's',
    created_at: created,
  })
})

test('a view has declared fields only: neither hidden columns nor columns that the declaration does not know', () => {
  const stored = { ...row, added_later: 'leak' }
  const shown = { id: 'i', kind: 'round', name: 'a', note: null, limit: 1.5, disabled: false }
  expect(viewOf(thing, stored)).toEqual({ ...shown, created_at: '1970-01-01T00:00:00.000Z' })
})

test('an audit entry has settings, in the units of the API', () => {
  expect(auditOf(thing, row)).toEqual({ kind: 'round', name: 'a', note: null, limit: 1.5, disabled: false })
})

test('a body sets what its operation declares', () => {
  expect(Object.keys(thing.create.properties)).toEqual(['kind', 'name', 'note', 'limit'])
  expect(Object.keys(thing.update.properties)).toEqual(['name', 'note', 'limit', 'disabled'])
  expect(Value.Check(thing.create, { kind: 'round', name: 'a' })).toBe(true)
  expect(Value.Check(thing.create, { name: 'a' })).toBe(false)
  expect(Value.Check(thing.create, { kind: 'oval', name: 'a' })).toBe(false)
  expect(Value.Check(thing.update, {})).toBe(true)
  expect(Value.Check(thing.update, { kind: 'square' })).toBe(false)
  expect(storedOf(thing, { limit: null, note: 'x', id: 'j', secret: 't' })).toEqual({
    limit_nano_usd: null,
    note: 'x',
  })
})

test('a view accepts values that were stored under older rules', () => {
  expect(Value.Check(thing.view, viewOf(thing, { ...row, name: 'longer than five' }))).toBe(true)
})
