import { isCallersLimit } from '../../core/errors.ts'
import type { Embedder } from '../../core/file-search.ts'
import type { IndexFiles } from './file-index.ts'
import type { QueryVector } from './task.ts'

/** Passages that one search embeds at most, and at the same time. The next search embeds further ones. */
const MOST_PASSAGES = 1_000
const BATCH = 64
/** After this time no further batch is begun. */
const LONGEST_MS = 15_000

export interface MeaningDeps {
  readonly index: IndexFiles
  /** Workspaces of which a search is embedding passages: another one does not pay for the same. */
  readonly embedding: Set<string>
  /** The search goes on with words alone. */
  onFailure(error: unknown, workspaceId: string): void
}

/**
 * Embeds the passages of these files that no search has embedded before, and the query. Undefined: the model failed.
 * Throws the refusal of a limit of the caller, and the signal's reason.
 */
export async function meaningOf(
  query: string,
  workspaceId: string,
  ids: readonly string[],
  embedder: Embedder,
  signal: AbortSignal,
  deps: MeaningDeps,
): Promise<QueryVector | undefined> {
  try {
    if (!deps.embedding.has(workspaceId)) {
      deps.embedding.add(workspaceId)
      await embedPassages(workspaceId, ids, embedder, signal, deps).finally(() =>
        deps.embedding.delete(workspaceId),
      )
    }
    const [vector] = await vectorsOf([query], 'query', embedder)
    return vector && { model: embedder.model, vector }
  } catch (error) {
    if (signal.aborted || isCallersLimit(error)) throw error
    deps.onFailure(error, workspaceId)
    return undefined
  }
}

async function embedPassages(
  workspaceId: string,
  ids: readonly string[],
  embedder: Embedder,
  signal: AbortSignal,
  { index }: MeaningDeps,
): Promise<void> {
  const { model } = embedder
  const until = performance.now() + LONGEST_MS
  for (let left = MOST_PASSAGES; left > 0 && performance.now() < until; left -= BATCH) {
    signal.throwIfAborted()
    const { lacking } = await index.lacking(workspaceId, model, ids, Math.min(BATCH, left))
    if (lacking.length === 0) return
    const vectors = await vectorsOf(
      lacking.map(({ text }) => text),
      'document',
      embedder,
    )
    await index.embed(
      workspaceId,
      model,
      lacking.flatMap(({ id }, i) => {
        const vector = vectors[i]
        return vector === undefined ? [] : [{ id, vector }]
      }),
    )
  }
}

/** Of length 1, so that their product is their cosine. */
async function vectorsOf(
  texts: readonly string[],
  use: 'query' | 'document',
  { embed }: Embedder,
): Promise<Float32Array[]> {
  const vectors = await embed(texts, use)
  if (vectors.length !== texts.length) throw new Error('the model gave not one vector for each text')
  return vectors.map((vector) => {
    const length = Math.hypot(...vector)
    if (!(length > 0 && vector.length <= MOST_DIMENSIONS)) throw new Error('the model gave no usable vector')
    return vector.map((value) => value / length)
  })
}
const MOST_DIMENSIONS = 8_192
