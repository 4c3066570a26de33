/**
 * Compares prices of service tiers, and of generated images, with LiteLLM's file of prices (USD per token), and those of
 * OpenAI's priority tier with the table of openai.com/api-priority-processing, as text.
 */
import type { Catalog } from '../../src/catalog/catalog.ts'
import { isObject } from '../../src/core/json.ts'
import { formatPrice, type Price } from '../../src/core/money.ts'
import { type Pricing, SERVICE_TIERS } from '../../src/core/pricing.ts'

type Theirs = Readonly<Record<string, unknown>>

const CHANGED = 'the page is older than a change of the usual price, of which it is twice the former'

/** Our providers, and theirs. */
const PROVIDERS: Readonly<Record<string, readonly string[]>> = {
  openai: ['openai'],
  google: ['vertex_ai-language-models', 'gemini'],
  'google-vertex': ['vertex_ai-language-models', 'gemini'],
}
const BUCKETS = [
  ['prompt', 'input_cost_per_token'],
  ['completion', 'output_cost_per_token'],
  ['inputCacheRead', 'cache_read_input_token_cost'],
] as const

/** Differences that were looked up, each for these prices alone: `name ours theirs`. */
const LOOKED_UP: Readonly<Record<string, string>> = {
  'openai gpt-5.5 priority 12.5/75/1.25 10/60/1': "OpenAI's own page has ours",
  'openai gpt-5.6-sol priority, page 8/40/0.8 10/60/1': CHANGED,
  'openai gpt-5.6-terra priority, page 4/24/0.4 5/30/0.5': CHANGED,
  'openai gpt-5.6-luna priority, page 0.4/2.4/0.04 2/12/0.2': CHANGED,
}

interface Row {
  readonly name: string
  readonly ours: string
  readonly theirs: string
  /** Null: they agree; '' no reason was found. */
  readonly difference: string | null
}

/** Prints the differences; false if one of them has no reason. `page`: the text of OpenAI's page, if there is one. */
export function reportTiers(catalog: Catalog, file: unknown, page = ''): boolean {
  const rows = [...rowsOf(catalog, isObject(file) ? file : {}), ...rowsOfPage(catalog, page)]
  const different = rows.filter(({ difference }) => difference !== null)
  console.log('\nService tiers and images, ours and theirs in USD per million (prompt/completion/cached):')
  for (const { name, ours, theirs, difference } of different)
    console.log(`  ${name}: ${ours} and ${theirs}: ${difference || 'NO REASON FOUND'}`)
  console.log(
    `\n${rows.length} compared: ${rows.length - different.length} agree, ${different.length} differ`,
  )
  return rows.length > 0 && different.every(({ difference }) => difference !== '')
}

function rowsOf(catalog: Catalog, file: Theirs): Row[] {
  const rows: Row[] = []
  for (const [provider, names] of Object.entries(PROVIDERS)) {
    for (const { upstreamId, pricing } of catalog.endpointsOf(provider, ['chat', 'responses', 'gemini'])) {
      const theirs = file[upstreamId]
      if (pricing === null || !isObject(theirs) || !names.includes(String(theirs['litellm_provider'])))
        continue
      const name = `${provider} ${upstreamId}`
      const image = theirs['output_cost_per_image_token']
      if (typeof image === 'number' && pricing.imageOutput !== undefined)
        rows.push(compared(`${name} images`, [perMillion(pricing.imageOutput)], [image * 1_000_000], null))
      for (const tier of SERVICE_TIERS) {
        const ours = pricing.serviceTiers?.[tier]
        if (typeof theirs[`output_cost_per_token_${tier}`] !== 'number') continue
        const usual = compared(name, pricesOf(pricing), theirPrices(theirs, ''), null)
        const reason = ours === undefined ? null : reasonFor(usual)
        const row = compared(
          `${name} ${tier}`,
          pricesOf(ours ?? pricing),
          theirPrices(theirs, `_${tier}`),
          reason,
        )
        rows.push(row)
      }
    }
  }
  return rows
}

/** Rows are `model| $input| $cached| $output| …`; the model's name may have words and other names behind it. */
function rowsOfPage(catalog: Catalog, page: string): Row[] {
  const lines = page.split('\n').map((line) => line.split('|').map((cell) => cell.trim()))
  return catalog.endpointsOf('openai', ['chat', 'responses']).flatMap(({ upstreamId, pricing }) => {
    const line = lines.find(([title = '']) => title.toLowerCase().split(NOTES)[0] === wordsOf(upstreamId))
    if (line === undefined || pricing === null) return []
    const [input, cached, output] = line.slice(1).map((cell) => Number(cell.replace('$', '') || Number.NaN))
    const theirs = [input, output, cached].map((price) => (Number.isFinite(price) ? (price ?? null) : null))
    const ours = pricesOf(pricing.serviceTiers?.priority ?? pricing)
    return [compared(`openai ${upstreamId} priority, page`, ours, theirs, null)]
  })
}

const NOTES = /excludes long context|(?<=gpt-4o)gpt-/
/** As the page writes a model: `gpt-5.4 mini`. Dated names and `o4-mini` stay as they are. */
const wordsOf = (upstreamId: string): string =>
  upstreamId.startsWith('gpt-') ? upstreamId.replace(/(?<=gpt-[\d.]+o?)-(?=[a-z])/, ' ') : upstreamId

const reasonFor = ({ difference }: Row): string | null =>
  difference === null ? null : 'their usual price differs too: ours is newer'

function compared(
  name: string,
  ours: readonly (number | null)[],
  theirs: readonly (number | null)[],
  reason: string | null,
): Row {
  const agrees = ours.every((price, at) => isSame(price, theirs[at] ?? null))
  const [written, other] = [ours, theirs].map((prices) => prices.map((price) => price ?? '-').join('/'))
  const known = reason ?? LOOKED_UP[`${name} ${written} ${other}`] ?? ''
  return { name, ours: written ?? '', theirs: other ?? '', difference: agrees ? null : known }
}

/** A price that one of them lacks is not compared. */
const isSame = (ours: number | null, theirs: number | null): boolean =>
  ours === null || theirs === null || Math.abs(ours - theirs) <= 0.001 * Math.max(ours, theirs)

const perMillion = (price: Price): number => Number(formatPrice(price * 1_000_000n))

const pricesOf = (pricing: Pricing): (number | null)[] =>
  BUCKETS.map(([bucket]) => {
    const price = pricing[bucket]
    return price === undefined ? null : perMillion(price)
  })

const theirPrices = (theirs: Theirs, suffix: string): (number | null)[] =>
  BUCKETS.map(([, name]) => {
    const price = theirs[name + suffix]
    return typeof price === 'number' ? Number((price * 1_000_000).toPrecision(10)) : null
  })
