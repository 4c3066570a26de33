// A macro: Bun calls it when it bundles or loads this file and puts the result in its place, so the Markdown library is
// not in the binary.
import { renderedSite } from '../../scripts/docs/site.ts' with { type: 'macro' }
import type { Site } from './page.ts'

export const site: Site = renderedSite()
