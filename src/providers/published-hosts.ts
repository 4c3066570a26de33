import { words } from '../core/words.ts'
import type { PublishedFacts } from './published-facts.ts'
import { DEEPINFRA, NEBIUS, NOVITA, VENICE } from './published-quantizations.ts'

/** What Venice labels private in its price list. */
const VENICE_PRIVATE = words(`
deepseek-v3.2 gemma-4-uncensored zai-org-glm-4.6 zai-org-glm-4.7 zai-org-glm-4.7-flash
olafangensan-glm-4.7-flash-heretic zai-org-glm-5 zai-org-glm-5-1 zai-org-glm-5-2 google-gemma-3-27b-it
google-gemma-4-26b-a4b-it google-gemma-4-31b-it grok-4-20 grok-4-20-multi-agent grok-4-3 grok-build-0-1
hermes-3-llama-3.1-405b kimi-k2-5 kimi-k2-6 kimi-k2-7-code llama-3.2-3b llama-3.3-70b xiaomi-mimo-v2-5
minimax-m25 minimax-m27 minimax-m3-preview mistral-small-3-2-24b-instruct mistral-small-2603
nvidia-nemotron-cascade-2-30b-a3b nvidia-nemotron-3-nano-30b-a3b nvidia-nemotron-3-ultra-550b-a55b
openai-gpt-oss-120b qwen3-235b-a22b-instruct-2507 qwen3-235b-a22b-thinking-2507
qwen3-coder-480b-a35b-instruct-turbo qwen3-next-80b qwen3-5-35b-a3b qwen3-5-9b qwen3-6-27b
qwen3-vl-235b-a22b venice-uncensored-role-play venice-uncensored-1-2
`)

