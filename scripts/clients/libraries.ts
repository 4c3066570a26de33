import type { Library, LibraryCheck, Source, Surface } from './client.ts'

const npm = (...packages: string[]): Source => ({ from: 'npm', packages })
const pypi = (...packages: string[]): Source => ({ from: 'pypi', packages })
/** Compiled programs have no more. */
const COMPILED: readonly LibraryCheck[] = ['answer', 'stream', 'tools', 'bad key', 'unknown model', 'cut']
const compiled = (surface: Surface): Surface => ({ ...surface, checks: COMPILED })
const CHAT: Surface = { name: 'chat', label: 'chat' }
const RESPONSES: Surface = { name: 'responses', label: 'responses' }
const MESSAGES: Surface = { name: 'messages', label: 'messages' }
const GEMINI: Surface = { name: 'gemini', label: 'gemini' }

/** One install for all of the AI SDK's providers; the table has a row for each, with its own version. */
const AI_SDK = {
  kind: 'library',
  folder: 'ai-sdk',
  program: 'ai-sdk.mjs',
  source: npm(
    'ai@7.0.173',
    '@ai-sdk/openai@4.0.118',
    '@ai-sdk/anthropic@4.0.105',
    '@ai-sdk/google@4.0.121',
    '@ai-sdk/openai-compatible@3.0.92',
    '@openrouter/ai-sdk-provider@3.1.0',
    'zod@4.6.7',
  ),
} as const

/** Gigabytes that only its local embeddings and transcriptions use. */
const MACHINE_LEARNING = [
  ...['torch', 'triton', 'sentence-transformers', 'transformers', 'accelerate', 'colbert-ai'],
  ...['onnxruntime', 'rapidocr-onnxruntime', 'opencv-python-headless', 'faster-whisper', 'ctranslate2'],
  ...['unstructured', 'playwright', 'pyodide'],
]

