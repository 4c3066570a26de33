import type { JsonObject } from '../../../src/core/events.ts'
import { bedrock, forBedrock, ofBedrock } from './bedrock.ts'
import { claude, forClaude, ofClaude } from './claude.ts'
import { cohere, forCohere, ofCohere } from './cohere.ts'
import { forGemini, gemini, ofGemini } from './gemini.ts'
import { forResponses, ofResponses, openaiThought, responsesOf, routerThought } from './responses.ts'
import { forRouter, ofRouter, router } from './router.ts'
import { type Conversation, type Reply, SIGNATURES } from './turn.ts'

/** Providers that think, each with its wire format, streamed and complete, in the forms of recorded traffic. Each one requires its
 * thoughts back unchanged, in its own place and order. */

/** One wire format behind an address. */
export interface Wire {
  /** Matches the paths of this format. */
  readonly path: RegExp
  readonly reply: Reply
  readonly conversationOf: (body: JsonObject) => Conversation
  readonly demanded: Conversation
}

export interface Shape {
  readonly name: string
  /** The model's name at the gateway. */
  readonly model: string
  readonly provider: string
  /** The first whose path fits. */
  readonly wires: readonly Wire[]
  /** Opaque strings that may be sent to this provider: its own, and those of platforms of the same models. */
  readonly knows: readonly string[]
}

const { claude: signed, redacted, bedrock: signedAtBedrock, bedrockRedacted, ...signatures } = SIGNATURES
const CLAUDES = [signed, redacted, signedAtBedrock, bedrockRedacted]
const ROUTERS = [signatures.router, signatures.routerRedacted, signatures.routerItem]

export const SHAPES: readonly Shape[] = [
  {
    name: 'Anthropic',
    model: 'claude-lab',
    provider: 'claude',
    wires: [{ path: /^\/claude\//, reply: claude, conversationOf: ofClaude, demanded: forClaude }],
    knows: [...CLAUDES, ...ROUTERS],
  },
  {
    name: 'Gemini',
    model: 'gemini-lab',
    provider: 'google',
    wires: [{ path: /^\/google\//, reply: gemini, conversationOf: ofGemini, demanded: forGemini }],
    knows: [signatures.gemini, signatures.geminiAnswer],
  },
  {
    name: 'OpenAI',
    model: 'o-lab',
    provider: 'open',
    wires: [
      {
        path: /^\/open\//,
        reply: responsesOf(openaiThought),
        conversationOf: ofResponses,
        demanded: forResponses(openaiThought),
      },
    ],
    knows: [signatures.openai],
  },
  {
    name: 'Bedrock',
    model: 'bedrock-lab',
    provider: 'aws',
    wires: [{ path: /^\/aws\//, reply: bedrock, conversationOf: ofBedrock, demanded: forBedrock }],
    knows: [...CLAUDES, ...ROUTERS],
  },
  {
    name: 'OpenRouter',
    model: 'anthropic/claude-sonnet-4.5',
    provider: 'openrouter',
    wires: [
      {
        path: /^\/router\/.*responses$/,
        reply: responsesOf(routerThought),
        conversationOf: ofResponses,
        demanded: forResponses(routerThought),
      },
      { path: /^\/router\//, reply: router, conversationOf: ofRouter, demanded: forRouter },
    ],
    knows: Object.values(SIGNATURES),
  },
  {
    name: 'Cohere',
    model: 'command-lab',
    provider: 'cohere',
    wires: [{ path: /^\/cohere\//, reply: cohere, conversationOf: ofCohere, demanded: forCohere }],
    knows: [],
  },
]

/** Compatible vendors that reject foreign thoughts: the same replies as OpenRouter's, unsigned. */
const plainChat: Wire = {
  path: /^\/plain\/.*chat\/completions$/,
  reply: (_, isStream) => router(false, isStream),
  conversationOf: ofRouter,
  demanded: [],
}
const plainResponses: Wire = {
  path: /^\/plain\/.*responses$/,
  reply: (_, isStream) => responsesOf(openaiThought)(false, isStream),
  conversationOf: ofResponses,
  demanded: [],
}
/** Vendors at which a conversation may continue that began elsewhere. */
export const VENDORS: readonly Shape[] = [
  { name: 'OpenAI itself', model: 'openai/gpt-5-mini', provider: 'openai', knows: [signatures.openai] },
  { name: 'Groq', model: 'openai/gpt-oss-120b', provider: 'groq', knows: [] },
  { name: 'Cerebras', model: 'z-ai/glm-4.7', provider: 'cerebras', knows: [] },
  { name: 'Mistral', model: 'mistralai/magistral-medium-latest', provider: 'mistral', knows: [] },
].map((vendor) => ({ ...vendor, wires: [plainChat, plainResponses] }))
