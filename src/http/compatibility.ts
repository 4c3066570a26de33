/**
 * Where the public clients of this API and its specification differ, and both cannot be served by one answer. Other
 * differences are solved by sending both names.
 */

// The public TypeScript SDK (1.3.19) takes 201 alone for a creation; the specification says 200.
const SDK_USER_AGENT = 'speakeasy-sdk/'

/** The status of `POST /keys` and `POST /workspaces`. */
export const createdStatus = (request: Request): 200 | 201 =>
  request.headers.get('user-agent')?.startsWith(SDK_USER_AGENT) ? 201 : 200