export const libraries: readonly Library[] = [
  {
    kind: 'library',
    name: 'openai (JavaScript)',
    folder: 'openai-js',
    source: npm('openai@7.57.0'),
    program: 'openai.mjs',
    surfaces: [CHAT, RESPONSES],
  },
  {
    kind: 'library',
    name: 'openai (Python)',
    folder: 'openai-py',
    source: pypi('openai==3.54.0'),
    program: 'openai_client.py',
    surfaces: [CHAT, RESPONSES],
  },
  {
    kind: 'library',
    name: '@anthropic-ai/sdk',
    folder: 'anthropic-js',
    source: npm('@anthropic-ai/sdk@1.12.0'),
    program: 'anthropic.mjs',
    surfaces: [MESSAGES, { name: 'runner', label: 'messages, `toolRunner`', checks: ['tools'] }],
  },
  {
    kind: 'library',
    name: 'anthropic (Python)',
    folder: 'anthropic-py',
    source: pypi('anthropic==2.12.0'),
    program: 'anthropic_client.py',
    surfaces: [MESSAGES, { name: 'runner', label: 'messages, `tool_runner`', checks: ['tools'] }],
  },
  {
    kind: 'library',
    name: '@google/genai',
    folder: 'google-genai-js',
    source: npm('@google/genai@3.1.0'),
    program: 'google-genai.mjs',
    surfaces: [GEMINI],
  },
  {
    kind: 'library',
    name: 'google-genai (Python)',
    folder: 'google-genai-py',
    source: pypi('google-genai==3.4.0'),
    program: 'google_genai.py',
    surfaces: [GEMINI],
  },
  {
    ...AI_SDK,
    name: 'AI SDK',
    surfaces: [
      { name: 'responses', label: '@ai-sdk/openai 4.0.118, default (responses)' },
      { name: 'chat', label: '@ai-sdk/openai 4.0.118, `.chat`' },
      { name: 'anthropic', label: '@ai-sdk/anthropic 4.0.105' },
      { name: 'google', label: '@ai-sdk/google 4.0.121' },
      { name: 'compatible', label: '@ai-sdk/openai-compatible 3.0.92' },
      { name: 'openrouter', label: '@openrouter/ai-sdk-provider 3.1.0' },
    ],
  },
  {
    kind: 'library',
    name: '@openrouter/sdk',
    folder: 'openrouter-js',
    source: npm('@openrouter/sdk@1.3.19'),
    program: 'openrouter.mjs',
    surfaces: [CHAT],
  },
  {
    kind: 'library',
    name: '@openrouter/agent',
    folder: 'openrouter-agent',
    source: npm('@openrouter/agent@0.8.0', 'zod@4.6.7'),
    program: 'openrouter-agent.mjs',
    surfaces: [RESPONSES],
  },
  {
    kind: 'library',
    name: '@openai/agents',
    folder: 'openai-agents-js',
    source: npm('@openai/agents@0.20.0', 'openai@7.57.0', 'zod@4.6.7'),
    program: 'openai-agents.mjs',
    surfaces: [RESPONSES, CHAT],
  },
  {
    kind: 'library',
    name: 'openrouter (Python)',
    folder: 'openrouter-py',
    source: pypi('openrouter==1.3.84'),
    program: 'openrouter_client.py',
    surfaces: [CHAT],
  },
  {
    kind: 'library',
    name: 'LangChain (Python)',
    folder: 'langchain',
    source: pypi(
      'langchain==1.4.7',
      'langchain-openai==1.7.3',
      'langchain-anthropic==1.7.7',
      'langchain-openrouter==0.2.9',
    ),
    program: 'langchain_client.py',
    surfaces: [
      { name: 'openai', label: 'langchain-openai 1.7.3, chat' },
      { name: 'responses', label: 'langchain-openai 1.7.3, responses' },
      { name: 'anthropic', label: 'langchain-anthropic 1.7.7' },
      { name: 'openrouter', label: 'langchain-openrouter 0.2.9' },
    ],
  },
  {
    kind: 'library',
    name: 'LangChain (Python)',
    folder: 'langchain-google',
    source: pypi('langchain==1.4.7', 'langchain-google-genai==4.4.2'),
    program: 'langchain_client.py',
    surfaces: [{ name: 'google', label: 'langchain-google-genai 4.4.2' }],
  },
  {
    kind: 'library',
    name: 'pydantic-ai',
    folder: 'pydantic-ai',
    source: pypi('pydantic-ai-slim[openai,anthropic]==2.68.0'),
    program: 'pydantic_ai_client.py',
    surfaces: [CHAT, RESPONSES, { name: 'anthropic', label: 'messages' }],
  },
  {
    kind: 'library',
    name: 'openai-agents',
    folder: 'openai-agents',
    source: pypi('openai-agents==0.24.0'),
    program: 'openai_agents.py',
    surfaces: [RESPONSES, CHAT],
  },
  {
    kind: 'library',
    name: 'litellm',
    folder: 'litellm',
    // Its tool calls import `mcp`, which it does not depend on.
    source: pypi('litellm==1.106.2', 'mcp==2.3.0'),
    program: 'litellm_client.py',
    limitMs: 180_000,
    surfaces: [
      { name: 'openai', label: 'chat, as `openai/…`' },
      { name: 'openrouter', label: 'chat, as `openrouter/…`' },
      { name: 'anthropic', label: 'messages' },
    ],
  },
  {
    kind: 'library',
    name: 'instructor',
    folder: 'instructor',
    source: pypi('instructor==1.17.0'),
    program: 'instructor_client.py',
    surfaces: [{ ...CHAT, checks: ['tools', 'bad key', 'cut'], toolText: 'Oslo' }],
  },
  {
    kind: 'library',
    name: 'llm',
    folder: 'llm',
    source: pypi('llm==0.36'),
    program: 'llm_client.py',
    surfaces: [CHAT],
  },
  {
    kind: 'library',
    name: 'smolagents',
    folder: 'smolagents',
    source: pypi('smolagents[openai]==1.26.0'),
    program: 'smolagents_client.py',
    surfaces: [CHAT],
  },
  {
    kind: 'library',
    name: 'openai-go',
    folder: 'openai-go',
    source: { from: 'go', module: 'github.com/openai/openai-go/v3@v3.96.0', program: 'openai' },
    surfaces: [CHAT, RESPONSES].map(compiled),
  },
  {
    kind: 'library',
    name: 'go-openai (sashabaranov)',
    folder: 'go-openai',
    source: { from: 'go', module: 'github.com/sashabaranov/go-openai@v1.43.0', program: 'go-openai' },
    surfaces: [compiled(CHAT)],
  },
  {
    kind: 'library',
    name: 'async-openai (Rust)',
    folder: 'async-openai',
    source: { from: 'cargo', crate: 'async-openai@0.43.0', program: 'async-openai' },
    surfaces: [
      compiled(CHAT),
      compiled(RESPONSES),
      {
        name: 'reconnecting',
        label: '0.29.6 (connects again), chat',
        checks: ['answer', 'stream', 'bad key', 'cut'],
      },
    ],
  },
  {
    kind: 'library',
    name: 'Open WebUI',
    folder: 'open-webui',
    source: { from: 'pypi', packages: ['open-webui==0.12.4'], without: MACHINE_LEARNING },
    program: 'open_webui.py',
    limitMs: 300_000,
    surfaces: [{ ...CHAT, label: 'chat, `OPENAI_API_BASE_URL`', checks: ['answer', 'stream', 'cut'] }],
  },
]
