/** Names of the OpenTelemetry conventions for generative AI, for metrics and spans. */
import type { ApiType } from './request.ts'

const OPERATIONS = {
  completions: 'chat',
  responses: 'chat',
  messages: 'chat',
  gemini: 'generate_content',
  embeddings: 'embeddings',
  image: 'generate_content',
  rerank: 'rerank',
  moderation: 'moderation',
  ocr: 'generate_content',
  tts: 'generate_content',
  stt: 'generate_content',
  tool: 'execute_tool',
} as const satisfies Record<ApiType | 'tool', string>

export type GenAiOperation = (typeof OPERATIONS)[keyof typeof OPERATIONS]

/** `gen_ai.operation.name`. The conventions have no name for rerank and moderation, and allow others. */
export const operationNameOf = (apiType: ApiType | 'tool'): GenAiOperation => OPERATIONS[apiType]

/** The well-known values of `gen_ai.provider.name` that differ from our slug of the provider. */
const WELL_KNOWN: Readonly<Record<string, string>> = {
  'amazon-bedrock': 'aws.bedrock',
  azure: 'azure.ai.openai',
  google: 'gcp.gemini',
  'google-vertex': 'gcp.vertex_ai',
  mistral: 'mistral_ai',
  moonshotai: 'moonshot_ai',
  xai: 'x_ai',
}

/** `gen_ai.provider.name`: the well-known value, else our slug. */
export const providerNameOf = (slug: string): string => WELL_KNOWN[slug] ?? slug
