import type { Payment } from '../../src/core/facilities.ts'
import type { FileSearch } from '../../src/core/file-search.ts'
import type { ToolAccess } from '../../src/core/tool-access.ts'
import type { WebAccess } from '../../src/core/web-access.ts'
import type { ServerTool } from '../../src/tools/tool.ts'

type ToolContext = Parameters<ServerTool['run']>[1]

/** A gateway without search engines, that may not read pages. */
export const noWeb: WebAccess = {
  prepareSearch() {
    throw new Error('no web')
  },
  fetchPage: () => Promise.reject(new Error('no web')),
  readDomains: () => [],
  close: () => undefined,
}

/** A workspace without files. */
export const noFiles: FileSearch = {
  check: () => Promise.reject(new Error('no files')),
  find: () => Promise.reject(new Error('no files')),
}

/** A gateway without models of images. */
export const noTools: ToolAccess = {
  web: noWeb,
  files: noFiles,
  embeddingModel: null,
  searchesItself: () => false,
  imageModel() {
    throw new Error('no models')
  },
}

const notHere = (): Promise<never> => Promise.reject(new Error('not here'))

/** A context in which every payment is granted, and listed in `paid`. */
export function contextOf(
  fields: Partial<ToolContext> = {},
  paid: (Payment & { costNanoUsd: number; counts: object })[] = [],
): ToolContext {
  return {
    parameters: {},
    signal: new AbortController().signal,
    uses: 0,
    now: Date.now,
    ...noTools,
    ask: notHere,
    draw: notHere,
    serve: notHere,
    async pay(payment, run) {
      const { value, costNanoUsd, counts = {} } = await run(new AbortController().signal)
      paid.push({ ...payment, costNanoUsd, counts })
      return value
    },
    ...fields,
  }
}
