import { beforeAll, expect } from 'bun:test'
import { hashKey } from '../../src/core/keys.ts'
import { MANAGEMENT_KEY } from '../gateway.ts'
import { runScenarios, type Scenario } from '../scenario.ts'
import { administration, onlyManagementKeys } from './administration.ts'
import { addWorkspace, OTHER_WORKSPACE } from './fixtures.ts'

/** A Wednesday. */
const NOW = Date.UTC(2026, 6, 15, 12)
const admin = administration({ now: () => NOW })
beforeAll(async () => {
  await addWorkspace(admin.gateway)
})

const FULL_RECORD = {
  name: 'full',
  disabled: false,
  limit: 12.5,
  limit_remaining: 12.5,
  limit_reset: 'weekly',
  include_byok_in_limit: true,
  usage: 0,
  usage_daily: 0,
  usage_weekly: 0,
  usage_monthly: 0,
  byok_usage: 0,
  byok_usage_daily: 0,
  byok_usage_weekly: 0,
  byok_usage_monthly: 0,
  created_at: '2026-07-15T12:00:00.000Z',
  updated_at: null,
  expires_at: '2026-08-01T00:00:00.000Z',
  creator_user_id: expect.stringMatching(/^user_/),
  external_user: 'u1',
  workspace_id: OTHER_WORKSPACE,
  id: expect.any(Number),
  label: expect.stringMatching(/^sk-sl-v1-.{3}\.\.\..{3}$/),
  hash: expect.stringMatching(/^[0-9a-f]{64}$/),
}
const UNKNOWN_HASH = '0'.repeat(64)
const UNKNOWN_UUID = '0190a000-0000-7000-8000-000000000bad'

const post = (name: string, body: unknown, row: Partial<Scenario> & { status: number }): Scenario => ({
  name: `POST /keys: ${name}`,
  method: 'POST',
  path: '/v1/keys',
  key: MANAGEMENT_KEY,
  body,
  ...row,
})
const badExpiry = (text: string): Scenario =>
  post(
    `expires_at ${text}`,
    { name: 'a', expires_at: text },
    { status: 400, contains: ['expires_at: must be'] },
  )

