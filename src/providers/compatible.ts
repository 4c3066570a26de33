import type { DialectName } from '../core/events.ts'
import type { ProviderKind, ProviderQuirks } from '../core/snapshot.ts'
import {
  GROQ_RECORDINGS,
  MISTRAL,
  OPENAI,
  PERPLEXITY,
  REPLAYED_THOUGHTS,
  STRICT_THOUGHTS,
} from './vendor-quirks.ts'

/** A vendor that speaks a known dialect at a fixed address, with one credential. To add one: one row below. */
export interface Vendor {
  /** The name in `provider.only` and records; also the folder of `<slug>/<model>` names. */
  readonly slug: string
  readonly name: string
  /** With the version segment. `${NAME}` depends on the account and is read from the environment. */
  readonly baseUrl: string
  /** Names of the credential in the environment, the usual one first: the first that is set is used. */
  readonly keys: readonly [string, ...string[]]
  /**
   * The version segment that the vendor's own SDK adds by itself, so that its users' `<PREFIX>_BASE_URL` lacks it
   * (Anthropic's SDK: `ANTHROPIC_BASE_URL=https://api.anthropic.com`). Added to an address without any path.
   */
  readonly impliedVersion?: `/${string}`
  /** Further variables that move it, beside the one that follows from its key. */
  readonly addresses?: readonly string[]
  /** Absent: OpenAI's chat. */
  readonly dialect?: DialectName
  /** Further dialects at its own address. */
  readonly alsoSpeaks?: readonly DialectName[]
  /** Absent: the credential is sent in a header. */
  readonly kind?: ProviderKind
  /** The vendor's name in the models.dev facts, if it differs from the slug. */
  readonly facts?: string
  readonly quirks?: ProviderQuirks
}

/**
 * The default quirks of a row. `developer` is OpenAI's own role: strict servers answer 400, lax ones drop the message
 * (DeepSeek, DashScope, vLLM and others; public issues of 2025 and 2026). `max_tokens` is the older name, which every
 * compatible server knows: servers ignore an unknown bound, which leaves the output without one.
 */
const USUAL: ProviderQuirks = { developerRole: false, outputBoundField: 'max_tokens' }
/** Takes both names of the bound, by its own documentation. */
const BOTH_BOUNDS: ProviderQuirks = { developerRole: false }

/**
 * If a credential works at an international and a Chinese address (Moonshot, DashScope, Zhipu), the row has the
 * international one; `<PREFIX>_BASE_URL` moves it.
 */
