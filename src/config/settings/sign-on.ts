import * as read from '../readers.ts'
import { optional, type Setting, setting } from '../setting.ts'

const noGroups: readonly string[] = []

/** Single sign-on through an identity provider (OpenID Connect). */
export const signOnSettings = {
  oidcIssuer: optional({
    variable: 'SLUICE_OIDC_ISSUER',
    type: 'URL',
    read: read.webAddress,
    meaning: 'Issuer of the identity provider. Turns single sign-on on.',
  }),
  oidcClientId: optional({
    variable: 'SLUICE_OIDC_CLIENT_ID',
    type: 'text',
    read: read.opaque,
    meaning: 'Client id of this server at the identity provider.',
  }),
  oidcClientSecret: optional({
    variable: 'SLUICE_OIDC_CLIENT_SECRET',
    type: 'text',
    read: read.opaque,
    meaning: 'Client secret. Without one, PKCE alone protects the sign-in.',
  }),
  oidcScopes: setting({
    variable: 'SLUICE_OIDC_SCOPES',
    type: 'words',
    fallback: 'openid email profile',
    read: read.text(
      'scopes separated by spaces, openid among them',
      (value) => /^[\x21\x23-\x5b\x5d-\x7e ]+$/.test(value) && value.split(' ').includes('openid'),
    ),
    meaning: 'Scopes to request. Some identity providers need `groups` too.',
  }),
  oidcGroupsClaim: setting({
    variable: 'SLUICE_OIDC_GROUPS_CLAIM',
    type: 'name',
    fallback: 'groups',
    read: read.text('the name of a claim', (value) => value !== ''),
    meaning: 'Claim that lists the groups of a person.',
  }),
  oidcAdminGroups: setting({
    variable: 'SLUICE_OIDC_ADMIN_GROUPS',
    type: 'groups',
    fallback: noGroups,
    read: read.listOf('groups', (group) => group),
    meaning: 'Groups whose members are administrators. Everyone else is a member. Checked at each sign-in.',
  }),
  oidcMemberGroups: setting({
    variable: 'SLUICE_OIDC_MEMBER_GROUPS',
    type: 'groups',
    fallback: noGroups,
    read: read.listOf('groups', (group) => group),
    meaning: 'Groups that may sign in, beside the administrators. Default: everyone.',
  }),
  oidcTrustEmail: setting({
    variable: 'SLUICE_OIDC_TRUST_EMAIL',
    type: '`on`, `off`',
    fallback: false,
    read: read.onOff,
    meaning: 'Treats e-mail addresses as verified if the identity provider does not say so (Entra).',
  }),
} satisfies Record<string, Setting<unknown>>
