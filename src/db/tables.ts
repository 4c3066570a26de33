/**
 * Every table. Column names are the API's where the API has one; each amount of money is an integer of nano-dollars in a
 * column that ends in `_nano_usd`. After a change: `bun run migrations NAME`, and commit its files.
 */
export * from './budgets.ts'
export * from './byok.ts'
export * from './credentials.ts'
export * from './delivery-tables.ts'
export * from './destinations.ts'
export * from './export-tables.ts'
export * from './files.ts'
export * from './guardrails.ts'
export * from './journal-tables.ts'
export * from './keys.ts'
export * from './label-tables.ts'
export * from './ledger-tables.ts'
export * from './member-tables.ts'
export * from './organization-tables.ts'
export * from './people-tables.ts'
export * from './presets.ts'
export * from './provider-tables.ts'
export * from './record-tables.ts'
export * from './workspaces.ts'
