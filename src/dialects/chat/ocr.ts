import { asText, fieldsOf, isObject } from '../../core/json.ts'
import type { OcrRequest, OcrResult } from '../../core/operation.ts'
import { NO_USAGE } from '../../core/usage.ts'
import type { Operation } from '../operation.ts'
import { forwardedBody } from '../operations/fields.ts'
import { countOf, malformed, readJsonObject } from '../operations/reply.ts'

/**
 * Mistral's `/ocr`, which servers in front of it have in the same shape. Source: https://docs.mistral.ai/api/endpoint/ocr
 * and the types `OCRRequest`, `OCRResponse`, `OCRPageObject` and `OCRUsageInfo` of the package `@mistralai/mistralai` 2.7.0, read
 * in November 2026. A document is an address or a data URL; `pages` counts from 0; the reply has Markdown for each page,
 * and `usage_info.pages_processed`, by which Mistral charges.
 */
export const chatOcr: Operation<OcrRequest, OcrResult> = {
  build: (request, attempt) => ({
    path: '/ocr',
    headers: {},
    body: forwardedBody(request, attempt),
    dropped: [],
  }),
  async read(reply) {
    const { pages, usage_info } = await readJsonObject(reply)
    if (!Array.isArray(pages) || !pages.every(isObject)) throw malformed('the reply has no pages')
    const read = countOf(fieldsOf(usage_info)['pages_processed'])
    return {
      result: { pages: pages.map(({ markdown }) => asText(markdown) ?? '') },
      upstreamId: null,
      usage: read === undefined ? null : { ...NO_USAGE, pages: read },
    }
  },
}
