/** What the tests of the documentation read of a page. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Glob } from 'bun'
import { slugger } from '../../scripts/docs/slugs.ts'

export const ROOT = join(import.meta.dir, '../..')

interface Block {
  /** `sh`, `sh no-run`, `yaml`, '' … */
  readonly language: string
  readonly text: string
}

export interface Document {
  /** Relative to the repository: `docs/quick-start.md`. */
  readonly file: string
  /** Without the text of fenced blocks. */
  readonly prose: string
  readonly blocks: readonly Block[]
  /** Of its headings. */
  readonly anchors: readonly string[]
}

const FENCE = /^ *```(.*)\n([\s\S]*?)^ *```$/gm

export const documents: readonly Document[] = [
  ...new Glob('*.md').scanSync(ROOT),
  ...new Glob('docs/**/*.md').scanSync(ROOT),
]
  .sort()
  .map((file) => read(file))

function read(file: string): Document {
  const source = readFileSync(join(ROOT, file), 'utf8')
  const blocks = [...source.matchAll(FENCE)].map(([, language = '', text = '']) => ({ language, text }))
  const prose = source.replace(FENCE, '')
  const slugOf = slugger()
  const anchors = [...prose.matchAll(/^#{1,6} +(.+)$/gm)].map(([, heading = '']) => slugOf(heading))
  return { file, prose, blocks, anchors }
}

/** Code of a page: what stands between backticks, and the blocks in these languages. */
export const codeOf = ({ prose, blocks }: Document, languages: readonly string[]): string[] => [
  ...[...prose.matchAll(/`([^`\n]+)`/g)].map(([, code = '']) => code),
  ...blocks
    .filter(({ language }) => languages.includes(language.split(' ')[0] ?? ''))
    .map(({ text }) => text),
]
