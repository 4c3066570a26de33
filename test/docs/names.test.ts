import { describe, expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { type Leaf, leavesOf, program } from '../../scripts/docs/cli.ts'
import { fileKey, otherVariables, reserved } from '../../src/config/names.ts'
import { settings } from '../../src/config.ts'
import { codeOf, documents, ROOT } from './markdown.ts'

const variables: readonly string[] = [
  ...Object.values(settings).map(({ variable }) => variable),
  ...otherVariables,
  ...reserved,
  // Read by the tests.
  'SLUICE_TRANSCRIPTS',
]
const leaves = leavesOf(program())

describe('the documentation names only what exists', () => {
  for (const document of documents) {
    const { file, prose, blocks, anchors } = document

    test(`${file}: links lead to files and headings`, () => {
      const links = [...prose.matchAll(/\]\(([^)\s]+)\)/g)].map(([, href = '']) => href)
      const own = links.filter((href) => !/^[a-z]+:|^\/docs\/api#/.test(href))
      expect(own.filter((href) => !isThere(href, file, anchors))).toEqual([])
    })

    test(`${file}: settings`, () => {
      const text = [prose, ...blocks.map((block) => block.text)].join('\n')
      const named = [...text.matchAll(/\bSLUICE_[A-Z0-9_]*[A-Z0-9]\b(?![…*_])/g)].map(([name]) => name)
      expect([...new Set(named)].filter((name) => !variables.includes(name))).toEqual([])
    })

    test(`${file}: keys of sluice.yaml`, () => {
      const known = [...variables.map(fileKey), 'providers', 'models']
      const files = blocks
        .filter(({ language }) => language === 'yaml')
        .map(({ text }) => Bun.YAML.parse(text))
      const keys = files.map((value) =>
        typeof value === 'object' && value !== null ? Object.keys(value) : [],
      )
      // Other programs have YAML files too. Theirs may have `models`, but no other key of ours.
      const ours = keys.filter((list) => list.some((key) => known.includes(key) && key !== 'models'))
      expect(ours.flat().filter((key) => !known.includes(key))).toEqual([])
    })

    test(`${file}: commands and their options`, () => {
      const lines = codeOf(document, ['sh', 'console', 'text', 'ini']).flatMap((code) =>
        code.replaceAll('\\\n', ' ').split('\n'),
      )
      expect(lines.flatMap(wrongCommands)).toEqual([])
    })
  }
})

function isThere(href: string, file: string, anchors: readonly string[]): boolean {
  const [path = '', anchor] = href.split('#')
  if (path === '') return anchors.includes(anchor ?? '')
  const target = normalize(join(dirname(file), path))
  if (!existsSync(join(ROOT, target))) return false
  if (anchor === undefined || !target.endsWith('.md')) return true
  return documents.find((each) => each.file === target)?.anchors.includes(anchor) === true
}

/** Problems with the calls of `sluice` in a line of code. */
function wrongCommands(line: string): string[] {
  const calls = [
    ...line.matchAll(/(?:^ *|[$|;&(] ?|\/|\b[A-Z_]+=\S* )sluice((?: +(?:<[^>]+>|"[^"]*"|[^\s|;&)]+))+)/g),
  ]
  return calls.flatMap(([, rest = '']) => {
    const words = rest.trim().split(/ +/)
    const names = words.filter((word) => /^[a-z][a-z-]*$/.test(word))
    if (!/^[a-z-]/.test(words[0] ?? '') || names.length === 0) return []
    const leaf = leafOf(names)
    if (leaf === undefined) return isGroup(names[0]) ? [] : [`${line}: no command ${names[0]}`]
    const options = words.flatMap((word) => /^--[a-z-]+/.exec(word) ?? [])
    const known = [...leaf.command.options.map(({ long }) => long), '--help']
    return options.filter((option) => !known.includes(option)).map((option) => `${line}: no option ${option}`)
  })
}

const isGroup = (name = ''): boolean => leaves.some(({ words }) => words.startsWith(`sluice ${name} `))
const leafOf = ([first, second]: readonly string[]): Leaf | undefined =>
  leaves.find(({ words }) => words === `sluice ${first} ${second}`) ??
  leaves.find(({ words }) => words === `sluice ${first}`)
