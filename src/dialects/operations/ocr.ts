import { asList } from '../../core/json.ts'
import type { OcrRequest, OcrResult } from '../../core/operation.ts'
import { readRouting } from '../caller-fields.ts'
import type { OperationIngress } from '../operation.ts'

/** The gateway's own request for the text of pages, in Mistral's shape: no route of callers has it. */
export const ocrIngress: OperationIngress<OcrRequest, OcrResult> = {
  parse(body, headers) {
    const routed = readRouting('ocr', body, headers)
    return { ...routed, pages: asList(body['pages']).length }
  },
  writeReply: ({ pages }, { model, providerName }) => ({ model, provider: providerName, pages }),
}
