import type { FileSearch } from './file-search.ts'
import type { WebAccess } from './web-access.ts'

/** What server tools reach for one caller. */
export interface ToolAccess {
  readonly web: WebAccess
  /** Of the caller's workspace. */
  readonly files: FileSearch
  /** Null: files are searched by their words alone. */
  readonly embeddingModel: string | null
  /** True if some endpoint of these models may run Anthropic's search itself. */
  searchesItself(models: readonly string[]): boolean
  /**
   * The model of images that is called by this name; without a name the workspace's default image model. Throws a 400 with
   * the place if there is none.
   */
  imageModel(name: string | undefined, place: string): string
}
