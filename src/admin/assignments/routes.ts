import { Elysia, t } from 'elysia'
import { type CallerDeps, callerOption } from '../../http/caller.ts'
import { operation } from '../../http/operation.ts'
import type { ChangeDeps } from '../change.ts'
import { guardrailParams } from '../guardrails/schema.ts'
import { assignKeys, listKeyAssignments, unassignKeys } from './keys.ts'
import { assignMembers, listMemberAssignments, unassignMembers } from './members.ts'
import { keyAssignment, keysBody, listAssignmentsQuery, memberAssignment, membersBody } from './schema.ts'

const tag = 'Guardrails'
const caller = 'management'
const assigned = { 200: t.Object({ assigned_count: t.Number() }) }
const unassigned = { 200: t.Object({ unassigned_count: t.Number() }) }
const keys = { 200: t.Object({ data: t.Array(keyAssignment), total_count: t.Number() }) }
const members = { 200: t.Object({ data: t.Array(memberAssignment), total_count: t.Number() }) }

const documented = (id: string, summary: string, description?: string) =>
  operation({ id, tag, summary, ...(description === undefined ? {} : { description }) })

/** Who a guardrail holds for: keys, and members with all their keys. */
export const assignmentRoutes = (deps: ChangeDeps & CallerDeps) =>
  new Elysia()
    .use(callerOption(deps))
    .get('/guardrails/assignments/keys', ({ query }) => listKeyAssignments(deps, null, query), {
      caller,
      query: listAssignmentsQuery,
      response: keys,
      detail: documented('listAllKeyAssignments', 'List the keys of all guardrails'),
    })
    .get('/guardrails/assignments/members', ({ query }) => listMemberAssignments(deps, null, query), {
      caller,
      query: listAssignmentsQuery,
      response: members,
      detail: documented('listAllMemberAssignments', 'List the members of all guardrails'),
    })
    .get(
      '/guardrails/:id/assignments/keys',
      ({ params, query }) => listKeyAssignments(deps, params.id, query),
      {
        caller,
        params: guardrailParams,
        query: listAssignmentsQuery,
        response: keys,
        detail: documented('listKeyAssignments', 'List the keys of a guardrail'),
      },
    )
    .get(
      '/guardrails/:id/assignments/members',
      ({ params, query }) => listMemberAssignments(deps, params.id, query),
      {
        caller,
        params: guardrailParams,
        query: listAssignmentsQuery,
        response: members,
        detail: documented('listMemberAssignments', 'List the members of a guardrail'),
      },
    )
    .post(
      '/guardrails/:id/assignments/keys',
      ({ actor, params, body }) => assignKeys(deps, actor, params.id, body.key_hashes),
      {
        caller,
        params: guardrailParams,
        body: keysBody,
        response: assigned,
        detail: documented(
          'assignKeys',
          'Assign keys to a guardrail',
          'A key holds at most one guardrail: it leaves the one that it had.',
        ),
      },
    )
    .post(
      '/guardrails/:id/assignments/keys/remove',
      ({ actor, params, body }) => unassignKeys(deps, actor, params.id, body.key_hashes),
      {
        caller,
        params: guardrailParams,
        body: keysBody,
        response: unassigned,
        detail: documented('unassignKeys', 'Take keys from a guardrail'),
      },
    )
    .post(
      '/guardrails/:id/assignments/members',
      ({ actor, params, body }) => assignMembers(deps, actor, params.id, body.member_user_ids),
      {
        caller,
        params: guardrailParams,
        body: membersBody,
        response: assigned,
        detail: documented(
          'assignMembers',
          'Assign members to a guardrail',
          'It holds for all keys that they made. A member holds at most one guardrail.',
        ),
      },
    )
    .post(
      '/guardrails/:id/assignments/members/remove',
      ({ actor, params, body }) => unassignMembers(deps, actor, params.id, body.member_user_ids),
      {
        caller,
        params: guardrailParams,
        body: membersBody,
        response: unassigned,
        detail: documented('unassignMembers', 'Take members from a guardrail'),
      },
    )
