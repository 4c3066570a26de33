import { Elysia, t } from 'elysia'
import type { PresetDialect } from '../../dialects/presets/index.ts'
import { type CallerDeps, callerOption } from '../../http/caller.ts'
import { operation } from '../../http/operation.ts'
import type { ChangeDeps } from '../change.ts'
import { createPreset } from './create.ts'
import {
  listPresetsQuery,
  preset,
  presetParams,
  presetQuery,
  presetVersion,
  presetWithVersion,
  requestBody,
  updatePresetBody,
  versionParams,
} from './schema.ts'
import { getPreset, getVersion, listPresets, listVersions, updatePreset } from './service.ts'

const tag = 'Presets'
const one = { 200: t.Object({ data: presetWithVersion }) }

/** Kept settings of requests. Inference keys read those of their workspace; management keys make and change them. */
export const presetRoutes = (deps: ChangeDeps & CallerDeps) =>
  new Elysia()
    .use(callerOption(deps))
    .get('/presets', ({ caller, query }) => listPresets(deps, caller, query), {
      caller: 'any',
      query: listPresetsQuery,
      response: { 200: t.Object({ data: t.Array(preset), total_count: t.Number() }) },
      detail: operation({ id: 'listPresets', tag, summary: 'List presets' }),
    })
    .get(
      '/presets/:slug',
      async ({ caller, params, query }) => ({
        data: await getPreset(deps, caller, params.slug, query.workspace_id),
      }),
      {
        caller: 'any',
        params: presetParams,
        query: presetQuery,
        response: one,
        detail: operation({
          id: 'getPreset',
          tag,
          summary: 'Get a preset with the version that requests get',
        }),
      },
    )
    .patch(
      '/presets/:slug',
      async ({ actor, body, caller, params, query }) => ({
        data: await updatePreset(deps, caller, actor, params.slug, query.workspace_id, body),
      }),
      {
        caller: 'management',
        params: presetParams,
        query: presetQuery,
        body: updatePresetBody,
        response: one,
        detail: operation({
          id: 'updatePreset',
          tag,
          summary: 'Rename, disable or archive a preset, or go back to another version',
        }),
      },
    )
    .get(
      '/presets/:slug/versions',
      ({ caller, params, query }) => listVersions(deps, caller, params.slug, query),
      {
        caller: 'any',
        params: presetParams,
        query: listPresetsQuery,
        response: { 200: t.Object({ data: t.Array(presetVersion), total_count: t.Number() }) },
        detail: operation({
          id: 'listPresetVersions',
          tag,
          summary: 'List the versions of a preset',
        }),
      },
    )
    .get(
      '/presets/:slug/versions/:version',
      async ({ caller, params, query }) => ({
        data: await getVersion(deps, caller, params.slug, Number(params.version), query.workspace_id),
      }),
      {
        caller: 'any',
        params: versionParams,
        query: presetQuery,
        response: { 200: t.Object({ data: presetVersion }) },
        detail: operation({
          id: 'getPresetVersion',
          tag,
          summary: 'Get a version of a preset',
        }),
      },
    )
    .use(creation(deps, 'chat', '/presets/:slug/chat/completions', 'createPresetFromChat'))
    .use(creation(deps, 'responses', '/presets/:slug/responses', 'createPresetFromResponses'))
    .use(creation(deps, 'messages', '/presets/:slug/messages', 'createPresetFromMessages'))

const creation = <Path extends string>(
  deps: ChangeDeps & CallerDeps,
  dialect: PresetDialect,
  path: Path,
  id: string,
) =>
  new Elysia().use(callerOption(deps)).post(
    path,
    async ({ actor, body, caller, params, query }) => ({
      data: await createPreset(deps, caller, actor, dialect, params.slug, query.workspace_id, body),
    }),
    {
      caller: 'management',
      params: presetParams,
      query: presetQuery,
      body: requestBody,
      response: one,
      detail: operation({
        id,
        tag,
        summary: 'Keep the settings of a request as a preset, or as its next version',
        description: 'Messages and what else concerns one request alone are left out in silence.',
        errors: [409],
      }),
    },
  )
