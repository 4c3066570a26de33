/** Fields of a caller's body that speak to the gateway alone, in every dialect: never sent to a provider. */
export const GATEWAY_FIELDS: readonly string[] = [
  'models',
  'provider',
  'plugins',
  'preset',
  'route',
  'transforms',
  'session_id',
  'trace',
  'debug',
  'stop_server_tools_when',
]
