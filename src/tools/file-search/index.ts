import { badRequest } from '../../core/errors.ts'
import type { Facilities } from '../../core/facilities.ts'
import type { Embedder, FoundPassages } from '../../core/file-search.ts'
import { asList, isText, type JsonObject, objectsIn } from '../../core/json.ts'
import { shownPassages } from '../../core/web-text.ts'
import { oneTextTool } from '../description.ts'
import { readParameters } from '../parameters.ts'
import type { ServerTool } from '../tool.ts'
import { readFilter } from './filter.ts'

const MOST_PASSAGES = 50
const USUAL_PASSAGES = 10
const MOST_USES = 1_000
const LONGEST_QUERY = 2_000
const MOST_IDS = 1_000
const FILE_ID = /^file_[0-9a-f]{32}$/
const RANKERS = ['auto', 'default-2024-11-15', 'default_2024_11_15', 'default-2024-08-21'] as const

/** Searches the uploaded files of the caller's workspace, by their words and, if a model is set, by their meaning. */
export const fileSearch: ServerTool = {
  name: 'file_search',
  describe(parameters, place) {
    readSearch(parameters, place)
    return oneTextTool(
      'Searches the files of the user by words and returns the best passages. Search again with other words if nothing fits. Cite a file that you use as a Markdown link to its id: [name.pdf](file_0123).',
      'query',
      'Words that the passage contains, in the language of the files',
    )
  },
  async check(parameters, place, { files }) {
    const { fileIds, idsField } = readSearch(parameters, place)
    if (fileIds !== undefined) await files.check(fileIds, `${place}.${idsField}`)
  },
  async run({ query }, { parameters, uses, signal, files, pay, serve, embeddingModel }) {
    if (!isText(query)) throw new Error('query must be a text')
    const { fileIds, most, isWanted, least, mostUses } = readSearch(parameters, 'parameters')
    if (uses >= mostUses) throw new Error(`no more than ${mostUses} searches are made for this request`)
    const embedder = embeddingModel === null ? undefined : embedderOf(embeddingModel, serve)
    const wanted = { query: query.slice(0, LONGEST_QUERY), fileIds, isWanted, most, embedder }
    const found = await pay(
      { kind: 'tool', name: 'openrouter:file_search', engine: 'sluice', atMostNanoUsd: 0 },
      async (ended) => ({
        value: await files.find(wanted, AbortSignal.any([signal, ended])),
        costNanoUsd: 0,
      }),
    )
    const passages = found.passages.filter(({ score }) => score >= least)
    return {
      text: [shownPassages(passages), ...notesOf(found)].join('\n'),
      item: {
        results: passages.map(({ fileId: file_id, filename, text, score }) => ({
          file_id,
          filename,
          score: Math.round(score * 10_000) / 10_000,
          text,
          attributes: {},
        })),
      },
      sources: passages.map(({ fileId, filename, text }) => ({ url: fileId, title: filename, text, fileId })),
    }
  },
}

/** Each call is a step of the request. */
const embedderOf = (model: string, serve: Facilities['serve']): Embedder => ({
  model,
  async embed(texts, use) {
    const { data } = await serve('embeddings', { model, input: texts, input_type: use }, { kind: 'tool' })
    return objectsIn(data).map(({ embedding }) => new Float32Array(asList(embedding).map(Number)))
  },
})

/** Files that are named at most. */
const SHOWN_NAMES = 5

/** What the model must know of files that were not searched. */
function* notesOf({ searched, unreadable, pending, isCut }: FoundPassages): Generator<string> {
  if (searched === 0) yield 'There are no files to search.'
  if (pending > 0) yield `${pending} files are still being read: search again to find them.`
  if (isCut) yield 'There are more files than one search covers: only the newest 1,000 were searched.'
  for (const { filename, reason } of unreadable.slice(0, SHOWN_NAMES))
    yield `The file ${JSON.stringify(filename)} cannot be searched: ${reason}.`
  const more = unreadable.length - SHOWN_NAMES
  if (more > 0) yield `${more} other files cannot be searched.`
}

/** The parameters of the tool's entry. Throws a 400 for one that is wrong or unknown. */
function readSearch(parameters: JsonObject, place: string) {
  const read = readParameters(parameters, place)
  const ofStores = read.texts('vector_store_ids')
  const ofFiles = read.texts('file_ids')
  if (ofStores !== undefined && ofFiles !== undefined)
    throw badRequest('file_ids and vector_store_ids mean the same here: send one of them', place)
  const idsField = ofStores === undefined ? 'file_ids' : 'vector_store_ids'
  const fileIds = ofStores ?? ofFiles
  checkIds(fileIds, `${place}.${idsField}`)
  const ranking = read.object('ranking_options')
  ranking?.word('ranker', RANKERS)
  const least = ranking?.fraction('score_threshold') ?? 0
  ranking?.end()
  const isWanted = readFilter(read.json('filters'), `${place}.filters`)
  const most = read.integer('max_num_results', MOST_PASSAGES) ?? USUAL_PASSAGES
  const mostUses = read.integer('max_uses', MOST_USES) ?? MOST_USES
  read.end()
  return { fileIds, idsField, least, isWanted, most, mostUses }
}

function checkIds(ids: readonly string[] | undefined, place: string): void {
  if (ids === undefined) return
  if (ids.length === 0 || ids.length > MOST_IDS)
    throw badRequest(
      `must have 1 to ${MOST_IDS} ids; without it all files of the workspace are searched`,
      place,
    )
  const wrong = ids.findIndex((id) => !FILE_ID.test(id))
  if (wrong >= 0) throw badRequest('must be the id of an uploaded file (file_…)', `${place}[${wrong}]`)
}
