/**
 * Compares the prices of the catalogue with those of other sources: `bun run check:prices [facts folder] [tiers file]
 * [page]`. The file is LiteLLM's `model_prices_and_context_window.json`, for the prices of service tiers; the page is the text of
 * openai.com/api-priority-processing. The folder has
 * `genai-prices.data_slim.json`, and `ruby_llm.models.facts.json` as a later look at the first source. Prints agreements,
 * differences with a reason for each, and those without one; ends with 1 if fewer than 300 models could be
 * compared or one of them differs without a reason.
 */
import { join } from 'node:path'
import { loadCatalog } from '../../src/catalog/store.ts'
import { isObject } from '../../src/core/json.ts'
import { formatPrice, type Price } from '../../src/core/money.ts'
import type { EndpointRecord } from '../../src/core/snapshot.ts'
import { vendors } from '../../src/providers/compatible.ts'
import { reportTiers } from './check-tiers.ts'
import { type OtherModel, type OtherPrice, openSource } from './second-source.ts'

/** Our providers, and their names in the second source. Its Zhipu is the Chinese platform, which bills in yuan. */
const NAMES: Readonly<Record<string, string>> = {
  anthropic: 'anthropic',
  cerebras: 'cerebras',
  cohere: 'cohere',
  deepseek: 'deepseek',
  fireworks: 'fireworks',
  google: 'google',
  groq: 'groq',
  minimax: 'minimax',
  mistral: 'mistral',
  moonshotai: 'moonshotai',
  novita: 'novita',
  openai: 'openai',
  openrouter: 'openrouter',
  ovhcloud: 'ovhcloud',
  perplexity: 'perplexity',
  together: 'together',
  xai: 'x-ai',
}
/** Its prices are those of the cheapest host of the day. */
const MARKETPLACES = ['openrouter']
const LEAST_COMPARED = 300

/**
 * Differences that no rule explains, looked up one by one. Each holds for these two prices alone (USD per million,
 * prompt/completion), so a newer version of either source needs a new check here.
 */
const LOOKED_UP: Readonly<Record<string, string>> = {
  'groq openai/gpt-oss-safeguard-20b 0.075/0.3 0.15/0.6':
    'their rule for Groq puts it beside gpt-oss-120b; their OpenAI and OpenRouter lists have our price for it',
  'novita meta-llama/llama-3.1-8b-instruct 0.02/0.05 0.05/0.05':
    'their Novita list is of early 2025 (DeepSeek R1 at 4/4, one price both ways); OpenRouter, which shows its cheapest host, has ours in May 2026',
  'novita meta-llama/llama-3.3-70b-instruct 0.135/0.4 0.39/0.39':
    'their Novita list is of early 2025, when most had one price both ways; prompts have become cheaper since, as at Nebius (0.13/0.4)',
  'novita mistralai/mistral-nemo 0.04/0.17 0.17/0.17':
    'their Novita list is of early 2025, when most had one price both ways; answers cost the same still, prompts less',
  'openai gpt-image-1.5 5/32 5/10':
    'theirs is for text that it answers, ours for the images that it is called for; our facts have it at Azure too',
  'together meta-llama/Meta-Llama-3-8B-Instruct-Lite 0.14/0.14 0.1/0.1':
    'raised since: our facts of the same day have 0.14/0.14 for the same weights at OpenRouter',
}

interface Ours {
  readonly prompt: number
  readonly completion: number
  readonly cacheRead: number | null
  /** Of the images that the model generates; null: it has no price apart. */
  readonly imageOutput: number | null
}

interface Row {
  readonly provider: string
  readonly upstreamId: string
  readonly ours: Ours
  readonly theirs: OtherPrice
  /** Null: they agree; '' no reason was found. */
  readonly difference: string | null
}

/** USD per million tokens, as people write prices. */
const perMillion = (price: Price): number => Number(formatPrice(price * 1_000_000n))

const isSame = (left: number | null, right: number | null): boolean =>
  left === right ||
  (left !== null && right !== null && Math.abs(left - right) <= 0.001 * Math.max(left, right))
const agrees = (ours: Ours, theirs: OtherPrice): boolean =>
  isSame(ours.prompt, theirs.prompt ?? 0) &&
  isSame(ours.completion, theirs.completion ?? 0) &&
  (ours.cacheRead === null || theirs.cacheRead === null || isSame(ours.cacheRead, theirs.cacheRead))

type Later = ReadonlyMap<string, { prompt: number; completion: number }>

function reasonFor(
  provider: string,
  upstreamId: string,
  ours: Ours,
  other: OtherModel,
  later: Later,
): string {
  const elsewhere = other.prices.find((price) => agrees(ours, price))
  if (elsewhere) return `theirs has our price too: ${elsewhere.when}`
  if (!other.isExact) return `their rule "${other.id}" is for a family`
  const [usual] = other.prices
  if (usual && isSame(ours.prompt, usual.prompt) && isSame(ours.completion, usual.completion ?? 0))
    return 'only the price of cached tokens differs'
  if (usual && ours.imageOutput !== null && isSame(ours.imageOutput, usual.completion))
    return 'theirs is our price of images; ours of text is that of their OpenRouter list'
  const third = later.get(`${provider}/${upstreamId}`)
  if (third && isSame(third.prompt, ours.prompt) && isSame(third.completion, ours.completion))
    return 'a later look at our source has our price'
  if (third && usual && isSame(third.prompt, usual.prompt) && isSame(third.completion, usual.completion))
    return 'changed since: a later look at our source has their price'
  if (MARKETPLACES.includes(provider))
    return 'a marketplace: the price is that of its cheapest host of the day'
  if (ours.prompt === 0 && ours.completion === 0) return 'free in our facts: an offer for a time'
  if (usual?.completion === null && ours.completion > 0) return 'theirs has no price for answers'
  const prices = `${ours.prompt}/${ours.completion} ${usual?.prompt}/${usual?.completion}`
  return LOOKED_UP[`${provider} ${upstreamId} ${prices}`] ?? ''
}

