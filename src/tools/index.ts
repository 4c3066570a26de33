import { calculator } from './calculator/index.ts'
import { datetime } from './datetime/index.ts'
import type { ServerTool } from './tool.ts'

/** Every tool that this gateway runs. */
export const serverTools: readonly ServerTool[] = [calculator, datetime]
