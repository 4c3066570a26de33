/** Prunes the ledger that it is given, slice by slice, and is killed right before or after a commit that it is given. */
import { preparePruning } from '../../src/ledger/prune.ts'
import { openMigrated } from './fixture.ts'

const [path = '', point = '', before = '0'] = process.argv.slice(2)
const [when = '', commit = '0'] = point.split(' ')
const database = openMigrated(path)
const run = database.file.run.bind(database.file)
let commits = 0
Object.assign(database.file, {
  run(sql: string) {
    const isLast = sql === 'COMMIT' && ++commits === Number(commit)
    if (isLast && when === 'before') process.kill(process.pid, 'SIGKILL')
    const changes = run(sql)
    if (isLast) process.kill(process.pid, 'SIGKILL')
    return changes
  },
})
const pruneSlice = preparePruning(database)
for (let after: string | null = ''; after !== null; )
  after = pruneSlice({ after, before: Number(before), maxRows: 20 }).next
