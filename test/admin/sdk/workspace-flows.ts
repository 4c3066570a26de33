/** Keys, workspaces and guardrails. */
import { expect } from 'bun:test'
import * as errors from '@openrouter/sdk/models/errors'
import { hashKey } from '../../../src/core/keys.ts'
import { API_KEY } from '../../gateway.ts'
import { type Flow, known, management, pagesOf, USER } from './flow.ts'

export const workspaceFlows: Flow[] = [
  {
    name: 'keys',
    key: management,
    covers: 'apiKeys: create get list update delete getCurrentKeyMetadata',
    async run({ apiKeys }) {
      const expiresAt = new Date(Date.now() + 3_600_000)
      const requestBody = {
        name: 'sdk',
        limit: 2.5,
        limitReset: 'weekly' as const,
        expiresAt,
        includeByokInLimit: true,
      }
      const made = known(await apiKeys.create({ requestBody }))
      expect(made.data).toMatchObject({
        name: 'sdk',
        limit: 2.5,
        limitRemaining: 2.5,
        updatedAt: null,
        expiresAt,
      })
      const { hash } = made.data
      expect(hash).toBe(hashKey(made.key))
      expect(known(await apiKeys.get({ hash })).data).toEqual(made.data)
      expect(known(await apiKeys.list({ includeDisabled: true })).data).toContainEqual(made.data)
      const changed = await apiKeys.update({ hash, requestBody: { disabled: true, limit: null } })
      expect(known(changed).data).toMatchObject({ disabled: true, limit: null, limitRemaining: null })
      expect(known(await apiKeys.list({})).data.map((each) => each.hash)).not.toContain(hash)
      expect(await apiKeys.delete({ hash })).toEqual({ deleted: true })
      await expect(apiKeys.get({ hash })).rejects.toBeInstanceOf(errors.NotFoundResponseError)
      expect(known(await apiKeys.getCurrentKeyMetadata()).data).toMatchObject({ isManagementKey: true })
    },
  },
  {
    name: 'workspaces, members and budgets',
    key: management,
    covers:
      'workspaces: create get list update delete listMembers bulkAddMembers bulkRemoveMembers listBudgets getBudget setBudget deleteBudget',
    async run({ workspaces }) {
      const made = known(
        await workspaces.create({
          createWorkspaceRequest: {
            name: 'Tides',
            slug: 'sdk-tides',
            description: 'All',
            ioLoggingSamplingRate: 0.5,
          },
        }),
      )
      const { id } = made.data
      expect(known(await workspaces.get({ id: 'sdk-tides' })).data).toEqual(made.data)
      const pages = await pagesOf(workspaces.list({ limit: 1 }))
      expect(pages.flatMap(({ result }) => result.data.map((each) => each.id))).toContain(id)
      const updated = await workspaces.update({
        id,
        updateWorkspaceRequest: { name: 'Ebb', description: null },
      })
      expect(known(updated).data).toMatchObject({ name: 'Ebb', description: null })
      const userIds = [USER]
      const added = await workspaces.bulkAddMembers({ id, bulkAddWorkspaceMembersRequest: { userIds } })
      expect(known(added)).toMatchObject({ addedCount: 1, data: [{ userId: USER, role: 'member' }] })
      const [members] = await pagesOf(workspaces.listMembers({ id }))
      expect(members?.result.totalCount).toBe(2)
      expect(
        await workspaces.bulkRemoveMembers({ id, bulkRemoveWorkspaceMembersRequest: { userIds } }),
      ).toEqual({
        removedCount: 1,
      })
      for (const [interval, limitUsd] of [
        ['daily', 1],
        ['lifetime', 9],
      ] as const) {
        const set = await workspaces.setBudget({
          workspaceRef: id,
          interval,
          upsertWorkspaceBudgetRequest: { limitUsd },
        })
        expect(known(set).data).toMatchObject({
          limitUsd,
          resetInterval: interval === 'daily' ? 'daily' : null,
        })
      }
      expect(known(await workspaces.getBudget({ workspaceRef: id, interval: 'daily' })).data.limitUsd).toBe(1)
      expect(known(await workspaces.listBudgets({ workspaceRef: 'sdk-tides' })).data).toHaveLength(2)
      expect(await workspaces.deleteBudget({ workspaceRef: id, interval: 'daily' })).toEqual({
        deleted: true,
      })
      expect(await workspaces.deleteBudget({ workspaceRef: id, interval: 'daily' })).toEqual({
        deleted: true,
      })
      expect(await workspaces.delete({ id })).toEqual({ deleted: true })
      await expect(workspaces.get({ id })).rejects.toBeInstanceOf(errors.NotFoundResponseError)
    },
  },
  {
    name: 'guardrails and their assignments',
    key: management,
    covers:
      'guardrails: create get list update delete bulkAssignKeys bulkUnassignKeys bulkAssignMembers bulkUnassignMembers listGuardrailKeyAssignments listGuardrailMemberAssignments listKeyAssignments listMemberAssignments',
    async run({ guardrails }, gateway) {
      const made = known(
        await guardrails.create({
          createGuardrailRequest: {
            name: 'Careful',
            allowedModels: ['lab/tide'],
            limitUsd: 5,
            resetInterval: 'monthly',
            enforceZdr: true,
            contentFilterBuiltins: [{ slug: 'email', action: 'redact' }],
            contentFilters: [{ pattern: 'secret-\\d+', action: 'block', label: 'Ours' }],
          },
        }),
      )
      const { id } = made.data
      expect(made.data).toMatchObject({ enforceZdrOpenai: true, contentFilters: [{ label: 'Ours' }] })
      expect(known(await guardrails.get({ id })).data).toEqual(made.data)
      // Fields that only this gateway has do not confuse the client.
      const content_filters = [{ pattern: 'secret-\\d+', action: 'block', label: 'Ours', apply_to: 'both' }]
      expect((await gateway.manage('PATCH', `/guardrails/${id}`, { content_filters })).status).toBe(200)
      expect(known(await guardrails.get({ id })).data).toMatchObject({ contentFilters: [{ label: 'Ours' }] })
      await gateway.manage('PATCH', `/guardrails/${id}`, { content_filters: [made.data.contentFilters?.[0]] })
      const pages = await pagesOf(guardrails.list({ limit: 1 }))
      expect(pages.flatMap(({ result }) => result.data).map((each) => each.id)).toContain(made.data.id)
      const changed = await guardrails.update({
        id,
        updateGuardrailRequest: { description: 'Very', allowedModels: null },
      })
      expect(known(changed).data).toMatchObject({ description: 'Very', allowedModels: null })
      const keyHashes = [hashKey(API_KEY)]
      expect(await guardrails.bulkAssignKeys({ id, bulkAssignKeysRequest: { keyHashes } })).toEqual({
        assignedCount: 1,
      })
      const [keys] = await pagesOf(guardrails.listGuardrailKeyAssignments({ id }))
      expect(keys?.result.data).toMatchObject([{ keyHash: keyHashes[0], guardrailId: id }])
      expect((await pagesOf(guardrails.listKeyAssignments({})))[0]?.result).toEqual(keys?.result ?? Object())
      expect(await guardrails.bulkUnassignKeys({ id, bulkUnassignKeysRequest: { keyHashes } })).toEqual({
        unassignedCount: 1,
      })
      const memberUserIds = [USER]
      await guardrails.bulkAssignMembers({ id, bulkAssignMembersRequest: { memberUserIds } })
      const [members] = await pagesOf(guardrails.listGuardrailMemberAssignments({ id }))
      expect(members?.result.data).toMatchObject([{ userId: USER, guardrailId: id }])
      expect((await pagesOf(guardrails.listMemberAssignments({})))[0]?.result.totalCount).toBe(1)
      await guardrails.bulkUnassignMembers({ id, bulkUnassignMembersRequest: { memberUserIds } })
      expect(await guardrails.delete({ id })).toEqual({ deleted: true })
      await expect(guardrails.get({ id })).rejects.toBeInstanceOf(errors.NotFoundResponseError)
    },
  },
]
