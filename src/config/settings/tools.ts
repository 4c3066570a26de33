import * as read from '../readers.ts'
import { optional, type Setting, setting } from '../setting.ts'

/** Server tools: functions that the gateway runs for a model. */
export const toolSettings = {
  toolSteps: setting({
    variable: 'SLUICE_TOOL_STEPS',
    type: 'number',
    fallback: 10,
    read: read.wholeNumber(1, 100),
    meaning:
      'Steps of a request with server tools: after so many replies that call tools, the model answers without them.',
  }),
  toolCallSeconds: setting({
    variable: 'SLUICE_TOOL_CALL_SECONDS',
    type: 'seconds',
    fallback: 30,
    read: read.wholeNumber(1, 3_600),
    meaning: 'Time of one call of a server tool. A longer call fails, and the model gets the error.',
  }),
  toolSeconds: setting({
    variable: 'SLUICE_TOOL_SECONDS',
    type: 'seconds',
    fallback: 300,
    read: read.wholeNumber(1, 86_400),
    meaning:
      'Longest time for a request with server tools. After it no further tool is called, and a running reply of the model is aborted with 408.',
  }),
  ocrModel: setting({
    variable: 'SLUICE_OCR_MODEL',
    type: 'model',
    fallback: 'mistralai/mistral-ocr-latest',
    read: read.text('the id of a model', (value) => value !== ''),
    meaning:
      'Reads the pages of PDFs for the engine `mistral-ocr` of the plugin `file-parser`: a model with the output `ocr`, or any model that sees.',
  }),
  embeddingModel: optional({
    variable: 'SLUICE_EMBEDDING_MODEL',
    type: 'model',
    read: read.text('the id of a model', (value) => value !== ''),
    meaning:
      'Embedding model with which `file_search` finds passages by their meaning too. Unset: by their words alone. Embedding is paid by the request that searches.',
  }),
} satisfies Record<string, Setting<unknown>>