export const vendors: readonly Vendor[] = [
  {
    slug: 'openai',
    name: 'OpenAI',
    baseUrl: 'https://api.openai.com/v1',
    keys: ['OPENAI_API_KEY'],
    alsoSpeaks: ['responses'],
    quirks: { ...OPENAI, searches: true },
  },
  {
    slug: 'anthropic',
    name: 'Anthropic',
    baseUrl: 'https://api.anthropic.com/v1',
    keys: ['ANTHROPIC_API_KEY'],
    dialect: 'messages',
    impliedVersion: '/v1',
    quirks: { searches: true },
  },
  {
    slug: 'google',
    name: 'Google AI Studio',
    baseUrl: 'https://generativelanguage.googleapis.com/v1beta',
    keys: ['GEMINI_API_KEY', 'GOOGLE_API_KEY', 'GOOGLE_GENERATIVE_AI_API_KEY'],
    dialect: 'gemini',
    quirks: { searches: true },
  },
  {
    slug: 'mistral',
    name: 'Mistral',
    baseUrl: 'https://api.mistral.ai/v1',
    keys: ['MISTRAL_API_KEY'],
    quirks: { ...MISTRAL, embeddings: { dimensionsField: 'output_dimension' } },
  },
  {
    slug: 'perplexity',
    name: 'Perplexity',
    baseUrl: 'https://api.perplexity.ai',
    keys: ['PERPLEXITY_API_KEY'],
    quirks: PERPLEXITY,
  },
  {
    slug: 'cohere',
    name: 'Cohere',
    baseUrl: 'https://api.cohere.com/v2',
    keys: ['COHERE_API_KEY', 'CO_API_KEY'],
    dialect: 'cohere',
    impliedVersion: '/v2',
    quirks: {},
  },
  {
    slug: 'openrouter',
    name: 'OpenRouter',
    baseUrl: 'https://openrouter.ai/api/v1',
    keys: ['OPENROUTER_API_KEY'],
    alsoSpeaks: ['responses'],
    quirks: {
      ...BOTH_BOUNDS,
      reasoningField: 'reasoning',
      cacheMarks: true,
      takesUrls: true,
      serverTools: true,
    },
  },
  {
    slug: 'vercel',
    name: 'Vercel AI Gateway',
    baseUrl: 'https://ai-gateway.vercel.sh/v1',
    keys: ['AI_GATEWAY_API_KEY'],
    quirks: BOTH_BOUNDS,
  },
  {
    slug: 'groq',
    name: 'Groq',
    baseUrl: 'https://api.groq.com/openai/v1',
    keys: ['GROQ_API_KEY'],
    quirks: { ...STRICT_THOUGHTS, recordings: GROQ_RECORDINGS },
  },
  {
    slug: 'xai',
    name: 'xAI',
    baseUrl: 'https://api.x.ai/v1',
    keys: ['XAI_API_KEY'],
    alsoSpeaks: ['responses'],
    quirks: { ...BOTH_BOUNDS, responsesExtensions: false, xSearch: true, searches: true },
  },
  {
    slug: 'cerebras',
    name: 'Cerebras',
    baseUrl: 'https://api.cerebras.ai/v1',
    keys: ['CEREBRAS_API_KEY'],
    quirks: STRICT_THOUGHTS,
  },
  {
    slug: 'cloudflare',
    name: 'Cloudflare',
    baseUrl: 'https://api.cloudflare.com/client/v4/accounts/${CLOUDFLARE_ACCOUNT_ID}/ai/v1',
    keys: ['CLOUDFLARE_API_KEY'],
    facts: 'cloudflare-workers-ai',
  },
  {
    slug: 'databricks',
    name: 'Databricks',
    baseUrl: 'https://${DATABRICKS_HOST}/ai-gateway/mlflow/v1',
    keys: ['DATABRICKS_TOKEN'],
  },
  {
    slug: 'snowflake',
    name: 'Snowflake Cortex',
    baseUrl: 'https://${SNOWFLAKE_ACCOUNT}.snowflakecomputing.com/api/v2/cortex/v1',
    keys: ['SNOWFLAKE_CORTEX_PAT'],
    facts: 'snowflake-cortex',
    quirks: { developerRole: false, outputBoundField: 'max_completion_tokens', reasoningField: 'reasoning' },
  },
  {
    slug: 'z-ai',
    name: 'Z.AI',
    baseUrl: 'https://api.z.ai/api/paas/v4',
    keys: ['ZAI_API_KEY', 'ZHIPU_API_KEY'],
    facts: 'zai',
    quirks: REPLAYED_THOUGHTS,
  },
  replaying('deepseek', 'DeepSeek', 'https://api.deepseek.com', 'DEEPSEEK_API_KEY'),
  usual('together', 'Together', 'https://api.together.xyz/v1', 'TOGETHER_API_KEY', 'togetherai'),
  replaying(
    'fireworks',
    'Fireworks',
    'https://api.fireworks.ai/inference/v1',
    'FIREWORKS_API_KEY',
    'fireworks-ai',
  ),
  replaying('deepinfra', 'DeepInfra', 'https://api.deepinfra.com/v1/openai', 'DEEPINFRA_API_KEY'),
  replaying('moonshotai', 'Moonshot AI', 'https://api.moonshot.ai/v1', 'MOONSHOT_API_KEY'),
  usual('alibaba', 'Alibaba', 'https://dashscope-intl.aliyuncs.com/compatible-mode/v1', 'DASHSCOPE_API_KEY'),
  usual('minimax', 'Minimax', 'https://api.minimax.io/v1', 'MINIMAX_API_KEY'),
  replaying('novita', 'NovitaAI', 'https://api.novita.ai/openai', 'NOVITA_API_KEY', 'novita-ai'),
  replaying('nebius', 'Nebius Token Factory', 'https://api.tokenfactory.nebius.com/v1', 'NEBIUS_API_KEY'),
  usual('nvidia', 'Nvidia', 'https://integrate.api.nvidia.com/v1', 'NVIDIA_API_KEY'),
  usual('huggingface', 'Hugging Face', 'https://router.huggingface.co/v1', 'HF_TOKEN'),
  replaying('baseten', 'BaseTen', 'https://inference.baseten.co/v1', 'BASETEN_API_KEY'),
  replaying('chutes', 'Chutes', 'https://llm.chutes.ai/v1', 'CHUTES_API_KEY'),
  replaying('siliconflow', 'SiliconFlow', 'https://api.siliconflow.com/v1', 'SILICONFLOW_API_KEY'),
  usual('venice', 'Venice', 'https://api.venice.ai/api/v1', 'VENICE_API_KEY'),
  replaying('friendli', 'Friendli', 'https://api.friendli.ai/serverless/v1', 'FRIENDLI_TOKEN'),
  usual('inception', 'Inception', 'https://api.inceptionlabs.ai/v1', 'INCEPTION_API_KEY'),
  usual('upstage', 'Upstage', 'https://api.upstage.ai/v1/solar', 'UPSTAGE_API_KEY'),
  usual('ollama-cloud', 'Ollama Cloud', 'https://ollama.com/v1', 'OLLAMA_API_KEY'),
  usual('llama', 'Llama API', 'https://api.llama.com/compat/v1', 'LLAMA_API_KEY'),
  usual('nova', 'Amazon Nova', 'https://api.nova.amazon.com/v1', 'NOVA_API_KEY'),
  replaying('xiaomi', 'Xiaomi', 'https://api.xiaomimimo.com/v1', 'XIAOMI_API_KEY'),
  usual('stepfun', 'StepFun', 'https://api.stepfun.com/v1', 'STEPFUN_API_KEY'),
  usual('modelscope', 'ModelScope', 'https://api-inference.modelscope.cn/v1', 'MODELSCOPE_API_KEY'),
  usual('morph', 'Morph', 'https://api.morphllm.com/v1', 'MORPH_API_KEY'),
  usual('v0', 'v0', 'https://api.v0.dev/v1', 'V0_API_KEY'),
  usual('poolside', 'Poolside', 'https://inference.poolside.ai/v1', 'POOLSIDE_API_KEY'),
  usual('sarvam', 'Sarvam AI', 'https://api.sarvam.ai/v1', 'SARVAM_API_KEY'),
  usual('scaleway', 'Scaleway', 'https://api.scaleway.ai/v1', 'SCALEWAY_API_KEY'),
  usual(
    'ovhcloud',
    'OVHcloud AI Endpoints',
    'https://oai.endpoints.kepler.ai.cloud.ovh.net/v1',
    'OVHCLOUD_API_KEY',
  ),
  usual(
    'stackit',
    'STACKIT',
    'https://api.openai-compat.model-serving.eu01.onstackit.cloud/v1',
    'STACKIT_API_KEY',
  ),
  usual('wandb', 'Weights & Biases', 'https://api.inference.wandb.ai/v1', 'WANDB_API_KEY'),
  usual('io-net', 'io.net', 'https://api.intelligence.io.solutions/api/v1', 'IOINTELLIGENCE_API_KEY'),
  usual('nearai', 'NEAR AI Cloud', 'https://cloud-api.near.ai/v1', 'NEARAI_API_KEY'),
  replaying('gmicloud', 'GMICloud', 'https://api.gmi-serving.com/v1', 'GMICLOUD_API_KEY'),
  usual('clarifai', 'Clarifai', 'https://api.clarifai.com/v2/ext/openai/v1', 'CLARIFAI_PAT'),
  usual('tinfoil', 'Tinfoil', 'https://inference.tinfoil.sh/v1', 'TINFOIL_API_KEY'),
  replaying('synthetic', 'Synthetic', 'https://api.synthetic.new/openai/v1', 'SYNTHETIC_API_KEY'),
  usual('cortecs', 'Cortecs', 'https://api.cortecs.ai/v1', 'CORTECS_API_KEY'),
  usual('evroc', 'evroc', 'https://models.think.evroc.com/v1', 'EVROC_API_KEY'),
  usual('berget', 'Berget.AI', 'https://api.berget.ai/v1', 'BERGET_API_KEY'),
  usual('regolo', 'Regolo AI', 'https://api.regolo.ai/v1', 'REGOLO_API_KEY', 'regolo-ai'),
  usual('inceptron', 'Inceptron', 'https://api.inceptron.io/v1', 'INCEPTRON_API_KEY'),
  usual('hpc-ai', 'HPC-AI', 'https://api.hpc-ai.com/inference/v1', 'HPC_AI_API_KEY'),
  usual('poe', 'Poe', 'https://api.poe.com/v1', 'POE_API_KEY'),
  usual('requesty', 'Requesty', 'https://router.requesty.ai/v1', 'REQUESTY_API_KEY'),
  usual('helicone', 'Helicone', 'https://ai-gateway.helicone.ai/v1', 'HELICONE_API_KEY'),
  usual('aihubmix', 'AIHubMix', 'https://aihubmix.com/v1', 'AIHUBMIX_API_KEY'),
  usual('zenmux', 'ZenMux', 'https://zenmux.ai/api/v1', 'ZENMUX_API_KEY'),
  usual('opencode', 'OpenCode Zen', 'https://opencode.ai/zen/v1', 'OPENCODE_API_KEY'),
  usual('abacus', 'Abacus', 'https://routellm.abacus.ai/v1', 'ABACUS_API_KEY'),
  {
    slug: 'amazon-bedrock',
    name: 'Amazon Bedrock',
    baseUrl: 'https://bedrock-runtime.${AWS_REGION}.amazonaws.com',
    keys: ['AWS_BEARER_TOKEN_BEDROCK'],
    addresses: ['AWS_ENDPOINT_URL_BEDROCK_RUNTIME'],
    dialect: 'converse',
    kind: 'bedrock',
    quirks: {},
  },
]

