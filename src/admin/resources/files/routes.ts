import { Elysia } from 'elysia'
import { actorOf } from '../../../http/actor.ts'
import { type CallerDeps, callerOf, callerOption } from '../../../http/caller.ts'
import { fileReply as download } from '../../../http/download.ts'
import { operationsOf } from '../../../http/operation.ts'
import {
  fileDeleted,
  fileList,
  fileParams,
  fileQuery,
  fileReply,
  fileView,
  listFilesQuery,
  searchedFileReply,
  uploadForm,
} from './schema.ts'
import { deleteFile, type FileDeps, findFile, listFiles, uploadFile } from './service.ts'

const documented = operationsOf('Files')

/** Files of a workspace, with a key of it or a management key. */
export const fileRoutes = (deps: FileDeps & CallerDeps) =>
  new Elysia()
    .use(callerOption(deps))
    .post(
      '/files',
      async ({ query, incoming, request }) => {
        const caller = await callerOf(deps, incoming, 'any')
        return uploadFile(
          deps,
          caller,
          actorOf(incoming, caller, deps.addressOf(incoming)),
          query.workspace_id,
          request,
        )
      },
      {
        // Read as it arrives, after the caller is known.
        parse: 'none',
        query: fileQuery,
        response: { 200: fileReply },
        detail: documented('uploadFile', 'Upload a file', {
          description: 'Up to 100 MB, as the part `file` of a form. Requests name it by `file_id`.',
          form: uploadForm,
        }),
      },
    )
    .get('/files', ({ caller, query }) => listFiles(deps, caller, query), {
      caller: 'any',
      query: listFilesQuery,
      response: { 200: fileList },
      detail: documented('listFiles', 'List files'),
    })
    .get(
      '/files/:file_id',
      async ({ caller, params, query }) => {
        const row = await findFile(deps, caller, params.file_id, query.workspace_id)
        return { ...fileView(row), search: await deps.files.searchStatus(row) }
      },
      {
        caller: 'any',
        params: fileParams,
        query: fileQuery,
        response: { 200: searchedFileReply },
        detail: documented('getFile', 'Get the metadata of a file'),
      },
    )
    .get(
      '/files/:file_id/content',
      async ({ caller, params, query }) => {
        const row = await findFile(deps, caller, params.file_id, query.workspace_id)
        return download(deps.files.open(row.id), row.filename)
      },
      {
        caller: 'any',
        params: fileParams,
        query: fileQuery,
        detail: documented('getFileContent', 'Download a file', { media: ['application/octet-stream'] }),
      },
    )
    .delete(
      '/files/:file_id',
      async ({ actor, caller, params, query }) => {
        await deleteFile(deps, caller, actor, params.file_id, query.workspace_id)
        return { _shape: 'openrouter' as const, id: params.file_id, type: 'file_deleted' as const }
      },
      {
        caller: 'any',
        params: fileParams,
        query: fileQuery,
        response: { 200: fileDeleted },
        detail: documented('deleteFile', 'Delete a file'),
      },
    )
