import type { PublishedFacts } from './published-facts.ts'

/** Labs and clouds, in the order of `compatible.ts`. */
export const publishedLabs: readonly PublishedFacts[] = [
  {
    slug: 'openai',
    hosts: ['api.openai.com'],
    dataPolicy: { training: false, retentionDays: 30, zdr: 'on_request' },
    regionsAt: { 'eu.api.openai.com': ['eu'], 'us.api.openai.com': ['us'] },
    sources: [
      'https://developers.openai.com/api/docs/guides/your-data',
      'https://developers.openai.com/api/docs/guides/data-residency',
    ],
  },
  {
    slug: 'anthropic',
    hosts: ['api.anthropic.com'],
    dataPolicy: { training: false, retentionDays: 30, zdr: 'on_request' },
    note: 'What violates the usage policy is stored for up to two years.',
    sources: [
      'https://privacy.anthropic.com/en/articles/7996866-how-long-do-you-store-personal-data',
      'https://privacy.claude.com/en/articles/8956058-i-have-a-zero-retention-agreement-with-anthropic-what-products-does-it-apply-to',
      'https://conductatlas.com/platform/anthropic/anthropic-commercial-terms/output-ownership-and-no-model-training/',
    ],
  },
  {
    slug: 'google',
    hosts: ['generativelanguage.googleapis.com'],
    dataPolicy: { retentionDays: 55, zdr: 'on_request' },
    isModerated: true,
    note: 'Trains on prompts of unpaid services, and not on those of paid ones.',
    sources: [
      'https://ai.google.dev/gemini-api/docs/zdr',
      'https://ai.google.dev/gemini-api/docs/abuse-monitoring',
      'https://ai.google.dev/terms',
    ],
  },
  {
    slug: 'mistral',
    hosts: ['api.mistral.ai'],
    dataPolicy: { zdr: 'on_request' },
    note: 'Does not train on prompts of the Scale plan; may on those of the Experiment plan.',
    sources: [
      'https://docs.mistral.ai/admin/monitor-comply/zero-data-retention',
      'https://help.mistral.ai/en/articles/323757-do-you-use-my-user-data-to-train-your-artificial-intelligence-models',
    ],
  },
  {
    slug: 'perplexity',
    hosts: ['api.perplexity.ai'],
    dataPolicy: { training: false, retentionDays: 0, zdr: 'always' },
    sources: ['https://docs.perplexity.ai/docs/resources/privacy-security.md'],
  },
  {
    slug: 'cohere',
    hosts: ['api.cohere.com', 'api.cohere.ai'],
    dataPolicy: { training: true, retentionDays: 30 },
    note: 'Training can be switched off in the settings of the account.',
    sources: ['https://cohere.com/data-usage-policy'],
  },
  {
    slug: 'xai',
    hosts: ['api.x.ai'],
    dataPolicy: { training: false, retentionDays: 30, zdr: 'on_request' },
    isModerated: true,
    sources: ['https://docs.x.ai/docs/faq/security', 'https://docs.x.ai/developers/faq/security.md'],
  },
  {
    slug: 'cloudflare',
    hosts: ['api.cloudflare.com'],
    dataPolicy: { training: false, retentionDays: 0 },
    sources: ['https://infercheck.eu/en/provider/cloudflare-workers-ai'],
  },
  {
    slug: 'snowflake',
    readAt: '2026-11-23',
    hosts: ['snowflakecomputing.com'],
    dataPolicy: { training: false },
    sources: [
      'https://snowflake.com/en/legal/compliance/snowflake-ai-trust-and-safety',
      'https://docs.snowflake.com/guides-overview-ai-features',
    ],
  },
  {
    slug: 'moonshotai',
    readAt: '2026-11-23',
    hosts: ['api.moonshot.ai'],
    dataPolicy: { training: false },
    isModerated: true,
    note: 'By its help page on the API; its general privacy policy of April 2025 permits training.',
    sources: [
      'https://www.kimi.com/help/kimi-api/api-data-security',
      'https://platform.moonshot.ai/docs/agreement/modeluse',
    ],
  },
  {
    slug: 'z-ai',
    readAt: '2026-11-23',
    hosts: ['api.z.ai'],
    dataPolicy: { training: false, retentionDays: 0 },
    note: 'By its terms and the data processing part of its privacy policy of September 2025, as PrivacyWatch quotes them.',
    sources: [
      'https://chat.z.ai/legal-agreement/terms-of-service',
      'https://github.com/WyrdWerk/PrivacyWatch',
    ],
  },
  {
    slug: 'deepseek',
    readAt: '2026-11-23',
    hosts: ['api.deepseek.com'],
    dataPolicy: { training: true },
    note: 'May use prompts to develop its services, by its terms of March 2026; an opt-out is documented for its app alone.',
    sources: [
      'https://chat.deepseek.com/downloads/DeepSeek%20Terms%20of%20Use.html',
      'https://github.com/WyrdWerk/PrivacyWatch',
    ],
  },
  {
    slug: 'alibaba',
    hosts: ['dashscope-intl.aliyuncs.com'],
    dataPolicy: { training: false },
    sources: ['https://www.alibabacloud.com/help/en/model-studio/qwen-and-wan-training-data-disclosure'],
  },
  {
    slug: 'amazon-bedrock',
    hosts: ['amazonaws.com', 'api.aws'],
    kind: 'bedrock',
    dataPolicy: { training: false, retentionDays: 30, zdr: 'on_request' },
    note: 'Some models store nothing; `data_retention_mode: none` of the account enforces it for all.',
    sources: [
      'https://docs.aws.amazon.com/bedrock/latest/userguide/data-retention.html',
      'https://www.developersdigest.tech/models/data-retention/bedrock',
    ],
  },
  {
    slug: 'azure',
    hosts: ['openai.azure.com', 'services.ai.azure.com', 'cognitiveservices.azure.com'],
    kind: 'azure',
    dataPolicy: { training: false, retentionDays: 30, zdr: 'on_request' },
    isModerated: true,
    isExcepted: ({ modelId }) => modelId.startsWith('anthropic/'),
    note: 'Except models of Anthropic.',
    sources: [
      'https://learn.microsoft.com/en-us/legal/cognitive-services/openai/data-privacy',
      'https://learn.microsoft.com/en-us/answers/questions/2156579/azure-openai-data-management-and-abuse-monitoring',
      'https://learn.microsoft.com/en-US/azure/ai-services/openai/concepts/content-filter',
    ],
  },
  {
    slug: 'google-vertex',
    hosts: ['googleapis.com'],
    kind: 'vertex',
    dataPolicy: { training: false, zdr: 'on_request' },
    regionsAt: { 'aiplatform.eu.rep.googleapis.com': ['eu'], 'aiplatform.us.rep.googleapis.com': ['us'] },
    sources: [
      'https://docs.cloud.google.com/gemini-enterprise-agent-platform/resources/zero-data-retention.md.txt',
      'https://docs.cloud.google.com/vertex-ai/generative-ai/docs/learn/data-residency',
    ],
  },
]
