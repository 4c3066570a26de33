import { AZURE_SETTINGS } from '../../src/providers/azure.ts'
import { vendors } from '../../src/providers/compatible.ts'
import { publishedFacts, READ_AT } from '../../src/providers/data-policies.ts'
import { localServers } from '../../src/providers/discovery.ts'
import { baseUrlVariable, environmentProviders } from '../../src/providers/environment.ts'
import type { PublishedFacts } from '../../src/providers/published-facts.ts'
import type { SettingPlaces } from '../../src/providers/settings.ts'
import { VERTEX_SETTINGS } from '../../src/providers/vertex-settings.ts'
import { code, note, table } from './markdown.ts'

/** docs/reference/providers.md. */
export function providersPage(): string {
  return `# Providers

After this page you can turn on any of ${vendors.length + clouds().length} providers with the environment variable of its credential.

${note('`src/providers`')}

A provider is on once its credential is set under one of these names; the first one that is set counts. The address variable sends its calls to another host. Everything else is a \`providers:\` entry of \`sluice.yaml\`.

## By a credential

${table(['Slug', 'Name', 'Dialects', 'Credential', 'Address variable', 'Further variables'], vendors.map(vendorRow))}

Amazon Bedrock also takes \`AWS_ACCESS_KEY_ID\` and \`AWS_SECRET_ACCESS_KEY\`, with \`AWS_SESSION_TOKEN\` for a session.

## Clouds

Azure and Vertex need an address, or a project and a location, besides a credential.

${table(['Slug', 'Name', 'Dialects', 'Variables'], clouds())}

## Local servers

These servers need no credential. The gateway finds them at their usual ports on this machine, at the start and every minute, unless \`SLUICE_DISCOVER\` is \`off\`.

${table(
  ['Slug', 'Name', 'Dialects', 'Port'],
  localServers.map(({ slug, name, port }) => [code(slug), name, 'chat', String(port)]),
)}

## Data policies

What vendors publish about their APIs, as a new account has it. An empty field is unknown: also where it depends on the account's plan, or on where a router sends a request. A provider that is not listed publishes nothing that was found. The facts hold at the vendor's own address alone, so a proxy of it has none. [What the routing makes of them](../privacy.md#what-providers-do-with-prompts), and how to declare yours.

${table(
  ['Slug', 'Trains on prompts', 'Retention', 'Zero data retention', 'Regions', 'Moderates', 'Note', 'Read'],
  publishedFacts.map(policyRow),
)}

## Quantization

How these vendors store the weights of their models, from the last source of their row above. Elsewhere the quantization is known if the vendor's name of the model has it (\`…-FP8\`).

${table(['Slug', 'Quantization', 'Models, by the vendor’s names'], publishedFacts.flatMap(quantizationRows))}

\`sluice\` is the built-in provider of \`sluice/demo\`. It needs no network and costs nothing.
`
}

function policyRow(facts: PublishedFacts) {
  const {
    slug,
    dataPolicy,
    regions = [],
    regionsAt = {},
    isModerated,
    note = '',
    sources,
    readAt = READ_AT,
  } = facts
  const { training, retentionDays, zdr } = dataPolicy
  const links = sources.map((source, index) => `[${index + 1}](${source})`)
  return [
    code(slug),
    yesOrNo(training),
    retentionDays === undefined ? '' : retentionDays === 0 ? 'none' : `${retentionDays} days`,
    zdr === undefined ? '' : zdr.replace('_', ' '),
    [
      ...regions,
      ...Object.entries(regionsAt).map(([host, there]) => `${there.join(', ')} at ${code(host)}`),
    ].join(', '),
    yesOrNo(isModerated),
    note,
    `${readAt}: ${links.join(', ')}`,
  ]
}

function quantizationRows({ slug, quantizations = {} }: PublishedFacts): string[][] {
  const all = Object.entries(quantizations)
  return [...new Set(Object.values(quantizations))].map((quantization) => [
    code(slug),
    code(quantization),
    all.flatMap(([name, one]) => (one === quantization ? [code(name)] : [])).join(', '),
  ])
}

const yesOrNo = (fact: boolean | undefined): string => (fact === undefined ? '' : fact ? 'yes' : 'no')

function vendorRow({ slug, name, keys, baseUrl, dialect = 'chat', alsoSpeaks = [], addresses = [] }: Vendor) {
  const parts = [...baseUrl.matchAll(/\$\{(\w+)\}/g)].map(([, variable]) => code(variable))
  return [
    code(slug),
    name,
    [dialect, ...alsoSpeaks].join(', '),
    keys.map(code).join(', '),
    [baseUrlVariable(keys[0]), ...addresses].map(code).join(', '),
    parts.join(', '),
  ]
}
type Vendor = (typeof vendors)[number]

const GOOGLE_ACCOUNT = JSON.stringify({
  type: 'authorized_user',
  client_id: 'x',
  client_secret: 'x',
  refresh_token: 'x',
})
/** Enough to turn each cloud on. */
const CLOUDS: {
  environment: Record<string, string>
  settings: Readonly<Record<string, SettingPlaces>>
}[] = [
  { environment: { AZURE_RESOURCE_NAME: 'x', AZURE_OPENAI_API_KEY: 'x' }, settings: AZURE_SETTINGS },
  {
    environment: {
      GOOGLE_VERTEX_PROJECT: 'project',
      GOOGLE_VERTEX_LOCATION: 'global',
      GOOGLE_SERVICE_ACCOUNT_JSON: GOOGLE_ACCOUNT,
    },
    settings: VERTEX_SETTINGS,
  },
]

function clouds(): string[][] {
  const defaults = { timeouts: { firstByteMs: 1, betweenBytesMs: 1, totalMs: 1 }, maxInFlight: 1 }
  return CLOUDS.flatMap(({ environment, settings }) =>
    environmentProviders(environment, defaults).providers.map(({ slug, name, dialect, alsoSpeaks = [] }) => [
      code(slug),
      name,
      [dialect, ...alsoSpeaks].join(', '),
      Object.values(settings)
        .map(({ variables }) => variables.map(code).join(' or '))
        .join(', '),
    ]),
  )
}
