import { type Static, Type as t } from '@sinclair/typebox'
import { conversationFields, GATEWAY_FIELDS, model, stopServerToolsWhen } from '../caller-schema.ts'
import { anyObject, bounded, oneOf, openObject, optional } from '../fields.ts'

/**
 * The body of `:generateContent` and `:streamGenerateContent`, in camelCase (`names.ts` normalizes it). Unknown fields
 * at every level are forwarded to providers of the same dialect.
 */

/** Google's enums, which clients write in either case. */
const anyCase = (words: readonly string[]) => oneOf([...words, ...words.map((word) => word.toLowerCase())])

const blob = openObject({
  mimeType: t.String({ minLength: 1 }),
  data: t.String({ description: 'Base64' }),
  displayName: optional(t.String()),
})
const fileData = openObject({
  mimeType: optional(t.String()),
  fileUri: t.String({
    minLength: 1,
    description: 'An https address, the id of an uploaded file, or a file of Google',
  }),
  displayName: optional(t.String()),
})

const functionCall = openObject({
  id: optional(t.String()),
  name: t.String({ minLength: 1 }),
  args: optional(anyObject('The arguments')),
})
const functionResponse = openObject({
  id: optional(t.String({ description: 'The id of the functionCall that this answers' })),
  name: t.String({ minLength: 1 }),
  response: optional(anyObject('What the function answered')),
  parts: optional(
    t.Array(openObject({ inlineData: optional(blob), fileData: optional(fileData) }), {
      description: 'Media of the answer',
    }),
  ),
})

const part = openObject(
  {
    text: optional(t.String()),
    thought: optional(t.Boolean()),
    thoughtSignature: optional(t.String({ description: 'Replay it unchanged' })),
    inlineData: optional(blob),
    fileData: optional(fileData),
    functionCall: optional(functionCall),
    functionResponse: optional(functionResponse),
  },
  {
    description: 'One of text, inlineData, fileData, functionCall, functionResponse, or another of Google',
  },
)

export const content = openObject({
  role: optional(oneOf(['user', 'model', 'function', 'tool', 'assistant', 'system'])),
  parts: optional(t.Array(part)),
})

const declaration = openObject({
  name: t.String({ minLength: 1, maxLength: 128 }),
  description: optional(t.String()),
  parameters: optional(anyObject("Google's Schema")),
  parametersJsonSchema: optional(anyObject('JSON Schema')),
})

const tool = openObject({
  functionDeclarations: optional(t.Array(declaration)),
  googleSearch: optional(anyObject('Search the web: providers of this dialect alone')),
  type: optional(t.String({ description: 'A tool that the gateway runs, such as openrouter:datetime' })),
})

const toolConfig = openObject({
  functionCallingConfig: optional(
    openObject({
      mode: optional(anyCase(['AUTO', 'ANY', 'NONE', 'VALIDATED', 'MODE_UNSPECIFIED'])),
      allowedFunctionNames: optional(t.Array(t.String({ minLength: 1 }))),
    }),
  ),
})

const thinkingConfig = openObject({
  includeThoughts: optional(t.Boolean()),
  thinkingBudget: optional(t.Integer({ minimum: -1, description: 'Tokens; 0: off, -1: the model decides' })),
  thinkingLevel: optional(anyCase(['MINIMAL', 'LOW', 'MEDIUM', 'HIGH', 'THINKING_LEVEL_UNSPECIFIED'])),
})

const MODALITIES = ['TEXT', 'IMAGE', 'AUDIO', 'VIDEO', 'MODALITY_UNSPECIFIED'] as const

export const generationConfig = openObject({
  temperature: optional(t.Number({ minimum: 0, maximum: 2 })),
  topP: optional(t.Number({ minimum: 0, maximum: 1 })),
  topK: optional(t.Number({ minimum: 0 })),
  candidateCount: optional(t.Integer({ minimum: 1, maximum: 8 })),
  maxOutputTokens: optional(t.Integer({ minimum: 1 })),
  stopSequences: optional(t.Array(t.String({ minLength: 1 }))),
  seed: optional(t.Integer()),
  presencePenalty: optional(t.Number({ minimum: -2, maximum: 2 })),
  frequencyPenalty: optional(t.Number({ minimum: -2, maximum: 2 })),
  responseLogprobs: optional(t.Boolean()),
  logprobs: optional(t.Integer({ minimum: 0, maximum: 20 })),
  responseMimeType: optional(t.String()),
  responseSchema: optional(anyObject("Google's Schema of the answer")),
  responseJsonSchema: optional(anyObject('JSON Schema of the answer')),
  responseModalities: optional(t.Array(oneOf(MODALITIES))),
  thinkingConfig: optional(thinkingConfig),
})

export const geminiBody = bounded(
  openObject({
    model,
    contents: t.Array(content, { minItems: 1 }),
    systemInstruction: optional(content),
    tools: optional(t.Array(tool)),
    toolConfig: optional(toolConfig),
    safetySettings: optional(t.Array(openObject({}))),
    generationConfig: optional(generationConfig),
    cachedContent: optional(t.String({ description: 'A cache at the provider' })),
    serviceTier: optional(t.String()),
    ...conversationFields,
    stop_server_tools_when: stopServerToolsWhen,
  }),
)

export type GeminiBody = Static<typeof geminiBody>
export type Part = Static<typeof part>
export type Content = Static<typeof content>

/** Fields for the gateway itself, and those in the path of a call: never in a body that is sent. */
export const NOT_SENT: ReadonlySet<string> = new Set([...GATEWAY_FIELDS, 'model', 'stream', 'user'])
