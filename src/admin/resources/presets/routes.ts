import { Elysia, t } from 'elysia'
import { preset, presetVersion } from '../../../db/tables.ts'
import { chatBody } from '../../../dialects/chat/schema.ts'
import { messagesBody } from '../../../dialects/messages/schema.ts'
import { responsesBody } from '../../../dialects/responses/schema.ts'
import { type CallerDeps, callerOption } from '../../../http/caller.ts'
import { CHANGE, operationsOf } from '../../../http/operation.ts'
import { data, dataReply, inWorkspace, pageReply } from '../../../http/schemas.ts'
import type { ChangeDeps } from '../../change.ts'
import { createPreset } from './create.ts'
import {
  getPreset,
  getVersion,
  listPresets,
  listVersions,
  presetList,
  presetReply,
  updateBody,
  updatePreset,
  versionList,
} from './service.ts'

const documented = operationsOf('Presets')
const query = t.Object(inWorkspace, { additionalProperties: true })
const slug = t.String({
  pattern: '^[A-Za-z0-9](?:[A-Za-z0-9._~-]{0,98}[A-Za-z0-9])?$',
  maxLength: 100,
  expects: '1 to 100 letters, digits, ".", "_", "~" and "-", beginning and ending with a letter or digit',
  documented: { type: 'string', minLength: 1, maxLength: 100 },
  description: 'What requests name: `@preset/<slug>`.',
})
const params = t.Object({ slug })
const versionParams = t.Object({
  slug,
  version: t.String({
    pattern: '^[1-9][0-9]{0,8}$',
    maxLength: 9,
    expects: 'a version: 1, 2, 3, …',
    documented: { type: 'integer', minimum: 1 },
    description: 'Its number.',
  }),
})
/** A request of the dialect, of which only settings are read. */
const requestBody = t.Object({}, { additionalProperties: true })
/** The bodies in the API document: no field is required. */
const shownBodies = {
  chat: t.Partial(chatBody),
  responses: t.Partial(responsesBody),
  messages: t.Partial(messagesBody),
}
const response = dataReply(presetReply)

/** Stored settings of requests. Inference keys read those of their workspace; management keys create and change them. */
export const presetRoutes = (deps: ChangeDeps & CallerDeps) =>
  new Elysia()
    .use(callerOption(deps))
    .get('/presets', ({ caller, query }) => listPresets(deps, caller, query), {
      caller: 'any',
      query: presetList.query,
      response: pageReply(preset.view),
      detail: documented('listPresets', 'List presets'),
    })
    .get(
      '/presets/:slug',
      ({ caller, params, query }) => data(getPreset(deps, caller, params.slug, query.workspace_id)),
      {
        caller: 'any',
        params,
        query,
        response,
        detail: documented('getPreset', 'Get a preset with the version that requests get'),
      },
    )
    .patch(
      '/presets/:slug',
      ({ actor, body, caller, params, query }) =>
        data(updatePreset(deps, caller, actor, params.slug, query.workspace_id, body)),
      {
        caller: 'management',
        params,
        query,
        body: updateBody,
        response,
        detail: documented(
          'updatePreset',
          'Rename, disable or archive a preset, or go back to another version',
          CHANGE,
        ),
      },
    )
    .get(
      '/presets/:slug/versions',
      ({ caller, params, query }) => listVersions(deps, caller, params.slug, query),
      {
        caller: 'any',
        params,
        query: versionList.query,
        response: pageReply(presetVersion.view),
        detail: documented('listPresetVersions', 'List the versions of a preset'),
      },
    )
    .get(
      '/presets/:slug/versions/:version',
      ({ caller, params, query }) =>
        data(getVersion(deps, caller, params.slug, Number(params.version), query.workspace_id)),
      {
        caller: 'any',
        params: versionParams,
        query,
        response: dataReply(presetVersion.view),
        detail: documented('getPresetVersion', 'Get a version of a preset'),
      },
    )
    .use(creation(deps, 'chat', '/presets/:slug/chat/completions', 'createPresetFromChat'))
    .use(creation(deps, 'responses', '/presets/:slug/responses', 'createPresetFromResponses'))
    .use(creation(deps, 'messages', '/presets/:slug/messages', 'createPresetFromMessages'))

const creation = <Path extends string>(
  deps: ChangeDeps & CallerDeps,
  dialect: keyof typeof shownBodies,
  path: Path,
  id: string,
) =>
  new Elysia()
    .use(callerOption(deps))
    .post(
      path,
      ({ actor, body, caller, params, query }) =>
        data(createPreset(deps, caller, actor, dialect, params.slug, query.workspace_id, body)),
      {
        caller: 'management',
        params,
        query,
        body: requestBody,
        response,
        detail: documented(id, 'Store the settings of a request as a preset, or as its next version', {
          description: 'Ignores messages and everything else that concerns one request alone.',
          errors: [409],
          body: shownBodies[dialect],
        }),
      },
    )
