import { contextCompression } from './context-compression/index.ts'
import { fileParser } from './file-parser/index.ts'
import { fusion } from './fusion/index.ts'
import { moderation } from './moderation/index.ts'
import type { Plugin } from './plugin.ts'
import { responseHealing } from './response-healing/index.ts'
import { autoBetaRouter, autoRouter } from './routers/auto.ts'
import { paretoRouter } from './routers/pareto.ts'
import { web } from './web/index.ts'
import { webFetch } from './web-fetch/index.ts'

/**
 * Every plugin, in the order in which they see a request. They see the reply in the opposite order.
 */
export const plugins: readonly Plugin[] = [
  // Before the moderation, which judges their texts.
  fileParser,
  moderation,
  web,
  webFetch,
  contextCompression,
  autoRouter,
  autoBetaRouter,
  paretoRouter,
  fusion,
  responseHealing,
]
