/**
 * Differences between this API's public clients and its specification for which no single reply suits both. Other
 * differences are resolved by sending both names.
 */

// The public TypeScript SDK (1.3.19) accepts only 201 for a creation; the specification has 200.
const SDK_USER_AGENT = 'speakeasy-sdk/'

/** The status of `POST /keys` and `POST /workspaces`. */
export const createdStatus = (request: Request): 200 | 201 => (isSdk(request) ? 201 : 200)

// The specification has a string here; the SDK rejects the complete list unless it is an integer (0: in use).
/** The `status` of an endpoint in `GET /endpoints/zdr`. */
export const endpointStatus = (request: Request): 'active' | 0 => (isSdk(request) ? 0 : 'active')

const isSdk = (request: Request): boolean =>
  request.headers.get('user-agent')?.startsWith(SDK_USER_AGENT) ?? false

// The stream helper of OpenAI's JavaScript client (7.55, 2026) throws at events that its types do not know; the
// specification demands one, `response.reasoning.delta`, that repeats other events. The SDK passes it on as `UNKNOWN`.
const KNOWING = ['OpenAI/JS ', SDK_USER_AGENT]

/** True if the client may fail on event types that OpenAI does not send. */
export const wantsKnownEvents = (headers: Headers): boolean => {
  const agent = headers.get('user-agent') ?? ''
  return KNOWING.some((name) => agent.startsWith(name))
}

// LangChain's OpenAI client for JavaScript (1.5.8, 2026) and Microsoft's Agent Framework (1.23) skip `response.failed`,
// and take what came before for the answer. OpenAI's clients below them throw at every event with an `error`.
const SKIPPING = ['langchainjs-openai/', 'agent-framework-python/']

/** True if the client sees a failure only in a field `error` of the event itself. */
export const wantsErrorInEvent = (headers: Headers): boolean => {
  const agent = headers.get('user-agent') ?? ''
  return SKIPPING.some((name) => agent.startsWith(name))
}
