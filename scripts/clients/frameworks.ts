import type { Library, Source, Surface } from './client.ts'

const npm = (...packages: string[]): Source => ({ from: 'npm', packages })
const pypi = (...packages: string[]): Source => ({ from: 'pypi', packages })
const CHAT: Surface = { name: 'chat', label: 'chat' }
const RESPONSES: Surface = { name: 'responses', label: 'responses' }
const MESSAGES: Surface = { name: 'messages', label: 'messages' }

/** For packages that need a newer Node than the machine may have. */
const NODE = 'node@24.21.0'
/** Their imports alone take long on a busy machine. */
const SLOW_MS = 180_000

/** Frameworks for agents: each uses one of the libraries of `libraries.ts`, in its own way. */
export const frameworks: readonly Library[] = [
  {
    kind: 'library',
    name: 'Claude Agent SDK',
    folder: 'claude-agent-sdk',
    source: npm('@anthropic-ai/claude-agent-sdk@0.3.330', 'zod@4.6.7'),
    program: 'claude-agent-sdk.mjs',
    limitMs: SLOW_MS,
    surfaces: [MESSAGES],
  },
  {
    kind: 'library',
    name: 'AI SDK 6',
    folder: 'ai-sdk-6',
    source: npm('ai@6.0.326', '@ai-sdk/openai@3.0.141', '@openrouter/ai-sdk-provider@2.10.0', 'zod@4.6.7'),
    program: 'ai-sdk-6.mjs',
    surfaces: [
      { name: 'responses', label: '@ai-sdk/openai 3.0.141' },
      { name: 'openrouter', label: '@openrouter/ai-sdk-provider 2.10.0' },
    ],
  },
  {
    kind: 'library',
    name: 'LangGraph (JavaScript)',
    folder: 'langgraph-js',
    source: npm(
      '@langchain/langgraph@1.7.3',
      '@langchain/core@1.4.0',
      '@langchain/openai@1.5.8',
      '@langchain/anthropic@1.5.11',
      'zod@4.6.7',
    ),
    program: 'langgraph.mjs',
    surfaces: [CHAT, RESPONSES, { name: 'anthropic', label: 'messages' }],
  },
  {
    kind: 'library',
    name: 'Mastra',
    folder: 'mastra',
    source: npm('@mastra/core@1.71.0', '@ai-sdk/openai-compatible@3.0.92', 'zod@4.6.7', NODE),
    program: 'mastra.mjs',
    surfaces: [
      { name: 'compatible', label: 'chat, @ai-sdk/openai-compatible 3.0.92' },
      { name: 'url', label: 'chat, a model with `url`' },
    ],
  },
  {
    kind: 'library',
    name: '@librechat/agents',
    folder: 'librechat-agents',
    source: npm('@librechat/agents@3.9.2', NODE),
    program: 'librechat-agents.mjs',
    limitMs: SLOW_MS,
    surfaces: [
      { name: 'openai', label: 'chat, provider `openAI`' },
      { name: 'openrouter', label: 'chat, provider `openrouter`' },
      { name: 'anthropic', label: 'messages' },
    ],
  },
  {
    kind: 'library',
    name: 'LangGraph (Python)',
    folder: 'langgraph-py',
    source: pypi('langgraph==1.2.22', 'langchain-openai==1.7.3'),
    program: 'langgraph_client.py',
    surfaces: [CHAT, RESPONSES],
  },
  {
    kind: 'library',
    name: 'LlamaIndex',
    folder: 'llama-index',
    source: pypi('llama-index-core==0.14.25', 'llama-index-llms-openai-like==0.8.1'),
    program: 'llama_index_client.py',
    limitMs: SLOW_MS,
    surfaces: [CHAT],
  },
  {
    kind: 'library',
    name: 'Haystack',
    folder: 'haystack',
    source: pypi('haystack-ai==3.4.0'),
    program: 'haystack_client.py',
    limitMs: SLOW_MS,
    surfaces: [CHAT],
  },
  {
    kind: 'library',
    name: 'CrewAI',
    folder: 'crewai',
    source: pypi('crewai[litellm]==1.15.30'),
    program: 'crewai_client.py',
    limitMs: SLOW_MS,
    surfaces: [CHAT],
  },
  {
    kind: 'library',
    name: 'AutoGen',
    folder: 'autogen',
    source: pypi('autogen-agentchat==0.7.5', 'autogen-ext[openai]==0.7.5'),
    program: 'autogen_client.py',
    surfaces: [CHAT],
  },
  {
    kind: 'library',
    name: 'Microsoft Agent Framework',
    folder: 'agent-framework',
    source: pypi('agent-framework-core==1.23.0', 'agent-framework-openai==1.17.0'),
    program: 'agent_framework_client.py',
    surfaces: [RESPONSES, CHAT],
  },
  {
    kind: 'library',
    name: 'Semantic Kernel',
    folder: 'semantic-kernel',
    source: pypi('semantic-kernel==1.45.0'),
    program: 'semantic_kernel_client.py',
    limitMs: SLOW_MS,
    surfaces: [CHAT],
  },
  {
    kind: 'library',
    name: 'Google ADK',
    folder: 'google-adk',
    // Tool calls of litellm import `mcp`.
    source: pypi('google-adk==2.13.0', 'litellm==1.106.2', 'mcp==2.3.0'),
    program: 'google_adk_client.py',
    limitMs: SLOW_MS,
    surfaces: [
      { name: 'gemini', label: 'gemini, `GOOGLE_GEMINI_BASE_URL`' },
      { name: 'litellm', label: 'chat, its `LiteLlm`' },
    ],
  },
]
