import type { EntraClient } from '../core/snapshot.ts'
import { askForToken, createTokenSource, type TokenSource } from './token.ts'

/** Tokens of Microsoft Entra, for a client with a secret (client credentials, RFC 6749 §4.4). */
export const entraTokens = ({ tokenUrl, clientId, clientSecret, scope }: EntraClient): TokenSource =>
  createTokenSource((outbound) =>
    askForToken(
      tokenUrl,
      { grant_type: 'client_credentials', client_id: clientId, client_secret: clientSecret, scope },
      outbound,
    ),
  )
