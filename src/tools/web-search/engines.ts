import { badRequest } from '../../core/errors.ts'
import { parsePrice } from '../../core/money.ts'
import { NOTHING_ALLOWED, parseOutboundAllow } from '../../net/address.ts'
import { brave } from './brave.ts'
import type { EngineAccess, EngineName, EnginePrice, SearchEngine } from './engine.ts'
import { exa } from './exa.ts'
import { firecrawl } from './firecrawl.ts'
import { parallel } from './parallel.ts'
import { perplexity } from './perplexity.ts'
import { searxng } from './searxng.ts'
import { tavily } from './tavily.ts'

/** In the order in which `auto` takes the first one that is configured. */
export const engines: readonly SearchEngine[] = [exa, parallel, perplexity, tavily, brave, firecrawl, searxng]

/** What the operator set of the engines, each by its name. */
export interface EngineSettings {
  readonly keys: Readonly<Partial<Record<EngineName, string | null>>>
  /** Addresses other than the engines' own. */
  readonly urls: Readonly<Partial<Record<EngineName, string | null>>>
  /** As in `SearchEngine.price`. */
  readonly prices: Readonly<Partial<Record<EngineName, string>>>
}

export type ConfiguredEngines = ReadonlyMap<EngineName, EngineAccess>

/** The engines that have what they need: a key, or an address of the operator's. */
export function configuredEngines({ keys, urls, prices }: EngineSettings): ConfiguredEngines {
  const configured = new Map<EngineName, EngineAccess>()
  for (const { name, url: usual, price } of engines) {
    const [key, own] = [keys[name] ?? null, urls[name] ?? null]
    const url = own ?? usual
    if (url === null || (key === null && own === null)) continue
    const allow = own === null ? NOTHING_ALLOWED : parseOutboundAllow([new URL(own).hostname])
    configured.set(name, { key, url, allow, price: priceOf(prices[name] ?? price) })
  }
  return configured
}

/** `0.007+0.001`: USD of a search, and of each result beyond ten. */
function priceOf(text: string): EnginePrice {
  const [search = '0', further = '0'] = text.split('+')
  return { search: parsePrice(search), further: parsePrice(further) }
}

export interface ChosenEngine {
  readonly engine: SearchEngine
  readonly access: EngineAccess
}

/** The engine of this name; the first configured one for `auto`. Throws a 400 that names the setting that is missing. */
export function chooseEngine(
  wanted: EngineName | 'auto',
  configured: ConfiguredEngines,
  path: string,
): ChosenEngine {
  for (const engine of engines) {
    if (wanted !== 'auto' && engine.name !== wanted) continue
    const access = configured.get(engine.name)
    if (access) return { engine, access }
    if (wanted !== 'auto') {
      throw badRequest(
        `"${wanted}" is not configured at this gateway: its operator can set ${engine.setting}. ${others(configured)}`,
        path,
      )
    }
  }
  throw badRequest(
    `no search engine is configured at this gateway: its operator can set one of ${engines.map(({ setting }) => setting).join(', ')}`,
    path,
  )
}

const others = (configured: ConfiguredEngines): string =>
  configured.size === 0
    ? 'No other search engine is configured either'
    : `Configured are: ${[...configured.keys()].join(', ')}`
