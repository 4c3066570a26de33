import type { DataPolicy } from '../core/data-policy.ts'
import type { EndpointRecord, ProviderFacts, ProviderKind, ProviderRecord } from '../core/snapshot.ts'

/**
 * What a vendor publishes about its API with the settings of a new account. Only what the sources say: an absent field is
 * unknown, also where it depends on the account's plan. What an account has agreed, its operator declares.
 */
export interface PublishedFacts extends ProviderFacts {
  readonly slug: string
  /** The facts hold at these hosts and their subdomains, and nowhere else. */
  readonly hosts: readonly [string, ...string[]]
  /** Regions that prompts do not leave, at some of the hosts. */
  readonly regionsAt?: Readonly<Record<string, readonly string[]>>
  /** Absent: `compatible`. */
  readonly kind?: ProviderKind
  readonly dataPolicy: DataPolicy
  /** True for endpoints of which nothing is known: the vendor passes them to others, or treats them otherwise. */
  readonly isExcepted?: (endpoint: EndpointRecord) => boolean
  /** What of the sources the fields cannot say. */
  readonly note?: string
  readonly sources: readonly [string, ...string[]]
}

/** When the sources were last read. */
export const READ_AT = '2026-11-22'

/** In the order of `compatible.ts`. */
export const publishedFacts: readonly PublishedFacts[] = [
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
    slug: 'groq',
    hosts: ['api.groq.com'],
    dataPolicy: { retentionDays: 30, zdr: 'on_request' },
    note: 'Stores prompts only to find errors and abuse; a setting of the account switches that off.',
    sources: ['https://console.groq.com/docs/your-data'],
  },
  {
    slug: 'xai',
    hosts: ['api.x.ai'],
    dataPolicy: { training: false, retentionDays: 30, zdr: 'on_request' },
    isModerated: true,
    sources: ['https://docs.x.ai/docs/faq/security', 'https://docs.x.ai/developers/faq/security.md'],
  },
  {
    slug: 'cerebras',
    hosts: ['api.cerebras.ai'],
    dataPolicy: { retentionDays: 0, zdr: 'always' },
    sources: ['https://support.cerebras.net/articles/1811589793-does-cerebras-retain-my-data'],
  },
  {
    slug: 'cloudflare',
    hosts: ['api.cloudflare.com'],
    dataPolicy: { training: false, retentionDays: 0 },
    sources: ['https://infercheck.eu/en/provider/cloudflare-workers-ai'],
  },
  {
    slug: 'together',
    hosts: ['api.together.xyz', 'api.together.ai'],
    dataPolicy: { training: false, zdr: 'on_request' },
    note: 'Stores prompts until they are deleted; a setting of the account switches that off.',
    sources: ['https://docs.together.ai/docs/zero-data-retention'],
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
    sources: ['https://docs.deepinfra.com/account/data-privacy'],
  },
  {
    slug: 'alibaba',
    hosts: ['dashscope-intl.aliyuncs.com'],
    dataPolicy: { training: false },
    sources: ['https://www.alibabacloud.com/help/en/model-studio/qwen-and-wan-training-data-disclosure'],
  },
  {
    slug: 'nebius',
    hosts: ['api.tokenfactory.nebius.com'],
    dataPolicy: { zdr: 'on_request' },
    note: 'Stores prompts to speed up its models; a setting of the account switches that off.',
    sources: ['https://docs.studio.nebius.com/legal/legal-quick-guide'],
  },
  {
    slug: 'baseten',
    hosts: ['inference.baseten.co'],
    dataPolicy: { retentionDays: 0, zdr: 'always' },
    sources: ['https://docs.baseten.co/observability/security'],
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
    slug: 'regolo',
    hosts: ['api.regolo.ai'],
    dataPolicy: { zdr: 'on_request' },
    regions: ['eu'],
    sources: ['https://huggingface.co/spaces/regolo/README/blob/main/README.md'],
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

/** What the vendor at a provider's address publishes, whatever the provider's slug is. */
export function publishedAt({ kind, baseUrl }: ProviderRecord): PublishedFacts | undefined {
  const host = URL.parse(baseUrl)?.hostname ?? ''
  const facts = publishedFacts.find(
    (one) =>
      (one.kind ?? 'compatible') === kind &&
      one.hosts.some((known) => host === known || host.endsWith(`.${known}`)),
  )
  const regions = facts?.regionsAt?.[host]
  return facts === undefined || regions === undefined ? facts : { ...facts, regions }
}
