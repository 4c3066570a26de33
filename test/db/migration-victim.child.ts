/** Migrates the database that it is given and is killed at a point that it is given. */
import { openDatabase } from '../../src/db/database.ts'
import { type Migration, readMigrations } from '../../src/db/embedded-migrations.ts'
import { migrate } from '../../src/db/migrations.ts'

const [path = '', known = '0', point = ''] = process.argv.slice(2)
const die = (): never => {
  process.kill(process.pid, 'SIGKILL')
  throw new Error('still alive')
}
let statement = 0
/** Counts the statements of all migrations as they are read one by one. */
const watched = ({ tag, statements }: Migration): Migration => ({
  tag,
  statements: new Proxy(statements, {
    get(target, key, receiver) {
      if (typeof key === 'string' && /^\d+$/.test(key) && statement++ === Number(point)) die()
      return Reflect.get(target, key, receiver)
    },
  }),
})
const all = readMigrations('sqlite')
const database = openDatabase(path)
migrate(database, [...all.slice(0, Number(known)), ...all.slice(Number(known)).map(watched)], () => {
  if (point === 'copy') die()
})
die()