/** A later snapshot of the first source, by provider and the provider's own name. */
async function readLater(path: string): Promise<Later> {
  const file: unknown = (await Bun.file(path).exists()) ? await Bun.file(path).json() : []
  const later = new Map<string, { prompt: number; completion: number }>()
  for (const row of Array.isArray(file) ? file.filter(isObject) : []) {
    const metadata = isObject(row['metadata']) ? row['metadata'] : {}
    const cost = isObject(metadata['cost']) ? metadata['cost'] : {}
    const { input, output } = cost
    if (typeof input !== 'number' || typeof output !== 'number') continue
    later.set(`${row['provider']}/${row['id']}`.replace(/^gemini\//, 'google/'), {
      prompt: input,
      completion: output,
    })
  }
  return later
}

async function compare(folder: string): Promise<Row[]> {
  const catalog = loadCatalog()
  const source = openSource(await Bun.file(join(folder, 'genai-prices.data_slim.json')).json())
  const later = await readLater(join(folder, 'ruby_llm.models.facts.json'))
  const rows: Row[] = []
  for (const [provider, name] of Object.entries(NAMES)) {
    const vendor = vendors.find(({ slug }) => slug === provider)
    if (vendor === undefined) throw new Error(`there is no provider ${provider}`)
    const endpoints = catalog.endpointsOf(provider, ['chat', 'responses', 'messages', 'gemini', 'cohere'])
    for (const endpoint of endpoints) {
      const row = compareOne(endpoint, source.find(name, endpoint.upstreamId), later)
      if (row !== null) rows.push(row)
    }
  }
  return rows
}

function compareOne(
  { providerSlug: provider, upstreamId, pricing }: EndpointRecord,
  other: OtherModel | undefined,
  later: Later,
): Row | null {
  const theirs = other?.prices[0]
  if (pricing === null || other === undefined || theirs === undefined || theirs.prompt === null) return null
  const ours = {
    prompt: perMillion(pricing.prompt),
    completion: perMillion(pricing.completion),
    cacheRead: pricing.inputCacheRead === undefined ? null : perMillion(pricing.inputCacheRead),
    imageOutput: pricing.imageOutput === undefined ? null : perMillion(pricing.imageOutput),
  }
  const difference = agrees(ours, theirs) ? null : reasonFor(provider, upstreamId, ours, other, later)
  return { provider, upstreamId, ours, theirs, difference }
}

function report(rows: readonly Row[]): boolean {
  const different = rows.filter(({ difference }) => difference !== null)
  const unexplained = different.filter(({ difference }) => difference === '')
  for (const provider of new Set(rows.map((row) => row.provider))) {
    const own = rows.filter((row) => row.provider === provider)
    const equal = own.filter(({ difference }) => difference === null).length
    console.log(
      `${provider.padEnd(12)} ${String(own.length).padStart(4)} compared ${String(equal).padStart(4)} agree`,
    )
  }
  const priceText = ({ prompt, completion, cacheRead }: Ours | OtherPrice): string =>
    `${prompt}/${completion}${cacheRead === null ? '' : `/${cacheRead}`}`
  console.log('\nDifferences, ours and theirs in USD per million (prompt/completion/cached):')
  for (const { provider, upstreamId, ours, theirs, difference } of different) {
    const reason = difference === '' ? 'NO REASON FOUND' : difference
    console.log(`  ${provider} ${upstreamId}: ${priceText(ours)} and ${priceText(theirs)}: ${reason}`)
  }
  const reasons = new Map<string, number>()
  for (const { difference } of different) {
    const isLookedUp = Object.values(LOOKED_UP).some((reason) => reason === difference)
    const kind = isLookedUp
      ? 'looked up one by one'
      : (difference || 'no reason found').replace(/".*?"|:.*/g, '…')
    reasons.set(kind, (reasons.get(kind) ?? 0) + 1)
  }
  console.log(
    `\n${rows.length} models compared: ${rows.length - different.length} agree, ${different.length} differ`,
  )
  for (const [reason, count] of [...reasons].sort((left, right) => right[1] - left[1]))
    console.log(`  ${String(count).padStart(4)} ${reason}`)
  return rows.length >= LEAST_COMPARED && unexplained.length === 0
}

const folder = process.argv[2] ?? join(import.meta.dir, '../../../shared/catalog')
const isExplained = report(await compare(folder))
const [, , , tiersFile, pageFile] = process.argv
const areTiersExplained =
  tiersFile === undefined ||
  reportTiers(loadCatalog(), await Bun.file(tiersFile).json(), pageFile && (await Bun.file(pageFile).text()))
process.exit(isExplained && areTiersExplained ? 0 : 1)