const operations: [method: string, path: string][] = [
  ['GET', '/keys'],
  ['POST', '/keys'],
  ['GET', `/keys/${UNKNOWN_HASH}`],
  ['PATCH', `/keys/${UNKNOWN_HASH}`],
  ['DELETE', `/keys/${UNKNOWN_HASH}`],
]
const rows: Scenario[] = [
  // The key is checked before the body is parsed.
  ...operations.flatMap(([method, path]) =>
    onlyManagementKeys(method, `/api/v1${path}`, method === 'GET' ? undefined : '{nope'),
  ),
  { name: 'GET /key without a key', path: '/v1/key', status: 401 },
  { name: 'GET an unknown key', path: `/v1/keys/${UNKNOWN_HASH}`, key: MANAGEMENT_KEY, status: 404 },
  { name: 'GET a malformed hash', path: '/v1/keys/none', key: MANAGEMENT_KEY, status: 404 },
  { name: 'GET a control character', path: '/v1/keys/%00', key: MANAGEMENT_KEY, status: 400 },
  {
    name: 'GET the management key itself',
    path: `/v1/keys/${hashKey(MANAGEMENT_KEY)}`,
    key: MANAGEMENT_KEY,
    status: 404,
  },
  {
    name: 'PATCH an unknown key',
    method: 'PATCH',
    path: `/v1/keys/${UNKNOWN_HASH}`,
    key: MANAGEMENT_KEY,
    body: { name: 'b' },
    status: 404,
  },
  {
    name: 'DELETE an unknown key',
    method: 'DELETE',
    path: `/v1/keys/${UNKNOWN_HASH}`,
    key: MANAGEMENT_KEY,
    status: 404,
  },
  post(
    'every field',
    {
      name: 'full',
      limit: 12.5,
      limit_reset: 'weekly',
      include_byok_in_limit: true,
      expires_at: '2026-08-01T00:00:00Z',
      external: { user: 'u1' },
      workspace_id: OTHER_WORKSPACE.toUpperCase(),
      creator_user_id: null,
    },
    { status: 200, json: { data: FULL_RECORD, key: expect.stringMatching(/^sk-sl-v1-[0-9A-Za-z]{49}$/) } },
  ),
  post(
    'only a name',
    { name: 'n' },
    {
      status: 200,
      json: {
        data: {
          limit: null,
          limit_remaining: null,
          limit_reset: null,
          expires_at: null,
          external_user: null,
          include_byok_in_limit: false,
        },
      },
    },
  ),
  post(
    'nulls',
    { name: 'n', limit: null, limit_reset: null, expires_at: null, creator_user_id: null },
    { status: 200 },
  ),
  post('nothing', undefined, { status: 400 }),
  post('no name', {}, { status: 400, contains: ['name: is required'] }),
  post('an empty name', { name: '' }, { status: 400, contains: ['name: must be a string of 1 to 1000'] }),
  post('a number as name', { name: 1 }, { status: 400, contains: ['name: '] }),
  post(
    'an unknown field',
    { name: 'a', budget: 1 },
    { status: 400, contains: ['budget: is not known here; known are name'] },
  ),
  post(
    'a negative limit',
    { name: 'a', limit: -0.01 },
    { status: 400, contains: ['limit: must be a number from 0'] },
  ),
  post('a limit beyond counting', { name: 'a', limit: 1e15 }, { status: 400, contains: ['limit: '] }),
  post('a limit as text', { name: 'a', limit: '5' }, { status: 400, contains: ['limit: '] }),
  post(
    'a limit of 0',
    { name: 'a', limit: 0 },
    { status: 200, json: { data: { limit: 0, limit_remaining: 0 } } },
  ),
  post(
    'a limit finer than a nano-dollar',
    { name: 'a', limit: 0.1 + 0.2 },
    { status: 200, json: { data: { limit: 0.3 } } },
  ),
  post(
    'an unknown reset',
    { name: 'a', limit_reset: 'yearly' },
    { status: 400, contains: ['limit_reset: must be one of \\"daily\\"'] },
  ),
  post(
    'an unknown workspace',
    { name: 'a', workspace_id: UNKNOWN_UUID },
    { status: 404, contains: ['workspace'] },
  ),
  post(
    'a workspace that is not a UUID',
    { name: 'a', workspace_id: 'default' },
    { status: 400, contains: ['workspace_id: must be a UUID'] },
  ),
  post(
    'an unknown creator',
    { name: 'a', creator_user_id: 'user_nobody' },
    { status: 404, contains: ['creator_user_id'] },
  ),
  post(
    'an empty creator',
    { name: 'a', creator_user_id: '' },
    { status: 400, contains: ['creator_user_id: '] },
  ),
  ...[
    '2026-08-01',
    '2026-08-01T00:00Z',
    '2026-08-01T00:00:00',
    '2026-08-01T00:00:00+00:00',
    '2026-08-01T02:00:00+02:00',
    '2026-02-30T00:00:00Z',
    '2027-13-01T00:00:00Z',
    '2026-08-01T24:00:01Z',
    '2026-08-01t00:00:00z',
    'tomorrow',
    '',
  ].map(badExpiry),
  post(
    'an expiry in the past',
    { name: 'a', expires_at: '2026-07-15T12:00:00Z' },
    { status: 400, contains: ['expires_at: must be in the future'] },
  ),
  post('an expiry with milliseconds', { name: 'a', expires_at: '2026-07-15T12:00:00.001Z' }, { status: 200 }),
  post(
    'as the public SDK, which expects 201',
    { name: 'sdk' },
    { status: 201, headers: { 'user-agent': 'speakeasy-sdk/typescript 1.3.19 2.0 1.0.0 @openrouter/sdk' } },
  ),
  post(
    'as a client that only mentions the SDK',
    { name: 'a' },
    { status: 200, headers: { 'user-agent': 'my speakeasy-sdk/1' } },
  ),
  {
    name: 'list: a bad include_disabled',
    path: '/v1/keys?include_disabled=1',
    key: MANAGEMENT_KEY,
    status: 400,
    contains: ['query parameter include_disabled: must be true or false'],
  },
  ...['-1', '1.5', '1e1', 'x', '', '9999999999'].map(
    (offset): Scenario => ({
      name: `list: offset ${JSON.stringify(offset)}`,
      path: `/v1/keys?offset=${offset}`,
      key: MANAGEMENT_KEY,
      status: 400,
      contains: ['query parameter offset: must be an integer from 0'],
    }),
  ),
  ...['0', '101'].map(
    (limit): Scenario => ({
      name: `list: limit ${limit}`,
      path: `/v1/keys?limit=${limit}`,
      key: MANAGEMENT_KEY,
      status: 400,
      contains: ['1 to 100'],
    }),
  ),
  {
    name: 'list: a workspace that is not a UUID',
    path: '/v1/keys?workspace_id=x',
    key: MANAGEMENT_KEY,
    status: 400,
  },
  {
    name: 'list: an unknown workspace',
    path: `/v1/keys?workspace_id=${UNKNOWN_UUID}`,
    key: MANAGEMENT_KEY,
    status: 200,
    json: { data: [], total_count: 0 },
  },
  {
    name: 'list: an unknown parameter',
    path: '/v1/keys?colour=red',
    key: MANAGEMENT_KEY,
    status: 400,
    contains: ['query parameter colour: is not known here', 'include_disabled'],
  },
]
runScenarios('keys', () => admin.handler, rows)
