/**
 * `bun run migrations NAME`: writes what changed in the tables as migrations of both SQL dialects, of the same name.
 * The name says what the migration does: `guardrails_with_owner`. Writes nothing for a database without changes.
 */
const [name = ''] = process.argv.slice(2)
if (!/^[a-z0-9]+(?:_[a-z0-9]+)+$/.test(name)) {
  console.error('Name what the migration does, as in: bun run migrations guardrails_with_owner')
  process.exit(2)
}
for (const database of ['sqlite', 'postgres', 'bodies.sqlite', 'bodies.postgres']) {
  const command = ['drizzle-kit', 'generate', '--config', `drizzle.${database}.config.ts`, '--name', name]
  const { exitCode } = Bun.spawnSync(['bun', 'x', ...command], { stdio: ['ignore', 'inherit', 'inherit'] })
  if (exitCode !== 0) process.exit(exitCode)
}

export {}
