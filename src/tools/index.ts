import { calculator } from './calculator/index.ts'
import { datetime } from './datetime/index.ts'
import { fileSearch } from './file-search/index.ts'
import { imageGeneration } from './image-generation/index.ts'
import type { ServerTool } from './tool.ts'
import { webFetch } from './web-fetch/index.ts'
import { webSearch } from './web-search/index.ts'

/** Every tool that this gateway runs. */
export const serverTools: readonly ServerTool[] = [
  calculator,
  datetime,
  fileSearch,
  imageGeneration,
  webFetch,
  webSearch,
]
