import { defineConfig } from 'drizzle-kit'

// The column kit (src/db/columns.ts) builds the tables in the dialect that this names.
process.env['SLUICE_MIGRATIONS_DIALECT'] = 'postgres'

export default defineConfig({
  dialect: 'postgresql',
  schema: './src/db/bodies-tables.ts',
  out: './drizzle/bodies-postgres',
})
