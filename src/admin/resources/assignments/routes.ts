import { Elysia, t } from 'elysia'
import { keyAssignment, memberAssignment } from '../../../db/tables.ts'
import { type CallerDeps, callerOption } from '../../../http/caller.ts'
import { operationsOf } from '../../../http/operation.ts'
import { pageReply, uuid } from '../../../http/schemas.ts'
import type { ChangeDeps } from '../../change.ts'
import {
  assign,
  keyAssignmentList,
  keyAssignments,
  listKeyAssignments,
  listMemberAssignments,
  memberAssignmentList,
  memberAssignments,
  unassign,
} from './service.ts'

const documented = operationsOf('Guardrails')
const caller = 'management'
const params = t.Object({ id: uuid('The guardrail.') })
const keys = {
  caller,
  query: keyAssignmentList.query,
  response: pageReply(
    t.Object({ ...keyAssignment.view.properties, key_label: t.String(), key_name: t.String() }),
  ),
} as const
const members = {
  caller,
  query: memberAssignmentList.query,
  response: pageReply(t.Object({ ...memberAssignment.view.properties, organization_id: t.String() })),
} as const
const assigned = { 200: t.Object({ assigned_count: t.Number() }) }
const unassigned = { 200: t.Object({ unassigned_count: t.Number() }) }

const ids = (description: string) =>
  t.Array(t.String({ minLength: 1, maxLength: 100 }), { minItems: 1, maxItems: 1000, description })
const keysBody = t.Object(
  { key_hashes: ids('Hashes of keys of the same workspace.') },
  { additionalProperties: false },
)
const membersBody = t.Object(
  { member_user_ids: ids('Members of the organisation.') },
  { additionalProperties: false },
)
const ofKeys = { caller, params, body: keysBody } as const
const ofMembers = { caller, params, body: membersBody } as const

/** The keys and members that a guardrail applies to; for a member it applies to all keys that they created. */
export const assignmentRoutes = (deps: ChangeDeps & CallerDeps) =>
  new Elysia()
    .use(callerOption(deps))
    .get('/guardrails/assignments/keys', ({ query }) => listKeyAssignments(deps, null, query), {
      ...keys,
      detail: documented('listAllKeyAssignments', 'List the keys of all guardrails'),
    })
    .get('/guardrails/assignments/members', ({ query }) => listMemberAssignments(deps, null, query), {
      ...members,
      detail: documented('listAllMemberAssignments', 'List the members of all guardrails'),
    })
    .get(
      '/guardrails/:id/assignments/keys',
      ({ params, query }) => listKeyAssignments(deps, params.id, query),
      { ...keys, params, detail: documented('listKeyAssignments', 'List the keys of a guardrail') },
    )
    .get(
      '/guardrails/:id/assignments/members',
      ({ params, query }) => listMemberAssignments(deps, params.id, query),
      { ...members, params, detail: documented('listMemberAssignments', 'List the members of a guardrail') },
    )
    .post(
      '/guardrails/:id/assignments/keys',
      ({ actor, params, body }) => assign(deps, actor, keyAssignments, params.id, body.key_hashes),
      {
        ...ofKeys,
        response: assigned,
        detail: documented('assignKeys', 'Assign keys to a guardrail', {
          description: 'A key has at most one guardrail: the new one replaces the former one.',
        }),
      },
    )
    .post(
      '/guardrails/:id/assignments/keys/remove',
      ({ actor, params, body }) => unassign(deps, actor, keyAssignments, params.id, body.key_hashes),
      {
        ...ofKeys,
        response: unassigned,
        detail: documented('unassignKeys', 'Remove keys from a guardrail'),
      },
    )
    .post(
      '/guardrails/:id/assignments/members',
      ({ actor, params, body }) => assign(deps, actor, memberAssignments, params.id, body.member_user_ids),
      {
        ...ofMembers,
        response: assigned,
        detail: documented('assignMembers', 'Assign members to a guardrail', {
          description: 'It applies to all keys that they made. A member has at most one guardrail.',
        }),
      },
    )
    .post(
      '/guardrails/:id/assignments/members/remove',
      ({ actor, params, body }) => unassign(deps, actor, memberAssignments, params.id, body.member_user_ids),
      {
        ...ofMembers,
        response: unassigned,
        detail: documented('unassignMembers', 'Remove members from a guardrail'),
      },
    )
