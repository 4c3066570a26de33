import manifest from '../package.json' with { type: 'json' }

/** Of this build; package.json is the one place that says it. */
export const version: string = manifest.version
