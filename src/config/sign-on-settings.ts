import * as read from './readers.ts'
import { optional, type Setting, setting } from './setting.ts'

const noGroups: readonly string[] = []

/** Single sign-on by an identity provider (OpenID Connect). */
export const signOnSettings = {
  oidcIssuer: optional({
    variable: 'SLUICE_OIDC_ISSUER',
    type: 'URL',
    read: read.webAddress,
    meaning: 'The identity provider for single sign-on: what it calls its issuer.',
  }),
  oidcClientId: optional({
    variable: 'SLUICE_OIDC_CLIENT_ID',
    type: 'text',
    read: read.opaque,
    meaning: 'As whom this server is registered there.',
  }),
  oidcClientSecret: optional({
    variable: 'SLUICE_OIDC_CLIENT_SECRET',
    type: 'text',
    read: read.opaque,
    meaning: 'Its secret there; without one PKCE alone protects the sign-in.',
  }),
  oidcScopes: setting({
    variable: 'SLUICE_OIDC_SCOPES',
    type: 'words',
    fallback: 'openid email profile',
    read: read.text(
      'scopes separated by spaces, openid among them',
      (value) => /^[\x21\x23-\x5b\x5d-\x7e ]+$/.test(value) && value.split(' ').includes('openid'),
    ),
    meaning: 'What the identity provider is asked for; some need `groups` among it.',
  }),
  oidcGroupsClaim: setting({
    variable: 'SLUICE_OIDC_GROUPS_CLAIM',
    type: 'name',
    fallback: 'groups',
    read: read.text('the name of a claim', (value) => value !== ''),
    meaning: 'The claim that lists the groups of a person.',
  }),
  oidcAdminGroups: setting({
    variable: 'SLUICE_OIDC_ADMIN_GROUPS',
    type: 'groups',
    fallback: noGroups,
    read: read.listOf('groups', (group) => group),
    meaning: 'Who is in one of them is an administrator, everybody else a member, at each sign-in.',
  }),
  oidcMemberGroups: setting({
    variable: 'SLUICE_OIDC_MEMBER_GROUPS',
    type: 'groups',
    fallback: noGroups,
    read: read.listOf('groups', (group) => group),
    meaning: "Only who is in one of them, or of the administrators', may sign in. Default: everybody there.",
  }),
  oidcTrustEmail: setting({
    variable: 'SLUICE_OIDC_TRUST_EMAIL',
    type: '`on`, `off`',
    fallback: false,
    read: read.onOff,
    meaning: 'Take e-mail addresses for verified where the identity provider does not say (Entra).',
  }),
} satisfies Record<string, Setting<unknown>>
