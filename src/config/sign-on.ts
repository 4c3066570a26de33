import type { OidcSettings } from '../admin/identity/auth/oidc/client.ts'
import type { Config } from '../config.ts'

/** The identity provider of the settings; null without one. */
export const oidcSettings = (config: Config): OidcSettings | null =>
  config.oidcIssuer === null || config.oidcClientId === null
    ? null
    : {
        issuer: config.oidcIssuer,
        clientId: config.oidcClientId,
        clientSecret: config.oidcClientSecret,
        scopes: config.oidcScopes,
        groupsClaim: config.oidcGroupsClaim,
        adminGroups: config.oidcAdminGroups,
        memberGroups: config.oidcMemberGroups,
        trustEmail: config.oidcTrustEmail,
      }
