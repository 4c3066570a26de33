import { type FileIndex, openFileIndex } from '../../db/file-index.ts'
import { Refusal } from '../../tools/documents/bounds.ts'
import { readDocument } from '../../tools/documents/read-document.ts'
import { candidatesOf, fused } from './fused.ts'
import { matchOf, passagesOf, wordsOf } from './passages.ts'
import { type IndexAnswer, type IndexTask, NOTHING } from './task.ts'

/** An entry point of its own, because it runs in a thread of its own. */
self.onmessage = async ({ data }: MessageEvent<IndexTask>) => {
  self.postMessage(await answerTo(data).catch((error: unknown) => ({ ...NOTHING, error: String(error) })))
}

async function answerTo(task: IndexTask): Promise<IndexAnswer> {
  const passages = task.do === 'add' ? await read(task) : []
  const index = openFileIndex(task.index)
  try {
    return run(index, task, passages)
  } finally {
    index.close()
  }
}

function run(index: FileIndex, task: IndexTask, passages: Awaited<ReturnType<typeof read>>): IndexAnswer {
  switch (task.do) {
    case 'add':
      if ('refusal' in passages) index.refuse(task.id, passages.refusal)
      else index.add(task.id, passages)
      return NOTHING
    case 'refuse':
      index.refuse(task.id, task.reason)
      return NOTHING
    case 'remove':
      index.remove(task.ids, wordsOf)
      return NOTHING
    case 'keep': {
      const kept = new Set(task.ids)
      const gone = index.ids().filter((id) => !kept.has(id))
      if (gone.length > 0) index.remove(gone, wordsOf)
      return NOTHING
    }
    case 'status':
      return { ...NOTHING, refused: index.refusals(task.ids), unknown: index.unknown(task.ids) }
    case 'search': {
      const match = matchOf(task.query)
      const { ids, most, meaning } = task
      const byWords = match === null ? [] : index.search(match, ids, candidatesOf(task))
      return {
        ...NOTHING,
        found: (meaning === undefined
          ? byWords
          : fused([byWords, index.nearest(meaning.model, meaning.vector, ids, candidatesOf(task))])
        ).slice(0, most),
        refused: index.refusals(ids),
        unknown: index.unknown(ids),
      }
    }
    case 'lacking':
      return { ...NOTHING, lacking: index.lacking(task.model, task.ids, task.most) }
    case 'embed':
      index.embed(task.model, task.vectors)
      return NOTHING
  }
}

async function read({ path, filename, mediaType }: Extract<IndexTask, { do: 'add' }>) {
  try {
    const bytes = await Bun.file(path).bytes()
    const { text } = await readDocument({ name: filename, mediaType, bytes })
    return passagesOf(text).map((passage) => ({ text: passage, words: wordsOf(passage) }))
  } catch (error) {
    return { refusal: error instanceof Refusal ? error.message : 'it is broken' }
  }
}
