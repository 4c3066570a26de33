/** Image models and their endpoints as the API shows them. */
import { formatPrice, type Price } from '../../core/money.ts'
import type { Pricing } from '../../core/snapshot.ts'
import { descriptionOf } from '../description.ts'
import type { Offered, OfferedEndpoint } from '../listing.ts'
import { addressOf, tagOf } from '../view.ts'
import { capabilitiesOf, type Descriptor, supersetOf } from './capabilities.ts'
import type { ImageEndpointView, ImageModelView, ImagePricing } from './schema.ts'

/** The same model with only its image endpoints, if any: for `narrowed`. */
export const givesImages = ({ record }: OfferedEndpoint): boolean => record.outputModalities.includes('image')

export function imageModelView(offered: Offered, basePath: string): ImageModelView {
  const all = offered.endpoints.map(capabilitiesOf)
  return {
    id: offered.model.id,
    name: offered.model.name,
    description: descriptionOf(offered),
    created: offered.model.created,
    architecture: {
      input_modalities: [...offered.inputModalities],
      output_modalities: [...offered.outputModalities],
    },
    supported_parameters: parametersView(supersetOf(all)),
    supports_streaming: all.some(({ streams }) => streams),
    endpoints: `${basePath}/images/models/${addressOf(offered)}/endpoints`,
  }
}

export function imageEndpointView(endpoint: OfferedEndpoint): ImageEndpointView {
  const { provider, record, isConfigured } = endpoint
  const { parameters, streams, passthrough } = capabilitiesOf(endpoint)
  return {
    provider_name: provider.name,
    provider_slug: provider.slug,
    provider_tag: tagOf(endpoint),
    supported_parameters: parametersView(parameters),
    allowed_passthrough_parameters: [...passthrough],
    pricing: imagePricing(record.pricing, record.inputModalities.includes('image'), record.outputModalities),
    supports_streaming: streams,
    is_configured: isConfigured,
  }
}

const parametersView = (
  parameters: Readonly<Record<string, Descriptor>>,
): ImageModelView['supported_parameters'] =>
  Object.fromEntries(
    Object.entries(parameters).map(([name, descriptor]) => [
      name,
      descriptor.type === 'enum'
        ? { type: 'enum' as const, values: [...descriptor.values] }
        : { ...descriptor },
    ]),
  )

/** The billed units and their prices, as generations are settled. A price of each image takes the place of its tokens' price. */
function imagePricing(
  pricing: Pricing | null,
  takesImages: boolean,
  outputs: readonly string[],
): ImagePricing {
  if (pricing === null) return []
  const entries: ImagePricing = []
  const add = (billable: string, unit: string, price: Price | undefined): void => {
    if (price !== undefined && price > 0n)
      entries.push({ billable, unit, cost_usd: Number(formatPrice(price)) })
  }
  const isPerImage = (pricing.image ?? 0n) > 0n
  if (isPerImage) add('output_image', 'image', pricing.image)
  else add('output_image', 'token', pricing.imageOutput ?? pricing.completion)
  add('output_image', 'request', pricing.request)
  if (outputs.includes('text')) add('output_text', 'token', pricing.completion)
  add('input_text', 'token', pricing.prompt)
  if (takesImages) add('input_image', 'token', pricing.imageInput ?? pricing.prompt)
  return entries.length > 0 ? entries : [{ billable: 'output_image', unit: 'image', cost_usd: 0 }]
}
