import * as read from '../readers.ts'
import { type Setting, setting } from '../setting.ts'

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
    meaning: 'Time of one call of a server tool. A call that takes longer has failed; the model is told so.',
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
} satisfies Record<string, Setting<unknown>>