/** A row with the default quirks. */
function usual(slug: string, name: string, baseUrl: string, key: string, facts?: string): Vendor {
  return { slug, name, baseUrl, keys: [key], ...(facts === undefined ? {} : { facts }) }
}

/** A row whose models require their earlier reasoning. */
function replaying(slug: string, name: string, baseUrl: string, key: string, facts?: string): Vendor {
  return { ...usual(slug, name, baseUrl, key, facts), quirks: REPLAYED_THOUGHTS }
}

/** How this vendor differs from its dialect. */
export const quirksOf = (vendor: Vendor): ProviderQuirks => vendor.quirks ?? USUAL

/** The vendor's name in the models.dev facts. */
export const factsOf = (vendor: Vendor): string => vendor.facts ?? vendor.slug

/** Clouds that need more than one key: `azure.ts`, `vertex-settings.ts`. */
interface CloudVendor {
  /** The name in `provider.only` and records. */
  readonly slug: string
  readonly kind: ProviderKind
  /** The vendor's name in the models.dev facts. */
  readonly facts: string
}

export const cloudVendors: readonly CloudVendor[] = [
  { slug: 'azure', kind: 'azure', facts: 'azure' },
  { slug: 'google-vertex', kind: 'vertex', facts: 'google-vertex' },
]
