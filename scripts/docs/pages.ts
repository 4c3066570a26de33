/** Groups of the navigation, with the pages of docs/ in their order. A page that no group names comes under "More". */
export const groups: Readonly<Record<string, readonly string[]>> = {
  'Get started': ['quick-start', 'connect-your-tool'],
  'Models and providers': ['providers', 'models-and-prices', 'routing', 'embeddings-images-audio'],
  'Keys and money': ['keys-budgets-limits', 'usage-and-records', 'limits'],
  Features: ['guardrails-and-filters', 'plugins-and-tools', 'caching', 'stored-responses-and-files'],
  Operations: [
    'people-and-single-sign-on',
    'run-it-for-real',
    'metrics',
    'destinations',
    'privacy',
    'troubleshooting',
  ],
  Reference: ['reference/settings', 'reference/cli', 'reference/api', 'reference/providers', 'compatibility'],
  Background: ['coming-from', 'benchmarks'],
}
