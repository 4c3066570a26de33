/** Compares prices of service tiers, and of generated images, with LiteLLM's file of prices (USD per token). */
import type { Catalog } from '../../src/catalog/catalog.ts'
import { isObject } from '../../src/core/json.ts'
import { formatPrice, type Price } from '../../src/core/money.ts'
import { type Pricing, SERVICE_TIERS } from '../../src/core/pricing.ts'

type Theirs = Readonly<Record<string, unknown>>

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

interface Row {
  readonly name: string
  readonly ours: string
  readonly theirs: string
  /** Null: they agree; '' no reason was found. */
  readonly difference: string | null
}

/** Prints the differences; false if one of them has no reason. */
export function reportTiers(catalog: Catalog, file: unknown): boolean {
  const rows = rowsOf(catalog, isObject(file) ? file : {})
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
  return { name, ours: written ?? '', theirs: other ?? '', difference: agrees ? null : (reason ?? '') }
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
