import { defineConfig } from 'drizzle-kit'

export default defineConfig({
  dialect: 'sqlite',
  schema: './src/db/bodies-tables.ts',
  out: './drizzle/bodies-sqlite',
})