/** Hosts of other labs' models, and routers, in the order of `compatible.ts`. */
export const publishedHosts: readonly PublishedFacts[] = [
  {
    slug: 'openrouter',
    readAt: '2026-11-23',
    hosts: ['openrouter.ai'],
    dataPolicy: { zdr: 'on_request' },
    note: 'Each provider behind it has a policy of its own. A setting of the account sends requests to those without retention alone.',
    sources: [
      'https://openrouter.ai/docs/guides/privacy/zero-data-retention',
      'https://openrouter.ai/docs/guides/features/input-output-logging.md',
    ],
  },
  {
    slug: 'vercel',
    readAt: '2026-11-23',
    hosts: ['ai-gateway.vercel.sh'],
    dataPolicy: { zdr: 'on_request' },
    note: 'Stores nothing itself; each provider behind it has a policy of its own. A setting of the team sends requests to those without retention alone.',
    sources: [
      'https://vercel.com/docs/ai-gateway/security-and-compliance/zdr',
      'https://vercel.com/docs/ai-gateway/capabilities/zdr',
    ],
  },
  {
    slug: 'groq',
    hosts: ['api.groq.com'],
    dataPolicy: { retentionDays: 30, zdr: 'on_request' },
    note: 'Stores prompts only to find errors and abuse; a setting of the account switches that off.',
    sources: ['https://console.groq.com/docs/your-data'],
  },
  {
    slug: 'cerebras',
    readAt: '2026-11-23',
    hosts: ['api.cerebras.ai'],
    dataPolicy: { retentionDays: 0, zdr: 'always' },
    // Weights alone, and not in the layers that need more precision.
    quantizations: { 'gpt-oss-120b': 'fp8', 'zai-glm-4.7': 'fp8' },
    sources: [
      'https://support.cerebras.net/articles/1811589793-does-cerebras-retain-my-data',
      'https://inference-docs.cerebras.ai/models',
    ],
  },
  {
    slug: 'together',
    readAt: '2026-11-23',
    hosts: ['api.together.xyz', 'api.together.ai'],
    dataPolicy: { training: false, zdr: 'on_request' },
    note: 'Stores prompts until they are deleted; a setting of the account switches that off.',
    quantizations: {
      'thinkingmachines/Inkling': 'nvfp4',
      'MiniMaxAI/MiniMax-M3': 'fp4',
      'Qwen/Qwen3.8-2.4T-A95B': 'fp4',
      'Qwen/Qwen3.5-9B': 'fp8',
      'zai-org/GLM-5.3': 'fp4',
      'zai-org/GLM-5.3-Flash': 'fp8',
      'zai-org/GLM-5.2': 'fp4',
      'openai/gpt-oss-120b': 'mxfp4',
      'deepseek-ai/DeepSeek-V4-Flash-0731': 'fp4',
      'deepseek-ai/DeepSeek-V4-Pro-0813': 'nvfp4',
      'meta-llama/Llama-3.3-70B-Instruct-Turbo': 'fp8',
      'meta-models/Muse-Glimmer-30B': 'fp8',
      'deepseek-ai/DeepSeek-V4.1-Flash': 'fp8',
    },
    sources: [
      'https://docs.together.ai/docs/zero-data-retention',
      'https://docs.together.ai/docs/serverless/models',
    ],
  },
  {
    slug: 'fireworks',
    hosts: ['api.fireworks.ai'],
    dataPolicy: { retentionDays: 0, zdr: 'always' },
    sources: ['https://docs.fireworks.ai/guides/security_compliance/data_handling'],
  },
  {
    slug: 'deepinfra',
    hosts: ['api.deepinfra.com'],
    dataPolicy: { training: false, retentionDays: 0, zdr: 'always' },
    isExcepted: ({ modelId, outputModalities }) =>
      modelId.startsWith('google/') || modelId.startsWith('anthropic/') || outputModalities.includes('image'),
    note: 'Except models of Google and Anthropic, and models that output images.',
    quantizations: DEEPINFRA,
    sources: [
      'https://docs.deepinfra.com/account/data-privacy',
      'https://github.com/theopenco/llmgateway/pull/2976',
      'https://github.com/theopenco/llmgateway/pull/3664',
    ],
  },
  {
    slug: 'nebius',
    hosts: ['api.tokenfactory.nebius.com'],
    dataPolicy: { zdr: 'on_request' },
    note: 'Stores prompts to speed up its models; a setting of the account switches that off.',
    quantizations: NEBIUS,
    sources: [
      'https://docs.studio.nebius.com/legal/legal-quick-guide',
      'https://github.com/theopenco/llmgateway/pull/2994',
    ],
  },
  {
    slug: 'novita',
    readAt: '2026-11-23',
    hosts: ['api.novita.ai'],
    dataPolicy: {},
    note: 'Nothing is known of what it stores.',
    quantizations: NOVITA,
    sources: [
      'https://github.com/theopenco/llmgateway/pull/2956',
      'https://github.com/theopenco/llmgateway/pull/2961',
      'https://github.com/theopenco/llmgateway/pull/2962',
      'https://github.com/theopenco/llmgateway/pull/2963',
      'https://github.com/theopenco/llmgateway/pull/2964',
      'https://github.com/theopenco/llmgateway/pull/2965',
    ],
  },
  {
    slug: 'siliconflow',
    readAt: '2026-11-23',
    hosts: ['api.siliconflow.com'],
    dataPolicy: {},
    note: 'Uses prompts only to provide the service, by its terms of March 2025, which mention neither training nor storage.',
    sources: [
      'https://docs.siliconflow.com/en/legals/terms-of-service',
      'https://github.com/WyrdWerk/PrivacyWatch',
    ],
  },
  {
    slug: 'huggingface',
    readAt: '2026-11-23',
    hosts: ['router.huggingface.co'],
    dataPolicy: {},
    note: 'Trains on nothing and stores nothing itself; each provider behind it has a policy of its own.',
    sources: ['https://huggingface.co/docs/inference-providers/security.md'],
  },
  {
    slug: 'baseten',
    hosts: ['inference.baseten.co'],
    dataPolicy: { retentionDays: 0, zdr: 'always' },
    sources: ['https://docs.baseten.co/observability/security'],
  },
  {
    slug: 'venice',
    readAt: '2026-11-23',
    hosts: ['api.venice.ai'],
    dataPolicy: { training: false, retentionDays: 0, zdr: 'always' },
    isExcepted: ({ upstreamId }) => !VENICE_PRIVATE.includes(upstreamId),
    note: 'Except models that it does not label private; it passes those on to their vendors without naming the caller.',
    quantizations: VENICE,
    sources: [
      'https://docs.venice.ai/overview/privacy.md',
      'https://github.com/veniceai/api-docs/blob/main/overview/provider-privacy.mdx',
      'https://github.com/veniceai/api-docs/blob/main/overview/pricing.mdx',
      'https://github.com/veniceai/api-docs/blob/main/data/static-models.json',
    ],
  },
  {
    slug: 'ollama-cloud',
    readAt: '2026-11-23',
    hosts: ['ollama.com'],
    dataPolicy: { training: false, retentionDays: 0 },
    sources: ['https://infercheck.eu/en/provider/ollama-cloud'],
  },
  {
    slug: 'scaleway',
    hosts: ['api.scaleway.ai'],
    dataPolicy: { training: false },
    regions: ['eu'],
    note: 'Stores nothing but what causes errors or harm.',
    sources: [
      'https://www.scaleway.com/en/docs/generative-apis/quickstart.md',
      'https://www.scaleway.com/en/docs/generative-apis/reference-content/security-and-reliability',
      'https://github.com/scaleway/docs-content/pull/5611',
    ],
  },
  {
    slug: 'ovhcloud',
    readAt: '2026-11-23',
    hosts: ['oai.endpoints.kepler.ai.cloud.ovh.net'],
    dataPolicy: { training: false, retentionDays: 0, zdr: 'always' },
    note: 'By annex 10 of the special conditions of its contract, as Prisme.ai quotes it.',
    sources: ['https://docs.prisme.ai/resources/security/prisme-data-retention-posture'],
  },
  {
    slug: 'stackit',
    readAt: '2026-11-23',
    hosts: ['onstackit.cloud'],
    dataPolicy: { training: false, retentionDays: 0 },
    regions: ['eu'],
    sources: [
      'https://stackit.de/de/agb/leistungsscheine/stackit-model-serving',
      'https://stackit.com/en/gtc/service-description',
    ],
  },
  {
    slug: 'wandb',
    readAt: '2026-11-23',
    hosts: ['api.inference.wandb.ai'],
    dataPolicy: { training: false, retentionDays: 0, zdr: 'always' },
    note: 'After rare errors, logs may contain fragments of prompts for up to 14 days.',
    sources: ['https://docs.coreweave.com/products/inference/serverless/privacy-and-security'],
  },
  {
    slug: 'tinfoil',
    readAt: '2026-11-23',
    hosts: ['inference.tinfoil.sh'],
    dataPolicy: { retentionDays: 0, zdr: 'always' },
    sources: ['https://tinfoil.sh/security-and-privacy-faq'],
  },
  {
    slug: 'synthetic',
    readAt: '2026-11-23',
    hosts: ['api.synthetic.new'],
    dataPolicy: {},
    note: 'Trains on nothing itself, and may store prompts for 14 days; it passes some models on to providers with policies of their own.',
    sources: ['https://infercheck.eu/en/provider/synthetic'],
  },
  {
    slug: 'cortecs',
    readAt: '2026-11-23',
    hosts: ['api.cortecs.ai'],
    dataPolicy: { zdr: 'on_request' },
    note: 'Trains on nothing and stores nothing itself; each provider behind it has a policy of its own, and requests can be sent to those without retention alone.',
    sources: ['https://infercheck.eu/en/provider/cortecs'],
  },
  {
    slug: 'regolo',
    hosts: ['api.regolo.ai'],
    dataPolicy: { zdr: 'on_request' },
    regions: ['eu'],
    sources: ['https://huggingface.co/spaces/regolo/README/blob/main/README.md'],
  },
  {
    slug: 'requesty',
    readAt: '2026-11-23',
    hosts: ['router.requesty.ai'],
    dataPolicy: {},
    note: 'Stores nothing itself; each provider behind it has a policy of its own.',
    sources: ['https://www.requesty.ai/dpa'],
  },
  {
    slug: 'helicone',
    readAt: '2026-11-23',
    hosts: ['ai-gateway.helicone.ai'],
    dataPolicy: {},
    note: 'Stores requests and replies unless headers of the request omit them; each provider behind it has a policy of its own.',
    sources: ['https://docs.helicone.ai/features/advanced-usage/omit-logs'],
  },
  {
    slug: 'opencode',
    readAt: '2026-11-23',
    hosts: ['opencode.ai'],
    dataPolicy: { training: false, retentionDays: 30 },
    isExcepted: ({ pricing }) => pricing === null || pricing.prompt === 0n,
    note: 'Except free models, whose prompts may improve them. Stores prompts for 30 days for models of OpenAI and Anthropic; the providers of the others retain nothing.',
    sources: [
      'https://github.com/anomalyco/opencode/blob/038e479bf50c92c135011543ac76108f1e140287/packages/web/src/content/docs/zen.mdx',
    ],
  },
]
