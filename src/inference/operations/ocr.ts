import type { OcrRequest, OcrResult } from '../../core/operation.ts'
import { NO_USAGE } from '../../core/usage.ts'
import { ocrIngress } from '../../dialects/operations/ocr.ts'
import { ocrEgresses } from '../../dialects/operations.ts'
import type { Task } from './task.ts'

/** The text of pages, priced by the page: the price of a request is that of a page. */
export const ocr: Task<OcrRequest, OcrResult> = {
  ingress: ocrIngress,
  egresses: ocrEgresses,
  bound: ({ pages }) => ({ ...NO_USAGE, pages }),
  count: (_, result, reported) => ({
    usage: reported ?? { ...NO_USAGE, pages: result.pages.length },
    source: reported === null ? 'estimated' : 'provider',
  }),
  logged: ({ pages }) => pages,
}
