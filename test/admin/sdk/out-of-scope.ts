/** Functions of the SDK, or rooms of them, for which there is nothing here, and why. */
export const outOfScope: readonly (readonly [start: string, why: string])[] = [
  ['alpha', "decisions are a product of the SDK's own service"],
  ['benchmarks', "scores come with the catalogue; the SDK's service publishes tables of its own"],
  ['classifications', "tasks are classified by the SDK's own service"],
  ['containers', 'no code runs in the gateway'],
  ['datasets', "rankings of apps are data of the SDK's own service"],
  ['interns', "agents that the SDK's own service runs"],
  ['oAuth', 'keys are made by an administrator, never by a third application'],
  ['scim', 'people come by invitation or single sign-on'],
  ['systemOne', "a product of the SDK's own service"],
  ['vault', "secrets of the agents that the SDK's own service runs"],
  ['videoGeneration', 'videos are outside the specification'],
]
